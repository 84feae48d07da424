"""`wherecast bench matching`: publications matched per second, by workload, size and engine."""

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa

from wherecast.bench.case import batch_of, filters_of
from wherecast.bench.choice import check_choice
from wherecast.bench.matching import engines as engines
from wherecast.bench.matching.cases import SAMPLE, SCALE, MatchingCase, cases, scale
from wherecast.bench.matching.one_by_one import ONE_BY_ONE, one_by_one
from wherecast.bench.matching.peers import PEERS, Peer
from wherecast.bench.matching.start import START, starts
from wherecast.bench.matching.text_peers import TEXT_PEERS
from wherecast.bench.matching.updates import BULK, SINGLES, updates
from wherecast.bench.pictures import Panel, lines_of
from wherecast.bench.progress import Doing, Row, View
from wherecast.language import PredicateTable
from wherecast.workloads import WORKLOADS

TITLE = "Matching: from a record batch to matches, one core; peers side by side"
_CASE = {"what": "what", "filters": "filters"}
VIEWS = (
    View("process seconds", {
        **_CASE, "publications": "pubs", "matches": "matches",
        "text to first match, s": "text to first match s", "process seconds": "process s",
    }),
    View("calls/s", {
        **_CASE, "engine": "engine", "matches": "matches",
        "matches/publication": "matches/pub", "calls/s": "calls/s of CPU",
        "CPU µs/call": "CPU µs/call", "CPU µs/call of match": "of match of a list",
    }),
    View("read seconds", {
        **_CASE, "read seconds": "read s", "first build seconds": "first build s",
        "build seconds": "build s", "bytes/filter": "index B/filter",
        "table bytes/filter": "table B/filter", "blocks/publication": "blocks/pub",
        "checked/publication": "checked/pub",
    }),
    View("bulk adds/s", {
        **_CASE, "text to first match, s": "text to first match s",
        "bulk adds/s": "bulk adds/s", "bulk removes/s": "bulk removes/s",
        "single adds/s": "single adds/s", "single removes/s": "single removes/s",
    }),
    View("workload", {
        "what": "what", "engine": "engine", "filters": "filters", "publications": "pubs",
        "matches/publication": "matches/pub", "publications/s": "pubs/s", "matches/s": "matches/s",
        "µs/publication": "µs/pub", "times columnar": "× columnar", "note": "note",
    }),
)  # fmt: skip


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case and engine.

    Args:
        size: the largest number of filters per case; None is the size of the targets.
        seed: the seed of the workloads.
        only: one workload, `scale`, `start` or `one by one`; None is all of them.

    Raises:
        WrongResult: two engines disagree.
    """
    check_choice("workload", only, (*WORKLOADS, SCALE, START, ONE_BY_ONE))
    pa.set_cpu_count(1)
    if only in (None, START):
        yield Doing("starting two processes, the first without compiled code")
        yield from starts(seed)
    if only in (None, ONE_BY_ONE):
        yield from one_by_one(size, seed)
    for case in cases(size, only):
        yield from _case(case, seed)
    if only in (None, SCALE):
        for case in scale(size):
            yield from _case(case, seed)


def _case(case: MatchingCase, seed: int) -> Iterator[Row | Doing]:
    """The rows of one case, the index first."""
    yield Doing(f"{case.about}: drawing")
    workload = case.make(seed)
    extra = BULK + SINGLES if case.whole else 0
    drawn = filters_of(workload, case.filters + extra)
    filters, more = drawn.slice(0, case.filters), drawn.slice(case.filters)
    publications = batch_of(workload, SAMPLE + case.publications)
    sample, batch = publications.slice(0, SAMPLE), publications.slice(SAMPLE)
    yield Doing(f"{case.about}: columnar")
    table, read_seconds = engines.read_table(filters.column("filter"), workload.schema)
    index = engines.columnar(case, table, sample, batch)
    row = {**index.row, "read seconds": read_seconds}
    row["expected"] = workload.matches_per_publication(case.filters)
    if case.whole:
        yield Doing(f"{case.about}: adding and removing")
        row.update(updates(workload.schema, filters, more, batch))
    yield row
    texts = filters.column("filter")
    if case.form == "either":
        yield Doing(f"{case.about}: conjunctions")
        yield engines.conjunctions(case, texts, workload.schema, (sample, batch), index)
    if case.filters <= case.scan_max:
        yield Doing(f"{case.about}: scan")
        yield engines.scan(case, workload.schema, filters, batch, index)
    for name, load in _peers(case, table, texts, batch).items():
        yield Doing(f"{case.about}: {name}")
        yield engines.peer(case, name, load, batch, index)


def _peers(
    case: MatchingCase, table: PredicateTable, texts: pa.ChunkedArray, batch: pa.RecordBatch
) -> dict[str, Callable[[], Peer]]:
    """The functions that load the filters into the peers of a case, by engine."""
    form = case.form
    if form is None:
        return {}
    if form == "boxes" or form == "lists":
        return {name: partial(peer, form, table, batch) for name, peer in PEERS.items()}
    return {name: partial(peer, texts) for name, peer in TEXT_PEERS[form].items()}


def panels(rows: list[Row]) -> list[Panel]:
    """Time per publication: the index in all workloads, then all engines per workload."""
    timed = [row for row in rows if "µs/publication" in row]
    own = [row for row in timed if row["engine"] == "columnar" and row["what"] != SCALE]
    found: list[Panel] = [lines_of(own, "columnar, by workload", "what")] if own else []
    for name in dict.fromkeys(row["what"] for row in timed):
        title = "bluedove at equal matches" if name == SCALE else name
        some = [row for row in timed if row["what"] == name]
        found.append(lines_of(some, f"{title}, by engine", "engine"))
    return found
