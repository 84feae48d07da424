"""Parameters that several operations share, as the OpenAPI description shows them."""

from typing import Annotated

from fastapi import Path, Query

StreamName = Annotated[str, Path(openapi_examples={"default": {"value": "default"}})]
SubscriberName = Annotated[str, Path(openapi_examples={"ana": {"value": "ana"}})]
SubscriptionId = Annotated[str, Path(openapi_examples={"s1": {"value": "s1"}})]
PublisherName = Annotated[
    str | None,
    Query(
        description="Who publishes. Receivers see the name, and ids are unique within it.",
        min_length=1,
        max_length=256,
    ),
]
After = Annotated[str, Query(description="The last name of the page before.", max_length=256)]
Limit = Annotated[int, Query(description="How many at most.", ge=1, le=10_000)]
Most = Annotated[int, Query(alias="max", description="How many at most.", ge=1)]
Wait = Annotated[
    float,
    Query(description="How long to wait for the first one, in seconds.", ge=0, allow_inf_nan=False),
]
