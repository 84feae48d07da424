"""The live pipeline as a process: `python -m wherecast.pipeline.live.pipeline_process DIRECTORY`.

It says `ready` on standard output once Spark runs, then `committed` and the sequence whenever
batches were committed. It ends on SIGTERM and SIGINT, and when
its standard input is closed: so it does not outlive the process that started it, however that one
ends.
"""

import argparse
import logging
import signal
import sys
from pathlib import Path
from socketserver import BaseServer
from threading import Event, Thread
from typing import Any, get_args

from wherecast.matching.kinds import KINDS
from wherecast.model import ConfigError, WherecastError
from wherecast.pipeline.live.live_options import DEFAULT_OPTIONS, LiveOptions, Trigger
from wherecast.pipeline.spark.session import SparkFailed, spark_session
from wherecast.pipeline.spark.session_settings import MASTER
from wherecast.store.records import Progress

_OLDEST = (4, 2)  # the first whose Python sources may limit what a batch reads


def main(arguments: list[str] | None = None) -> int:
    """Runs the pipeline of a directory until it is told to stop.

    Returns:
        0, or 1 for a failure, or 2 where Spark or the directory cannot be used.
    """
    parser = argparse.ArgumentParser(prog="wherecast-pipeline", description=__doc__)
    parser.add_argument("directory", type=Path, help="the store, which a broker made")
    parser.add_argument("--master", default=MASTER, help="where Spark runs (%(default)s)")
    parser.add_argument(
        "--tasks", type=int, default=1, help="how many share a large batch (%(default)s)"
    )
    parser.add_argument(
        "--publications-max",
        type=int,
        default=DEFAULT_OPTIONS.publications_max,
        help="in one batch (%(default)s)",
    )
    parser.add_argument(
        "--index", choices=KINDS, default=KINDS[0], help="the kind of index (%(default)s)"
    )
    parser.add_argument(
        "--trigger",
        choices=get_args(Trigger),
        default=DEFAULT_OPTIONS.trigger,
        help="slices: a task stays and waits; batches: Spark starts a job for each (%(default)s)",
    )
    parser.add_argument(
        "--slice-s",
        type=float,
        default=DEFAULT_OPTIONS.slice_s,
        help="how long a task stays (%(default)s)",
    )
    parser.add_argument(
        "--backlog",
        type=int,
        default=DEFAULT_OPTIONS.backlog,
        help="waiting publications that several tasks share (%(default)s)",
    )
    parser.add_argument(
        "--stall-s",
        type=float,
        default=DEFAULT_OPTIONS.stall_s,
        help="how long publications may wait without a commit before a restart (%(default)s)",
    )
    given = parser.parse_args(arguments)
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    Thread(target=_stop_at_end_of_input, args=(stop,), daemon=True).start()
    try:
        need_spark()
        from wherecast.pipeline.live.spark_pipeline import OPTIONS, LivePipeline

        with spark_session(given.master, options=OPTIONS) as spark:
            options = LiveOptions(
                given.tasks,
                given.publications_max,
                given.index,
                given.trigger,
                given.slice_s,
                given.backlog,
                given.stall_s,
            )
            pipeline = LivePipeline(spark, given.directory, options, _say)
            _expect_the_end_of_java(stop)
            print("ready", flush=True)
            pipeline.run(stop)
    except (WherecastError, SparkFailed) as error:
        if stop.is_set() and isinstance(error, SparkFailed):
            return 0  # a signal to the whole group ended Java, too
        print(error, file=sys.stderr, flush=True)
        return 2 if isinstance(error, ConfigError) else 1
    return 0


def need_spark() -> None:
    """Refuses a Spark that cannot run the live pipeline.

    Raises:
        ConfigError: it is missing or too old.
    """
    try:
        from pyspark import __version__
    except ImportError:
        raise ConfigError("this needs PySpark: pip install 'wherecast[spark]'") from None
    found = tuple(map(int, __version__.split(".")[:2]))
    if found < _OLDEST:
        needed = ".".join(map(str, _OLDEST))
        raise ConfigError(f"the live pipeline needs PySpark {needed}, this is {__version__}")


def _say(progress: Progress) -> None:
    print(f"committed {progress.count}", flush=True)


def _expect_the_end_of_java(stop: Event) -> None:
    """Has PySpark's server of accumulators, and after a signal py4j, be silent where Java ends.

    A signal to the whole group ends Java and this process at once. The pipeline itself notices the
    end of Java.
    """
    from pyspark import accumulators

    logging.getLogger().addFilter(lambda record: not stop.is_set())  # py4j writes to this one
    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):
        server: Any = getattr(accumulators, name, None)
        if server is not None and server.handle_error is not _handle_error:
            server.handle_error = _handle_error


def _handle_error(server: BaseServer, request: Any, address: Any) -> None:
    if not isinstance(sys.exception(), EOFError | ConnectionError):
        BaseServer.handle_error(server, request, address)


def _stop_at_end_of_input(stop: Event) -> None:
    while sys.stdin.read(4096):
        pass
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
