"""What everything else speaks of: schemas, values, publications, subscriptions, errors."""

from wherecast.model.durations import format_duration, parse_duration
from wherecast.model.errors import (
    AcknowledgementError,
    ConfigError,
    ConflictError,
    FilterError,
    Problem,
    PublicationError,
    SchemaError,
    SnapshotError,
    StoreError,
    WherecastError,
)
from wherecast.model.limits import DEFAULT_LIMITS, Limits
from wherecast.model.publication import Publication
from wherecast.model.schema import Attribute, Schema
from wherecast.model.stream_spec import StreamSpec
from wherecast.model.subscription import Subscription
from wherecast.model.subscription_spec import SubscriptionSpec
from wherecast.model.times import format_time, parse_time
from wherecast.model.values import Type, Value, canonical

__all__ = [
    "DEFAULT_LIMITS",
    "AcknowledgementError",
    "Attribute",
    "ConfigError",
    "ConflictError",
    "FilterError",
    "Limits",
    "Problem",
    "Publication",
    "PublicationError",
    "Schema",
    "SchemaError",
    "SnapshotError",
    "StoreError",
    "StreamSpec",
    "Subscription",
    "SubscriptionSpec",
    "Type",
    "Value",
    "WherecastError",
    "canonical",
    "format_duration",
    "format_time",
    "parse_duration",
    "parse_time",
]
