"""The story of changing alerts, as the tutorial tells it, from the wheel without the repository."""

import re
from pathlib import Path

import pytest

from tests.environments import ROOT, install_beside, run

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.release]

PAGE = ROOT / "docs" / "tutorial" / "alerts-that-change.md"
SCRIPT = re.compile(r"^```python alerts\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```text output\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_prints_what_the_page_shows(wheel: Path, tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (script,), (shown,) = SCRIPT.findall(text), OUTPUT.findall(text)
    python = install_beside(wheel, tmp_path)
    (tmp_path / "alerts.py").write_text(script, encoding="utf-8")

    assert run(python, "alerts.py", cwd=tmp_path) == shown
    inside = run(python, "-c", "import wherecast; print(wherecast.__file__)", cwd=tmp_path)
    assert not Path(inside.strip()).is_relative_to(ROOT)
