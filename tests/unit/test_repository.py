"""Files of the repository: nothing of a machine in them, pinned packages, tests in lanes."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
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


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def marks_of(path: Path) -> Iterator[tuple[str, list[object]]]:
    """The markers that a file uses, each with the constants that the file gives to it."""
    for node in ast.walk(tree_of(path)):
        named = node.func if isinstance(node, ast.Call) else node
        if isinstance(named, ast.Attribute) and ast.unparse(named.value) == "pytest.mark":
            given = node.args if isinstance(node, ast.Call) else []
            yield named.attr, [one.value for one in given if isinstance(one, ast.Constant)]


def is_for_a_release(path: Path) -> bool:
    """Whether `make test` leaves out every test of a file."""
    return any(
        "pytest.mark.release" in ast.unparse(node.value)
        for node in tree_of(path).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    )


def imported_packages(path: Path) -> set[str]:
    """The packages whose modules a file imports."""
    nodes = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom)]
    modules = {node.module for node in nodes if node.module}
    return modules | {module.rpartition(".")[0] for module in modules}


def test_make_test_covers_every_package() -> None:
    """A test file imports the package, or is in the folder that mirrors it or its parent."""
    source, unit = ROOT / "src" / "wherecast", ROOT / "tests" / "unit"
    packages = {file.parent.relative_to(source) for file in source.rglob("*/__init__.py")}
    files = [file for file in (ROOT / "tests").rglob("test_*.py") if not is_for_a_release(file)]
    imported = set().union(*map(imported_packages, files))
    mirrored = {file.parent.relative_to(unit) for file in files if file.is_relative_to(unit)}
    missing = [
        package
        for package in packages - {Path()}
        if ".".join(("wherecast", *package.parts)) not in imported
        and not mirrored & ({package, package.parent} - {Path()})
    ]
    assert len(packages) > 30
    assert not missing


def test_every_marker_is_documented() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["tool"]["pytest"]["ini_options"]["markers"]
    documented = {re.split(r"[(:]", line)[0] for line in listed}
    of_pytest = {"parametrize", "usefixtures", "filterwarnings", "skipif", "skip", "xfail"}
    used = [mark for file in (ROOT / "tests").rglob("*.py") for mark in marks_of(file)]
    assert {name for name, _ in used} - of_pytest - {"xdist_group"} == documented


def test_make_help_lists_every_campaign() -> None:
    (listed,) = re.findall(r"^CAMPAIGNS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    files = (ROOT / "tests").rglob("*.py")
    given = {name for file in files for mark, names in marks_of(file) for name in names
             if mark == "soak"}  # fmt: skip
    assert sorted(given) == listed.split()
