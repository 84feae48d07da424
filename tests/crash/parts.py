"""The processes of the crash tests."""

from dataclasses import replace

from tests.crash.campaign import Part

_BROKER = "tests.crash.broker_process"
_SEGMENTS = ("segment.written", "segment.named")
_COMMITS = ("commit.before", "commit.after")
_MERGES = ("merge.joined", "merge.before", "merge.after", "sweep.before")
_LOG = ("log.before", "log.after")
_CURSORS = ("cursors.before", "cursors.after")
_COMPACTION = ("compact.before", "compact.after")

PIPELINE_POINTS = (*_SEGMENTS, *_COMMITS, *_MERGES)

INLINE = Part(
    "broker",
    _BROKER,
    ("{store}", "{ledger}", "{life}", "inline"),
    (*_LOG, *PIPELINE_POINTS, *_CURSORS, *_COMPACTION),
)
BROKER = Part("broker", _BROKER, ("{store}", "{ledger}", "{life}"), (*_LOG, *_CURSORS))
PIPELINE = Part(
    "pipeline",
    "tests.crash.pipeline_process",
    ("{store}", "--master", "local[2,4]"),
    PIPELINE_POINTS,
    "committed",
    first=2,
)
INLINE_PIPELINE = Part(
    "pipeline", "tests.crash.inline_pipeline_process", ("{store}",), PIPELINE_POINTS, "committed"
)


def calm(part: Part) -> Part:
    """A process that dies at no point."""
    return replace(part, points=())
