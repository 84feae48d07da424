"""Reproducible workloads: a schema, filters, publications and the matches to expect."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from wherecast.workloads.air_alerts import alerts_or
from wherecast.workloads.bluedove_ranges import bluedove
from wherecast.workloads.city_geofences import geofence
from wherecast.workloads.mixed_filters import mixed
from wherecast.workloads.price_alerts import alerts
from wherecast.workloads.rule_filters import rules
from wherecast.workloads.sensor_readings import sensors
from wherecast.workloads.sparse_predicates import sparse
from wherecast.workloads.srem_ranges import srem
from wherecast.workloads.stock_quotes import stocks
from wherecast.workloads.tag_sets import tags
from wherecast.workloads.workload import MatchRate, Workload

WORKLOADS: Mapping[str, Callable[..., Workload]] = MappingProxyType(
    {
        "bluedove": bluedove,
        "alerts": alerts,
        "geofence": geofence,
        "sparse": sparse,
        "stocks": stocks,
        "sensors": sensors,
        "mixed": mixed,
        "srem": srem,
        "alerts_or": alerts_or,
        "tags": tags,
        "rules": rules,
    }
)

__all__ = [
    "WORKLOADS",
    "MatchRate",
    "Workload",
    "alerts",
    "alerts_or",
    "bluedove",
    "geofence",
    "mixed",
    "rules",
    "sensors",
    "sparse",
    "srem",
    "stocks",
    "tags",
]
