"""The experiments, by name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wherecast.bench.broker import experiment as broker
from wherecast.bench.language import experiment as language
from wherecast.bench.latency import experiment as latency
from wherecast.bench.matching import experiment as matching
from wherecast.bench.pictures import Panel
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.server import experiment as server
from wherecast.bench.spark import experiment as spark
from wherecast.bench.trees import experiment as trees


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named measurement.

    Attributes:
        title: the title of the measurement.
        rows: yields the rows one by one, from a size, a seed and the name of a case or workload.
        panels: returns the panels of the picture.
        views: the tables on screen; by default one table with all columns.
    """

    title: str
    rows: Callable[[int | None, int, str | None], Iterator[Row | Doing]]
    panels: Callable[[list[Row]], list[Panel]]
    views: tuple[View, ...] = ()


EXPERIMENTS = {
    "language": Experiment(language.TITLE, language.rows, language.panels),
    "matching": Experiment(matching.TITLE, matching.rows, matching.panels, matching.VIEWS),
    "trees": Experiment(trees.TITLE, trees.rows, trees.panels, trees.VIEWS),
    "spark": Experiment(spark.TITLE, spark.rows, spark.panels, spark.VIEWS),
    "broker": Experiment(broker.TITLE, broker.rows, broker.panels, broker.VIEWS),
    "server": Experiment(server.TITLE, server.rows, server.panels, server.VIEWS),
    "latency": Experiment(latency.TITLE, latency.rows, latency.panels, latency.VIEWS),
}
