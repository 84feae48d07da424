"""The repository's files hold nothing of the machine they were written on."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Written in parts, so that this file does not find itself.
_REGISTRIES = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "ana" + "conda.org",
    "mvn" + "repository.com",
]
_REGISTRIES += [
    "repo1.ma" + "ven.org",
    "repo.ma" + "ven.apache.org",
    "npm" + "js.org",
    "npm" + "js.com",
]
_HOMES = ["wo" + "rk", "ro" + "ot", "ho" + "me", "Us" + "ers"]
FOREIGN = re.compile(
    "|".join(map(re.escape, _REGISTRIES)) + rf"|(?<![\w.\-~}})\]*])/(?:{'|'.join(_HOMES)})/\w"
)


def text_files() -> dict[str, str]:
    """The text of each file that git knows, by its path."""
    if not (shutil.which("git") and (ROOT / ".git").exists()):
        pytest.skip("not a git checkout")
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    texts = {}
    for name in filter(None, listed.stdout.decode().split("\0")):
        content = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b"\0"
        if b"\0" not in content:
            texts[name] = content.decode(errors="replace")
    return texts


def test_files_name_no_registry_and_no_home() -> None:
    texts = text_files()
    assert "pyproject.toml" in texts
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if FOREIGN.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text", [f"see {_REGISTRIES[0]}", f'"/{_HOMES[0]}/x"', f"=/{_HOMES[1]}/x"])
def test_the_search_finds_what_it_should(text: str) -> None:
    assert FOREIGN.search(text)


def test_the_lock_pins_every_line_and_names_no_index() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    entries = re.sub(r"\\\n", " ", lock).splitlines()
    for entry in (entry for entry in entries if entry and not entry.lstrip().startswith("#")):
        assert re.match(r"[a-z0-9._-]+==\S+ .*--hash=sha256:", entry), entry
    assert "://" not in lock
    assert not re.search(r"^-", lock, re.MULTILINE)
