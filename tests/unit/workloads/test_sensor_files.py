"""Sensor files: five families of rows with time stamps, as the elastic BE-Tree was measured."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from tests.unit.workloads.oracle import (
    check,
    count_single_predicates,
    publications,
    single_predicates,
    texts,
)
from wherecast.workloads import sensors

FILES = {
    "carbon_monoxide": (76, 5),
    "ozone": (909, 10),
    "schimmelstrasse": (919, 5),
    "stampfenbachstrasse": (919, 5),
    "ultrafine_particles": (808, 10),
}


@pytest.fixture(scope="module")
def workload():
    return sensors(files=True)


@pytest.fixture(scope="module")
def sent(workload):
    return publications(workload, 20_000)


@pytest.mark.parametrize("timestamps", [True, False])
def test_matches_per_publication(timestamps):
    workload = sensors(files=True, timestamps=timestamps)
    check(workload, count_single_predicates(workload, 10_000, 10_000))


def test_readings_sent_without_their_times_fail_the_count(workload):
    drifted = replace(workload, timestamps=False)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_single_predicates(drifted, 10_000, 10_000))


def test_families_have_the_rows_and_sensors_of_the_source(workload):
    assert {f.family.name: f.readings.shape for f in workload.files} == FILES
    units = {s.name: s.unit for file in workload.files for s in file.family.sensors}
    assert units["carbon_monoxide1"] == units["schimmelstrasse_co"] == "ppm"
    assert units["ozone10"] == units["stampfenbachstrasse_no2"] == "ppb"
    assert {file.family.name for file in workload.files if not file.present.all()} == {
        "ultrafine_particles"
    }
    assert all(file.present.any(axis=1).all() for file in workload.files)


def test_sensors_have_a_domain_with_a_step(workload):
    ozone = workload.schema.find("ozone4")
    assert (ozone.type, ozone.min, ozone.max, ozone.step) == ("float", 0, 200, Decimal("0.001"))
    kinds = [attribute.type for attribute in workload.schema]
    assert (kinds.count("float"), kinds.count("timestamp"), kinds.count("int")) == (35, 5, 1)


def test_a_fifth_of_the_filters_is_of_each_file_and_a_quarter_of_it_on_the_time(workload):
    names = single_predicates(texts(workload, 20_000))[0]
    for file in FILES:
        mine = [name for name in names if name.startswith(file)]
        assert len(mine) == 4_000
        assert mine.count(f"{file}_at") == 1_000


def test_constants_are_of_rows_and_operators_are_the_numeric_ones(workload):
    names, operators, constants = single_predicates(texts(workload, 10_000))
    signs, sizes = np.unique(operators, return_counts=True)
    assert set(signs) == {"<", "<=", "=", ">=", ">"}
    assert sizes == pytest.approx(np.full(5, 2_000), rel=0.1)
    ozone = next(file for file in workload.files if file.family.name == "ozone")
    known = set(ozone.readings[:, 3].tolist())
    assert all(float(c) in known for n, c in zip(names, constants, strict=True) if n == "ozone4")


def test_a_round_is_one_row_of_each_file_then_a_marker_with_the_number_sent(workload, sent):
    markers = sent["test"].to_pylist()
    ends = [place for place, marker in enumerate(markers) if marker is not None]
    assert [markers[place] for place in ends] == ends
    for start, end in zip([-1, *ends[:20]], ends[:20], strict=False):
        rows = sent.slice(start + 1, end - start - 1).to_pylist()
        carried = [[name for name, value in row.items() if value is not None] for row in rows]
        assert all(len(names) == 2 for names in carried)  # the reading and its time
        readings = [names[0] for names in carried]
        assert len(set(readings)) == len(readings) >= 26
        for file, (_, columns) in FILES.items():
            times = {row[f"{file}_at"] for row in rows if row[f"{file}_at"]}
            assert len(times) == 1
            here = sum(name.startswith(file) for name in readings)
            assert here == columns or (file == "ultrafine_particles" and 1 <= here <= columns)


def test_publications_of_a_row_carry_its_readings_and_time(workload, sent):
    for file in workload.files[1:2]:
        rows = {time.item(): row for time, row in zip(file.times, file.readings, strict=True)}
        for row in sent.slice(0, 500).to_pylist():
            for place, sensor in enumerate(file.family.sensors):
                if row[sensor.name] is not None:
                    moment = row[f"{file.family.name}_at"].replace(tzinfo=None)
                    assert rows[moment][place] == row[sensor.name]


def test_time_stamps_can_be_left_out():
    table = publications(sensors(files=True, timestamps=False), 1_000)
    for name in table.column_names:
        assert (table[name].null_count == 1_000) == name.endswith("_at")


def test_the_same_rows_are_sent_with_and_without_time_stamps(workload, sent):
    without = publications(sensors(files=True, timestamps=False), 20_000)
    kept = [name for name in sent.column_names if not name.endswith("_at")]
    assert without.select(kept).equals(sent.select(kept))
