"""Dead letters: publications that could not be matched."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from wherecast.server.http.messages.declaration import message


@message
class DeadLetterMessage(TypedDict):
    """A publication that was accepted and could not be matched."""

    number: Annotated[int, Field(description="Counts dead letters, from 0.", examples=[0])]
    stream: Annotated[str, Field(examples=["default"])]
    partition: Annotated[int, Field(examples=[0])]
    offset: Annotated[int, Field(examples=[17])]
    reason: Annotated[str, Field(examples=["the entry is damaged"])]
    at: Annotated[str, Field(description="When it was found.", examples=["2026-05-01T12:30:00Z"])]


@message
class DeadLettersMessage(TypedDict):
    """A page of dead letters."""

    dead_letters: list[DeadLetterMessage]
    after: Annotated[
        int | None,
        Field(
            description="The parameter `after` of the next page; null at the end.", examples=[None]
        ),
    ]
