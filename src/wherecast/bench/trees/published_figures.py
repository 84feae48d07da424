"""The figures that the sources published about their trees, beside the measured ones."""

from collections.abc import Iterator

from wherecast.bench.progress import Row

_MACHINE = "Java 1.7 on a Core i3-2120; one publication at a time, with queueing"
_DATA = "real sensor rows; ours are synthetic"
_BOTH = f"{_MACHINE}; {_DATA}"
_CUPUS = f"a Core i3; the mean matching time of one matcher, without queueing; {_DATA}"
_OURS = "both compiled, so only fewer checks give the tree its lead; batches of publications"


def published_rows(rows: list[Row]) -> Iterator[Row]:
    """A row per published figure with a measured counterpart."""
    times = {
        (row["engine"], row["filters"]): row["µs/publication"]
        for row in rows
        if row["what"] == "sensor files"
    }
    tree, forest = times.get(("betree", 10_000)), times.get(("forest", 10_000))
    if tree is not None:
        yield _row("elastic BE-Tree, 7.2", "betree, µs/publication", 10_000, "5", tree, _BOTH)
    if forest is not None:
        yield _row("CUPUS, 25", "forest, µs/publication", 10_000, "≈ 50", forest, _CUPUS)
    for filters, published in ((5_000, "≈ 5"), (10_000, "≈ 10")):
        pair = [times.get((kind, filters)) for kind in ("forest", "betree")]
        if pair[0] is not None and pair[1] is not None:
            ratio = pair[0] / pair[1]
            yield _row(
                "elastic BE-Tree, 7.1, 7.2", "forest / betree", filters, published, ratio, _OURS
            )
    for engine, shape in (("forest", "linear"), ("betree", "logarithmic")):
        ends = [times.get((engine, filters)) for filters in (1_000, 10_000)]
        if ends[0] is not None and ends[1] is not None:
            what = f"{engine}, time at 10,000 / at 1,000"
            figure = "elastic BE-Tree, 7.1" if engine == "forest" else "elastic BE-Tree, 7.2"
            yield _row(figure, what, 10_000, f"{shape}, figure only", ends[1] / ends[0], _OURS)


def _row(figure: str, what: str, filters: int, published: str, measured: float, why: str) -> Row:
    return {"figure": figure, "what": what, "filters": filters, "published": published,
            "measured": measured, "differs": why}  # fmt: skip
