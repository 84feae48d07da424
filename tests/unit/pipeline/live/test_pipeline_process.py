"""The process of the pipeline ends without a word where Java ends with it."""

from threading import Event

import pytest

from wherecast.pipeline.live.pipeline_process import _expect_the_end_of_java

accumulators = pytest.importorskip("pyspark.accumulators")


@pytest.mark.parametrize(
    ("problem", "is_silent"),
    [(EOFError(), True), (ConnectionResetError(), True), (ValueError("a bad token"), False)],
)
def test_the_end_of_java_is_no_traceback(
    problem: Exception,
    is_silent: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):
        kind = getattr(accumulators, name, None)
        if kind is None:
            continue
        monkeypatch.setattr(kind, "handle_error", kind.handle_error)  # put back afterwards
        _expect_the_end_of_java(Event())
        server = kind.__new__(kind)
        try:
            raise problem
        except type(problem):
            server.handle_error(None, ("127.0.0.1", 1))
        assert ("Traceback" not in capsys.readouterr().err) == is_silent
