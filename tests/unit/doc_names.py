"""What pages name, and whether it is there: tests, conformance cases, modules, paths.

Everything is read from the files: nothing is imported, and no test is collected by running it.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^(`{3,})[^\n`]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"wherecast(?:\.\w+)+(?<!\.toml)")
TEST = re.compile(r"tests/[\w/]+\.(?:py|json)::.+|tests/(?:\w+/)*test_\w+\.py")
PATH = re.compile(r"(?:src|tests|docs|scripts)/[\w./-]*\w")
SHORT = re.compile(
    r"(?:arrays|bench|broker|cli|client|columns|delivery|gateway|language|matching|model|pipeline"
    r"|server|store|workloads)(?:/\w+)+/?"
)
# Packages that a page may name before they have code.
COMING = ("client", "matching.topk", "overlay", "placement", "sim", "tuning")


@dataclass(frozen=True)
class Row:
    """A row of a table of features or algorithms.

    Attributes:
        number: `F12` or `A3`.
        status: `here`, `partly`, `replaced`, `planned` or `context`.
        where: the modules, the replacement or the reason.
        tests: the tests that show the feature.
    """

    number: str
    status: str
    where: str
    tests: tuple[str, ...]


def rows_of(page: Path) -> Iterator[Row]:
    """Yields the rows of those tables of a page that have a column of statuses."""
    columns: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells:
            columns = []
        elif not columns:
            columns = cells
        elif "status" in columns and not set(line) <= set("|-: "):
            assert len(cells) == len(columns), line
            named = dict(zip(columns, cells, strict=True))
            where = named["where, by what, or why"]
            tests = tuple(CODE.findall(named["shown by"]))
            yield Row(cells[0], named["status"], where, tests)


@cache
def tests_in(path: Path) -> frozenset[str]:
    """Returns the names of the tests of a module, or of the cases of a conformance file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        data = json.loads(text)
        return frozenset(case["name"] for key in ("cases", "filters") for case in data.get(key, ()))
    names: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            names |= {node.name, *(f"{node.name}::{one.name}" for one in methods)}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            stateful = node.value.attr == "TestCase"  # a state machine of Hypothesis
            names |= {one.id for one in node.targets if stateful and isinstance(one, ast.Name)}
    return frozenset(name for name in names if re.search(r"(^|::)(test_|Test)\w*$", name))


def is_test(name: str) -> bool:
    """Whether a test, a case or a file of them is there, named as pytest names tests."""
    path, _, test = name.partition("::")
    if not (ROOT / path).is_file():
        return False
    found = tests_in(ROOT / path)
    return test in found if test else bool(found)


def is_module(name: str) -> bool:
    """Whether a dotted name is a module of the package, or a public name of one."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        path = SOURCE.joinpath(*parts[:size])
        rest = parts[size:]
        for module in (path.with_suffix(".py"), path / "__init__.py"):
            if module.is_file():
                return ".".join(rest) in _names_in(module) if rest else True
    return False


def is_coming(name: str) -> bool:
    """Whether a dotted name is of a package that has no code yet, and may be named."""
    below = name.removeprefix("wherecast.")
    return any(below == package or below.startswith(f"{package}.") for package in COMING)


def is_path(name: str) -> bool:
    """Whether a file or folder is in the repository, or a module or folder in the package."""
    short = SOURCE / "wherecast" / name
    return any(path.exists() for path in (ROOT / name, short, short.with_suffix(".py")))


def code_words(page: Path) -> list[str]:
    """Returns what a page sets as code in its prose, without fenced blocks."""
    return CODE.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


@cache
def _names_in(module: Path) -> frozenset[str]:
    """Returns the names of a module, those in its classes as `Class.name`."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    names = set(_bound(tree.body))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for name in _bound(node.body)}
    return frozenset(names)


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """Yields the names that statements define, import or assign."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (one.asname or one.name for one in node.names)
        elif isinstance(node, ast.Assign):
            yield from (one.id for one in node.targets if isinstance(one, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
