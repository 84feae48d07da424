"""Explanations: why a filter matches a publication or not."""

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from wherecast.server.http.messages.declaration import message


@message
class ExplainRequest(TypedDict):
    """A filter and a publication."""

    filter: Annotated[str, Field(description="A WHERE clause.", examples=["no2 > 40"])]
    publication: Annotated[
        dict[str, Any],
        Field(
            description="A publication as publishers send it, or its attributes alone.",
            examples=[{"attributes": {"no2": 45.0}}],
        ),
    ]


@message
class ReasonMessage(TypedDict):
    """One predicate of a filter, and what a publication makes of it."""

    predicate: Annotated[str, Field(examples=["no2 > 40"])]
    verdict: Annotated[bool | None, Field(description="null is unknown.", examples=[True])]
    seen: Annotated[
        dict[str, Any],
        Field(description="The values of its attributes.", examples=[{"no2": 45.0}]),
    ]


@message
class PlanMessage(TypedDict):
    """How an index would serve a filter."""

    indexed: Annotated[
        list[str],
        Field(
            description="The conjunctions that find candidates; empty where nothing can match.",
            examples=[["no2 > 40.0"]],
        ),
    ]
    checked: Annotated[
        list[str], Field(description="The predicates tested on candidates.", examples=[[]])
    ]
    formulas: Annotated[
        list[str], Field(description="The formulas that are computed.", examples=[[]])
    ]


@message
class ExplanationMessage(TypedDict):
    """Why a filter matches a publication or not."""

    matched: Annotated[bool, Field(examples=[True])]
    sentence: Annotated[str, Field(examples=["it matched because no2 > 40 (no2 is 45.0)"])]
    reasons: list[ReasonMessage]
    plan: PlanMessage
    warnings: Annotated[list[str], Field(examples=[[]])]
