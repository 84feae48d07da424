"""Publications that end the process which matches them are found and left out.

What ends a process is put in from outside: a module that Python loads at its start, as a faulty
library would do it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import wherecast as wc
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.repair.poison import culprits

pytestmark = pytest.mark.slow

DEADLY = """
import os

def deadly():
    from wherecast.matching.columnar.index import ColumnarIndex
    match = ColumnarIndex.match
    def matched(self, batch):
        if 666 in batch.column("no2").to_pylist():
            os._exit(9)
        return match(self, batch)
    ColumnarIndex.match = matched

deadly()
"""
LIFE = """
import sys, wherecast as wc
with wc.Broker(data=sys.argv[1]) as broker:
    ana = broker.subscriber("ana")
    found = []
    while len(found) < int(sys.argv[2]):
        found = ana.take(1000, timeout=60)
    print(sorted(one.publication.attributes["no2"] for one in found))
"""


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that are started from now on die of a publication with the number 666."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(DEADLY)
    source = str(Path(wc.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), source]))


def filled(data: Path, numbers: list[int]) -> None:
    """A store with publications that nothing matched yet."""
    code = f"""
import sys, wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.store.open_store import open_store
schema = wc.Schema.from_dict({{"no2": "int"}})
core = BrokerCore(open_store({str(data)!r}), schema, runs_pipeline=False)
core.registrar.register("ana", 0)
core.registrar.subscribe(wc.Subscription("s1", "no2 >= 0", "ana"), 0)
core.publish([wc.Publication({{"no2": number}}) for number in {numbers}], "default")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.usefixtures("deadly")
@pytest.mark.parametrize("places", [[], pytest.param([70, 71, 299], marks=pytest.mark.release)])
def test_culprits_are_found_wherever_they_are(tmp_path: Path, places: list[int]) -> None:
    numbers = [666 if place in places else place % 100 for place in range(300)]
    filled(tmp_path / "store", numbers)
    assert culprits(tmp_path / "store", Range(0, 0, 300), changes=3) == places


@pytest.mark.usefixtures("deadly")
def test_a_broker_passes_one_after_at_most_three_starts(tmp_path: Path) -> None:
    data = tmp_path / "store"
    filled(data, [1, 2, 666, 3])
    life = [sys.executable, "-c", LIFE, str(data), "3"]
    runs = [subprocess.run(life, capture_output=True, text=True, timeout=120)]
    while runs[-1].returncode == 9:
        assert len(runs) < 3
        runs.append(subprocess.run(life, capture_output=True, text=True, timeout=120))
    assert runs[-1].stdout == "[1, 2, 3]\n", runs[-1].stderr
    with wc.Broker(data=data) as broker:
        [letter] = broker.dead_letters()
    assert (letter.offset, letter.reason) == (2, "matching it ends the process")
