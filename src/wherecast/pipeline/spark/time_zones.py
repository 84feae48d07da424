"""Warns of times without a zone where the session's time zone is not UTC.

A filter reads a time without a zone as UTC. Spark SQL reads the same text in the time zone of the
session, so a filter and the same WHERE clause would differ.
"""

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of
from wherecast.language.meaning.formula import NOW
from wherecast.language.table.attribute_names import attribute_of
from wherecast.model import Schema
from wherecast.pipeline.filters.blob_location import Place
from wherecast.pipeline.filters.filter_loading import load_part, read_batch
from wherecast.pipeline.filters.stored_filters import StoredFilters, StoredPart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from wherecast.pipeline.spark.spark_filters import Filters

_UTC = {"utc", "etc/utc", "z", "gmt", "etc/gmt", "+00:00", "utc+00:00", "gmt+00:00", "zulu", "uct"}
# A quoted date, or date and time, that ends without a zone.
_NO_ZONE = r"""['"]\s*\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}(:\d{1,2}(:\d{1,2}(\.\d*)?)?)?)?\s*['"]"""
_KNOWN_MAX = 16
_known: OrderedDict[tuple[str, ...], object] = OrderedDict()  # by the blobs of the texts


def warn_of_times_without_zone(spark: "SparkSession", filters: "Filters") -> None:
    """Warns, once per call, if a filter has a time without a zone and the session is not in UTC."""
    zone = spark.conf.get("spark.sql.session.timeZone", None)
    if zone is None or zone.lower() in _UTC:
        return
    found = first_without_zone(filters.stored, Place(filters.uri))
    if found is not None:
        warnings.warn(
            f"filter {found!r} has a time without a zone, which is UTC in a filter; in a query of"
            f" this session it would be {zone}: add a zone to the time, such as '… 12:00:00Z', or"
            " set spark.sql.session.timeZone to UTC",
            stacklevel=4,
        )


def first_without_zone(stored: StoredFilters, place: Place) -> object:
    """The id of some filter that compares a timestamp with a time without a zone, or None."""
    times = {attribute.name for attribute in stored.named if attribute.kind == "timestamp"}
    times.add(NOW.name)
    parts = [part for part in stored.parts if times.intersection(_names(part, stored.schema))]
    if not parts:
        return None
    key = tuple(name for part in parts for name in (part.texts, part.hidden or ""))
    if key not in _known:
        ids = (_first(part, times & _names(part, stored.schema), place) for part in parts)
        _known[key] = next((id_ for id_ in ids if id_ is not None), None)
        while len(_known) > _KNOWN_MAX:
            _known.popitem(last=False)
    return _known[key]


def _names(part: StoredPart, schema: Schema) -> set[str]:
    """The names of the attributes that the filters of a part name, that of `now()` included."""
    return {attribute_of(schema, *attribute).name for attribute in part.attributes}


def _first(stored: StoredPart, times: set[str], place: Place) -> object:
    part = load_part(stored, place.open)
    texts = read_batch(stored.texts, place.open).column(0)
    for name in sorted(times):
        places = array_of(part.naming(name))
        found = pc.indices_nonzero(pc.match_substring_regex(texts.take(places), _NO_ZONE))
        if len(found):
            return part.ids[places[found[0].as_py()].as_py()].as_py()
    return None
