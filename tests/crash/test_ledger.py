"""A line that a kill cut short counts as if it had not been begun."""

from pathlib import Path

from tests.crash.ledger import Ledger, file_of, read_facts


def test_a_line_that_was_cut_is_passed_over(tmp_path: Path) -> None:
    for life in range(2):
        ledger = Ledger(file_of(tmp_path, life))
        ledger.write("acked", "ana", [life])
        ledger.write("received", "ana", [["c", "p", ["s"], False]])
    first = file_of(tmp_path, 0)
    first.write_bytes(first.read_bytes()[:-9])
    assert list(read_facts(tmp_path)) == [
        ["acked", "ana", [0]],
        ["acked", "ana", [1]],
        ["received", "ana", [["c", "p", ["s"], False]]],
    ]
