"""What answers look like, for the OpenAPI description; the answers are not made from these."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_MEANINGS = {
    200: "It was so already, or was changed.",
    400: "The body cannot be read.",
    404: "A name in the path is unknown.",
    408: "The body took too long to arrive.",
    409: "It conflicts with what is there.",
    413: "The body is too large.",
    415: "The body is of another type.",
    422: "Something in the request cannot be accepted.",
    503: "The server cannot do this now; try again.",
}


class Shape(BaseModel):
    """Has the fields it names, and no others."""

    model_config = ConfigDict(extra="forbid")


class Problem(Shape):
    """What is wrong."""

    code: str = Field(description="A stable word for programs.", examples=["unknown_attribute"])
    message: str = Field(description="A sentence.", examples=["unknown attribute no3"])
    pointer: str | None = Field(None, description="To the place in the body, or the parameter.")
    position: int | None = Field(None, description="Where in a filter, in characters from 0.")


class Error(Shape):
    """A request that was refused; nothing was changed."""

    error: Problem


class PublicationProblem(Problem):
    """What is wrong with one publication of a request."""

    index: int = Field(description="Which one, from 0.")


class Published(Shape):
    """What became of publications."""

    accepted: int = Field(description="Stored, on disk.", examples=[2])
    rejected: int = Field(examples=[0])
    duplicates: int = Field(description="Stored before, under the same id.", examples=[0])
    first: int | None = Field(description="The offset of the first new one.", examples=[17])
    last: int | None = Field(description="The offset of the last new one.", examples=[18])
    errors: list[PublicationProblem] = Field(examples=[[]])
    errors_left_out: int = Field(description="More errors than an answer tells.", examples=[0])
    error: Problem | None = Field(None, description="The first error, where all were refused.")


class Schema(Shape):
    """The schema of a stream."""

    open: bool
    attributes: dict[str, Any] = Field(examples=[{"no2": {"type": "float", "min": 0}}])


class NamedStream(Shape):
    """A stream."""

    name: str = Field(examples=["default"])
    schema_: Schema = Field(alias="schema")


class Streams(Shape):
    """All streams."""

    streams: list[NamedStream]


class Positions(Shape):
    """Offsets by partition. All streams share the log."""

    starts: dict[str, int] = Field(examples=[{"0": 0}])
    ends: dict[str, int] = Field(examples=[{"0": 19}])
    matched: dict[str, int] = Field(examples=[{"0": 19}])


class Counts(Shape):
    """How many there are in this server."""

    streams: int
    subscribers: int
    subscriptions: int


class Stream(NamedStream):
    """A stream, and how far it is."""

    positions: Positions
    counts: Counts


class Subscribers(Shape):
    """A page of names."""

    subscribers: list[str] = Field(examples=[["ana"]])
    after: str | None = Field(description="What to ask for the next page with.")


class Subscriber(Shape):
    """A subscriber and its queue."""

    name: str = Field(examples=["ana"])
    connected: bool = Field(description="Whether it has a push connection.")
    queued: int = Field(description="Notifications that are not acknowledged.")
    in_flight: int = Field(description="Those that were pushed.")
    lost: int = Field(description="Those that passed a limit before they were acknowledged.")
    cursor: str = Field(description="Everything before it is acknowledged.")


class Subscription(Shape):
    """A subscription."""

    id: str = Field(examples=["s1"])
    filter: str = Field(examples=["no2 > 40"])
    stream: str = Field(examples=["default"])
    since: str | None = Field(None, description="When it was accepted.")
    verdict: Literal["created", "changed", "unchanged"] | None = None
    warnings: list[str] | None = Field(None, description="That it can never match, say.")
    acts_from: dict[str, int] | None = Field(None, description="The first offsets it acts on.")


class Subscriptions(Shape):
    """A page of subscriptions."""

    subscriptions: list[Subscription]
    after: str | None = Field(description="What to ask for the next page with.")


class Verdict(Shape):
    """What became of one subscription."""

    id: str | None
    verdict: Literal["created", "changed", "unchanged", "rejected", "left_alone"]
    error: Problem | None = None
    warnings: list[str] | None = Field(None, description="That it can never match, say.")


class Verdicts(Shape):
    """What became of many subscriptions."""

    created: int
    changed: int
    unchanged: int
    rejected: int
    removed: int
    verdicts: list[Verdict]


class Publication(Shape):
    """A publication as receivers get it."""

    attributes: dict[str, Any] = Field(examples=[{"no2": 45.0}])
    id: str = Field(examples=["station-7-0001"])
    payload: str | None = Field(None, description="Bytes, in base64.")
    published_at: str = Field(examples=["2026-05-01T12:30:00Z"])


class Notification(Shape):
    """A publication that matched."""

    cursor: str = Field(examples=["0000000000000011"])
    stream: str = Field(examples=["default"])
    offset: int = Field(examples=[17])
    publication: Publication
    subscription_ids: list[str] = Field(examples=[["s1"]])
    redelivered: bool = Field(description="Whether it may have been received before.")


class Notifications(Shape):
    """The oldest notifications."""

    notifications: list[Notification]


class ReadPublication(Shape):
    """A publication and where it is."""

    stream: str = Field(examples=["default"])
    offset: int = Field(examples=[17])
    publication: Publication


class ReadPublications(Shape):
    """Publications of a stream."""

    publications: list[ReadPublication]
    next: int = Field(description="The offset to go on from.")


class Reason(Shape):
    """One predicate of a filter."""

    predicate: str = Field(examples=["no2 > 40"])
    verdict: bool | None = Field(description="null is unknown.")
    seen: dict[str, Any] = Field(examples=[{"no2": 45.0}])


class Explanation(Shape):
    """Why a filter matches a publication or not."""

    matched: bool
    sentence: str
    reasons: list[Reason]
    warnings: list[str]


class DeadLetter(Shape):
    """A publication that could not be matched."""

    number: int
    stream: str
    partition: int
    offset: int
    reason: str
    at: str


class DeadLetters(Shape):
    """A page of dead letters."""

    dead_letters: list[DeadLetter]
    after: int | None = Field(description="What to ask for the next page with.")


class Health(Shape):
    """The process answers."""

    status: Literal["ok"]


class Pipeline(Shape):
    """The process that matches."""

    phase: Literal["starting", "running", "restarting", "inline"]
    restarts: int
    problem: str | None


class LagShape(Shape):
    """How far matching is behind publishing."""

    publications: int
    seconds: float


class Readiness(Shape):
    """Whether publications are stored and matched."""

    ready: bool
    pipeline: Pipeline
    lag: LagShape


def answers(*statuses: int, same: type[Shape] | None = None) -> dict[int | str, dict[str, Any]]:
    """The description of further answers.

    Args:
        statuses: of the answers.
        same: the shape of a 200 beside the usual one, and of what is refused by publishing.
    """
    found: dict[int | str, dict[str, Any]] = {}
    for status in (*statuses, 403):
        shape: Any = same if status == 200 else Error
        if same is Published and status in (409, 422):
            shape = Published | Error
        found[status] = {"model": shape, "description": _MEANINGS.get(status, "Not from here.")}
    return found
