"""The value of `now()` in a batch of a stream: the first task or driver that asks fixes it."""

from functools import cache

from wherecast.model.times import current_micros
from wherecast.pipeline.filters.manifests import packed, unpacked
from wherecast.pipeline.sink.sink_commit import StreamBatch
from wherecast.pipeline.sink.sink_location import SinkLocation
from wherecast.store.blobs.blobs import Blobs, MissingBlob, open_blobs

_MOMENTS = "_wherecast/moments"
_MOMENTS_KEPT = 100


def batch_moment(blobs: Blobs, batch: StreamBatch) -> int:
    """The moment of a batch, in microseconds since 1970.

    All tasks and all attempts of a batch get the same moment, from a record of the sink. The sink
    remembers the last hundred batches of a query.

    Args:
        blobs: the small records of the sink; for several tasks, those of `shared_moments`.
        batch: the batch.
    """
    name = _name(batch, batch.number)
    try:
        content = blobs.read(name)
    except MissingBlob:
        if blobs.create(name, packed({"now_us": current_micros()})):
            blobs.delete(_name(batch, batch.number - _MOMENTS_KEPT))
        content = blobs.read(name)
    return int(unpacked(content, f"{blobs.uri}/{name}")["now_us"])


def shared_moments(location: SinkLocation) -> Blobs:
    """The small records of a sink, where several tasks may ask for the moment of a batch at once.

    Raises:
        ConfigError: two writers are not safe in this store.
    """
    return _conditional(location.uri)


@cache
def _conditional(uri: str) -> Blobs:
    return open_blobs(uri, conditional=True)


def _name(batch: StreamBatch, number: int) -> str:
    return f"{_MOMENTS}/{batch.query}/{number:020}"
