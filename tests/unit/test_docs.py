"""The documentation is true: links resolve, examples run and print what the page says.

In every page, blocks fenced as `python` run one after the other in one namespace, in an empty
directory. A fence with a second word that is a file name (`toml air.toml`) is written there first.
A block fenced as `text`, right after a `python` block, is what that one prints; so is one fenced as
`text output`, with words between them. A `python` block whose first line is `# needs spark` runs
only where there is Spark.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.unit import doc_names

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if path.exists())
FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
NEEDS_SPARK = "# needs spark"
SOURCES = sorted(
    set(ROOT.glob("docs/reference/sources/*.md")) - {ROOT / "docs/reference/sources/README.md"}
)
STATUSES = ("here", "partly", "replaced", "planned", "context")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        info: the words after the fence.
        text: what is fenced.
        line: where the text begins.
        adjacent: whether only blank lines are between it and the block before it.
    """

    info: tuple[str, ...]
    text: str
    line: int
    adjacent: bool

    @property
    def is_python(self) -> bool:
        return self.info == ("python",)

    @property
    def is_output(self) -> bool:
        return self.info == ("text", "output") or (self.info == ("text",) and self.adjacent)

    @property
    def file(self) -> str | None:
        return self.info[1] if len(self.info) == 2 and "." in self.info[1] else None

    @property
    def needs_spark(self) -> bool:
        return self.text.split("\n", 1)[0].strip() == NEEDS_SPARK


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    end = 0
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start(3)) + 1
        adjacent = end > 0 and not text[end : found.start()].strip()
        yield Block(tuple(found[2].split()), found[3], line, adjacent)
        end = found.end()


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as GitHub makes them."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    anchors: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", prose, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        number = 1
        unique = anchor
        while unique in anchors:
            unique, number = f"{anchor}-{number}", number + 1
        anchors.add(unique)
    return anchors


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_relative_links_resolve(page: Path) -> None:
    prose = re.sub(r"`[^`\n]+`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    broken = []
    for target in LINK.findall(prose):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        exists = ROOT in (linked, *linked.parents) and linked.exists()
        if not exists or (anchor and linked.suffix == ".md" and anchor not in _anchors(linked)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_page_is_listed_in_an_index(page: Path) -> None:
    if page in (ROOT / "README.md", ROOT / "docs" / "README.md"):
        pytest.skip("an index itself")
    indexes = [page.parent / "README.md", ROOT / "docs" / "README.md"]
    linked = {
        (index.parent / target.partition("#")[0]).resolve()
        for index in indexes
        if index.exists() and index != page
        for target in LINK.findall(index.read_text(encoding="utf-8"))
    }
    assert page in linked


def test_every_deviation_has_its_cases() -> None:
    """The table of deviations names all conformance cases of deviations, and no other."""
    page = (ROOT / "docs" / "reference" / "filters.md").read_text(encoding="utf-8")
    table = page.split("## Deviations from Spark SQL")[1]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    named = {name.strip() for row in rows for name in row.split("|")[-2].split(";")}
    cases: set[str] = set()
    for path in sorted((ROOT / "tests" / "conformance").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        cases |= {case["name"] for key in ("cases", "filters") for case in data.get(key, ())}
    assert len(rows) >= 9
    assert named - cases == set()
    assert {name for name in cases if name.startswith("deviation:")} - named == set()


@pytest.mark.parametrize("page", SOURCES, ids=_name)
def test_what_a_source_page_calls_here_is_shown_by_tests(page: Path) -> None:
    for row in doc_names.rows_of(page):
        assert row.status in STATUSES, row
        is_built = row.status in ("here", "partly", "replaced")
        assert row.tests or not is_built or row.where.startswith("planned"), f"no test shows {row}"
        assert [test for test in row.tests if not doc_names.is_test(test)] == [], row.number


@pytest.mark.parametrize("page", SOURCES, ids=_name)
def test_a_source_page_leaves_no_number_out(page: Path) -> None:
    numbers = [row.number for row in doc_names.rows_of(page)]
    features = [number for number in numbers if number.startswith("F")]
    algorithms = [number for number in numbers if number.startswith("A")]
    assert features == [f"F{number}" for number in range(1, len(features) + 1)]
    assert algorithms == [f"A{number}" for number in range(1, len(algorithms) + 1)]
    assert len(features) > len(algorithms) > 10
    assert len(numbers) == len(features) + len(algorithms)


@pytest.mark.parametrize("page", SOURCES, ids=_name)
def test_what_is_not_there_yet_is_called_planned(page: Path) -> None:
    for row in doc_names.rows_of(page):
        coming = [one for one in doc_names.MODULE.findall(row.where) if doc_names.is_coming(one)]
        assert not coming or row.status != "here" or "planned" in row.where, row


def test_the_counts_of_the_source_pages_are_those_of_their_rows() -> None:
    index = (SOURCES[0].parent / "README.md").read_text(encoding="utf-8")
    table = index.split("## How much is built")[1]
    stated = re.findall(r"^\| \[[\w.-]+\]\(([\w.-]+)\) \| (.*) \|$", table, re.MULTILINE)
    assert sorted(name for name, _ in stated) == sorted(page.name for page in SOURCES)
    for name, counts in stated:
        found = Counter(row.status for row in doc_names.rows_of(SOURCES[0].parent / name))
        assert dict(zip(STATUSES, map(int, counts.split(" | ")), strict=True)) == {
            status: found[status] for status in STATUSES
        }, name


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_what_a_page_names_is_there(page: Path) -> None:
    """Modules, tests and paths, wherever prose sets them as code."""
    missing = []
    for word in doc_names.code_words(page):
        if doc_names.MODULE.fullmatch(word):
            there = doc_names.is_module(word) or doc_names.is_coming(word)
        elif doc_names.TEST.fullmatch(word):
            there = doc_names.is_test(word)
        else:
            names_path = doc_names.PATH.fullmatch(word) or doc_names.SHORT.fullmatch(word)
            there = not names_path or doc_names.is_path(word)
        if not there:
            missing.append(word)
    assert missing == []


@pytest.mark.parametrize(
    "name",
    [
        "tests/unit/test_docs.py::test_that_nobody_wrote",
        "tests/unit/test_nothing.py",
        "tests/unit/doc_names.py::rows_of",
        "tests/conformance/strings.json::no such case",
        "tests/contract/test_log.py::TestRegistry::test_that_nobody_wrote",
    ],
)
def test_a_test_that_is_not_there_is_noticed(name: str) -> None:
    assert doc_names.TEST.fullmatch(name)
    assert not doc_names.is_test(name)


@pytest.mark.parametrize("name", ["wherecast.nothing", "wherecast.store.nothing", "wherecast.nos"])
def test_a_module_that_is_not_there_is_noticed(name: str) -> None:
    assert doc_names.MODULE.fullmatch(name)
    assert not doc_names.is_module(name)


def test_the_glossary_defines_each_word_once() -> None:
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    words = [word.strip(".").lower() for word in re.findall(r"\*\*(.+?)\*\*", page)]
    assert [word for word, count in Counter(words).items() if count > 1] == []
    assert len(words) > 60


def test_every_room_is_described_for_contributors() -> None:
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `(\w+)/` \| ", page.split("## One picture")[0], re.MULTILINE)
    packages = {path.parent.name for path in ROOT.glob("src/wherecast/*/__init__.py")}
    assert sorted(described) == sorted(packages)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_targets_of_make_that_a_page_names_are_there(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^ {4}|\$ )make ([a-z-]+)", text, re.MULTILINE))
    assert named - targets == set()


def test_a_name_that_a_class_lacks_is_noticed() -> None:
    assert doc_names.is_module("wherecast.store.contracts.Log.append")
    assert not doc_names.is_module("wherecast.store.contracts.Log.nothing")


def _run(page: Path, directory: Path, namespace: dict[str, Any], with_spark: bool) -> None:
    """Runs the examples of a page and compares what they print."""
    blocks = list(_blocks(page))
    for block in blocks:
        if block.file is not None:
            (directory / block.file).write_text(block.text, encoding="utf-8")
    printed: str | None = None
    for block in blocks:
        if block.is_python:
            printed = None
            if with_spark or not block.needs_spark:
                code = compile("\n" * (block.line - 1) + block.text, _name(page), "exec")
                with redirect_stdout(io.StringIO()) as output:
                    exec(code, namespace)
                printed = output.getvalue()
        elif block.is_output and printed is not None:
            assert _trimmed(printed) == _trimmed(block.text), f"{_name(page)}, line {block.line}"
            printed = None


def _trimmed(text: str) -> list[str]:
    """The lines without spaces at their ends and without empty lines around them."""
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def _pages(needs_spark: bool) -> list[Path]:
    """The pages with examples, those that need Spark or those that do not."""
    result = []
    for page in PAGES:
        python = [block for block in _blocks(page) if block.is_python]
        if python and any(block.needs_spark for block in python) == needs_spark:
            result.append(page)
    return result


def test_there_are_examples() -> None:
    assert len(_pages(needs_spark=False)) >= 3


@pytest.mark.parametrize("page", _pages(needs_spark=False) + _pages(needs_spark=True), ids=_name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(page, tmp_path, {"__name__": "__main__"}, with_spark=False)


@pytest.mark.parametrize("page", _pages(needs_spark=True), ids=_name)
def test_spark_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    _run(page, tmp_path, {"__name__": "__main__", "spark": spark}, with_spark=True)
