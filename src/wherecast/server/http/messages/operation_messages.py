"""What operators ask: links, health and readiness."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from wherecast.server.http.messages.declaration import message


@message
class LinksMessage(TypedDict):
    """Where to go from the address of a server."""

    docs: Annotated[str, Field(description="Every call, with examples.", examples=["/docs"])]
    openapi: Annotated[str, Field(description="The same for tools.", examples=["/openapi.json"])]
    health: Annotated[str, Field(examples=["/healthz"])]
    readiness: Annotated[str, Field(examples=["/readyz"])]
    metrics: Annotated[str, Field(examples=["/metrics"])]
    streams: Annotated[str, Field(examples=["/v1/streams"])]
    subscribers: Annotated[str, Field(examples=["/v1/subscribers"])]


@message
class HealthMessage(TypedDict):
    """The process answers."""

    status: Annotated[Literal["ok"], Field(examples=["ok"])]


@message
class PipelineMessage(TypedDict):
    """The process that matches."""

    phase: Annotated[
        Literal["starting", "running", "restarting", "inline"], Field(examples=["running"])
    ]
    restarts: Annotated[int, Field(examples=[0])]
    problem: Annotated[str | None, Field(examples=[None])]


@message
class LagMessage(TypedDict):
    """How far matching is behind publishing."""

    publications: Annotated[int, Field(description="Number of waiting ones.", examples=[0])]
    seconds: Annotated[float, Field(description="Age of the oldest one.", examples=[0.0])]


@message
class ReadinessMessage(TypedDict):
    """Whether publications are stored and matched."""

    ready: Annotated[bool, Field(examples=[True])]
    pipeline: PipelineMessage
    lag: LagMessage
