"""Many kills, one after the other, of the processes of one store, and the verdict at the end.

Each process is started to die at a named point, or at none; then it is killed from outside at a
random instant. What died is started again.
"""

import itertools
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from signal import SIGKILL
from threading import Event

from tests.crash.ledger import read_facts, size_bytes
from tests.crash.processes import CRASH_TOLD, Started
from tests.crash.verdict import Verdict, judge, kept_in
from tests.seeds import run_seed
from tests.spark.services import send, until
from wherecast.store.open_store import open_store

_MET_WITHIN_S = 10.0
_ENDS_WITHIN_S = 60.0
_PROGRESS_WITHIN_S = 180.0
ANY_INSTANT = "any instant"


@dataclass(frozen=True)
class Part:
    """A process of a campaign.

    Attributes:
        name: of it.
        module: that is run.
        arguments: of the module; `{life}` becomes the number of the process.
        points: at which it, or a worker of it, may die.
        first: at which visit of a point it dies at the earliest. Where workers die, each new one
            must come further than the one before it.
        progress: a word that it says, or none where the ledger tells that it gets on.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    points: tuple[str, ...]
    progress: str = ""
    first: int = 1


def kills(usual: int) -> int:
    """How many kills a test is to do: `WHERECAST_KILLS` may say."""
    return int(os.environ.get("WHERECAST_KILLS", usual))


def run(folder: Path, parts: tuple[Part, ...], targets: tuple[str, ...], count: int) -> None:
    """Kills the targets so often in turn, has all delivered, and prints what came of it.

    Raises:
        AssertionError: a promise was broken.
    """
    campaign = Campaign(folder, parts, seed=run_seed() + count)
    try:
        campaign.kill(count, targets)
        verdict = campaign.drain()
    finally:
        campaign.close()
    print(f"{campaign.hit.total()} kills: {verdict}", campaign.summary(), sep="\n")
    assert not verdict.faults, "\n".join(verdict.faults)


class Campaign:
    """Processes over one store, killed again and again.

    Attributes:
        hit: how often each part died, by point.
    """

    def __init__(self, folder: Path, parts: tuple[Part, ...], seed: int) -> None:
        self.hit: Counter[str] = Counter()
        self.store, self.ledger = folder / "store", folder / "ledger"
        self.ledger.mkdir(parents=True)
        open_store(self.store).close()  # a pipeline may come first, and makes none
        self._folder = folder
        self._draw = Random(seed)
        self._lives = itertools.count()
        self._parts = {part.name: part for part in parts}
        self._armings = {part.name: self._arming(part) for part in parts}
        self.running = {name: self._start(name) for name in self._parts}

    def kill(self, count: int, targets: tuple[str, ...]) -> None:
        """Kills so often, the targets in turn, beside those who die at their points meanwhile."""
        for target in itertools.islice(itertools.cycle(targets), count):
            self._restart_dead()
            self._strike(target)
        self._restart_dead()

    def take_over(self, name: str) -> Started:
        """Starts a second process of a part; the first one, which is its starter's from now on."""
        first = self.running[name]
        self.running[name] = self._start(name, armed=False)
        return first

    def stop(self, name: str) -> None:
        """Kills a process, which stays away until it is started."""
        self.running.pop(name).sweep()

    def start(self, part: Part) -> Started:
        """Starts a process."""
        self._parts[part.name] = part
        self.running[part.name] = self._start(part.name, armed=False)
        return self.running[part.name]

    def delete_checkpoints(self) -> None:
        """Deletes what Spark keeps for itself, under its hands."""
        for place in (self._folder / "tmp").glob("wherecast-live-*"):
            shutil.rmtree(place, ignore_errors=True)
            self.hit["pipeline: checkpoint deleted"] += 1

    def backlog(self) -> int:
        """How many publications are not matched yet."""
        with closing(open_store(self.store, "reader")) as store:
            done, end = store.batches.progress().position[0], store.log.ends()[0]
            return store.log.count(0, done, end)

    def drain(self) -> Verdict:
        """Has everything delivered, ends all, and judges."""
        broker = self._disarmed("broker")
        broker.tell("drain")
        until("a quiet end", lambda: self._drained(broker), 600)
        for name, process in self.running.items():
            assert process.close() == 0, f"{name} ended badly: see {self._errors(name)}"
        facts = list(read_facts(self.ledger))
        return judge(kept_in(self.store, facts), facts)

    def close(self) -> None:
        """Ends all."""
        for process in self.running.values():
            process.sweep()

    def summary(self) -> str:
        """The histogram of what was hit."""
        every = self.hit + self._hit_inside()
        return "\n".join(f"  {count:4} {what}" for what, count in sorted(every.items()))

    def _hit_inside(self) -> Counter[str]:
        """How often workers of the pipeline died at a point, which the pipeline itself did not."""
        told = self._folder / "pipeline.killed"
        points = Counter(told.read_text().splitlines() if told.exists() else ())
        for point in points:
            points[point] -= self.hit[f"pipeline: {point}"]
        return Counter({f"pipeline: worker, {point}": count for point, count in points.items()})

    # How it kills.

    def _arming(self, part: Part) -> Iterator[str]:
        """For each life a point to die at, or none: every point in turn, in some order."""
        while True:
            points = [*part.points, *[""] * max(1, len(part.points))]
            self._draw.shuffle(points)
            for point in points:
                count = part.first + self._draw.randint(0, 2)
                yield f"{point}:{count}" if point else ""

    def _start(self, name: str, armed: bool = True) -> Started:
        part = self._parts[name]
        life = next(self._lives)
        given = [
            one.format(store=self.store, ledger=self.ledger, life=life) for one in part.arguments
        ]
        point = next(self._armings[name]) if armed else ""
        temporary = self._folder / "tmp"
        temporary.mkdir(exist_ok=True)
        # where checkpoints are, and where it tells at which point it dies
        environ = {"TMPDIR": str(temporary), CRASH_TOLD: str(self._folder / f"{name}.killed")}
        return Started(part.module, given, self._errors(name), point, environ)

    def _errors(self, name: str) -> Path:
        return self._folder / f"{name}.err"

    def _restart_dead(self, but: str = "") -> None:
        for name, process in self.running.items():
            if name != but and not process.is_running:
                self._buried(name)

    def _until(self, what: str, name: str, condition: Callable[[], bool], limit_s: float) -> None:
        """Waits for a condition or the end of a process; others that die meanwhile live again."""

        def is_met() -> bool:
            self._restart_dead(but=name)
            return not self.running[name].is_running or condition()

        until(f"{what} of {name}", is_met, limit_s)

    def _buried(self, name: str, how: str = "", armed: bool = True) -> None:
        """Counts a death, and starts the process again."""
        process = self.running[name]
        point = process.armed.partition(":")[0]
        assert how or (process.was_killed and point), self._told(name)
        self.hit[f"{name}: {how or point}"] += 1
        process.sweep()
        self.running[name] = self._start(name, armed)

    def _told(self, name: str) -> str:
        code = self.running[name].process.poll()
        text = self._errors(name).read_text(errors="replace")[-4000:]
        return f"{name} ended with {code}:\n{text}"

    def _strike(self, target: str) -> None:
        """Kills a target, at its point or at some instant."""
        if target in self._parts:
            process = self.running[target]
            if not process.armed or not self._dies(target):
                self._instant(target)
            if process.is_running:
                process.kill()
                self._buried(target, ANY_INSTANT)
            else:
                self._buried(target)
        else:
            self._instant("pipeline")
            if target == "checkpoint":
                self.delete_checkpoints()
            else:
                self._strike_inside(target)

    def _dies(self, name: str) -> bool:
        """Whether a process comes to the point that it is to die at."""
        lines = self.running[name].lines
        self._until("the start", name, lambda: bool(lines), _PROGRESS_WITHIN_S)
        with suppress(AssertionError):
            self._until("the end", name, lambda: False, _MET_WITHIN_S)
        return not self.running[name].is_running

    def _instant(self, name: str) -> None:
        """Waits until a process gets on, or not, and then a moment."""
        if self._draw.random() < 0.9:
            self._until("progress", name, self._progress(name), _PROGRESS_WITHIN_S)
        Event().wait(self._draw.random() * 0.3)

    def _progress(self, name: str) -> Callable[[], bool]:
        """Whether a process has got on a little from now."""
        lines, word = self.running[name].lines, self._parts[name].progress
        if word:
            wanted = self._draw.randint(1, 3)
            return lambda: sum(line.startswith(word) for line in lines) >= wanted
        grown = size_bytes(self.ledger) + self._draw.randint(1_000, 60_000)
        return lambda: size_bytes(self.ledger) > grown

    def _strike_inside(self, target: str) -> None:
        """Kills the Java process of the pipeline, or one of its Python workers."""
        process = self.running["pipeline"]
        found = [pid for pid, command in process.members().items() if is_inside(target, command)]
        if not found:
            return
        send(self._draw.choice(found), SIGKILL)
        if target == "java":
            was_ready = "ready" in process.lines
            self._until("the end", "pipeline", lambda: False, _ENDS_WITHIN_S)
            told = self._errors("pipeline").read_text().splitlines()[-9:]
            if was_ready and not process.was_killed:
                assert told[-1:] == ["Java ended, and the pipeline with it"], told
            self._buried("pipeline", "java, any instant")
        else:
            self.hit["pipeline: worker, any instant"] += 1

    # How it ends.

    def _disarmed(self, name: str) -> Started:
        """A life of a process that is not to die."""
        if self.running[name].armed:
            self.running[name].kill()
            self._buried(name, ANY_INSTANT, armed=False)
        return self.running[name]

    def _drained(self, broker: Started) -> bool:
        for name, process in self.running.items():
            if name != "broker" and not process.is_running:
                self._buried(name, armed=False)
        assert broker.is_running or broker.process.poll() == 0, self._told("broker")
        return "drained" in broker.lines


def is_inside(target: str, command: str) -> bool:
    """Whether a command line is that of a target inside the pipeline."""
    if target == "java":
        return "org.apache.spark" in command and "java" in command.split()[0]
    return "pyspark" in command and "java" not in command.split()[0]
