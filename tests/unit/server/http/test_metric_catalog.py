"""What `/metrics` says of each metric is a sentence, and the reference page has the same."""

import asyncio
import re
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from prometheus_client import generate_latest

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.server.http.app import api_of, context_of
from wherecast.server.http.metric_catalog import METRICS
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.settings import Settings
from wherecast.store.open_store import open_store

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "metrics.md"
SENTENCE = re.compile(r"(Number of|Age in|Size in|Seconds that|Largest number|1 while) .*\w\)?\.")


def shown() -> dict[str, tuple[str, str]]:
    """The metrics of a new server by name, each with its help text and its kind."""
    core = BrokerCore(open_store("memory:"), wc.Schema.from_dict({"n": "int"}))

    async def run() -> str:
        context = context_of(core, Settings(), PipelineState("inline"))
        try:
            api_of(context, "1")
            return generate_latest(context.counters.registry).decode()
        finally:
            context.pools.close()

    text = asyncio.run(run())
    core.close()
    helps = dict(re.findall(r"^# HELP wherecast_(\w+) (.*)$", text, re.MULTILINE))
    kinds = dict(re.findall(r"^# TYPE wherecast_(\w+) (.*)$", text, re.MULTILINE))
    return {
        name: (helps[name], kind) for name, kind in kinds.items() if not name.endswith("_created")
    }


def test_what_a_server_shows_is_what_the_catalog_says() -> None:
    declared = {
        entry.shown.partition("{")[0]: (entry.help, entry.kind) for entry in METRICS.values()
    }
    optional = {"notifications_queued"}  # missing before limits were checked
    found = shown()
    assert found.keys() | optional == declared.keys() | optional
    assert found.items() <= declared.items()


def test_each_help_text_is_a_sentence_that_is_understood_alone() -> None:
    for entry in METRICS.values():
        assert SENTENCE.fullmatch(entry.help), entry
        assert len(entry.help.split()) >= 3, entry


def test_the_reference_page_has_the_same_texts() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("The stages, in")[0]
    rows = re.findall(r"^\| `(.*?)` \| (.*) \|$", table, re.MULTILINE)
    assert rows == [(entry.shown, entry.help) for entry in METRICS.values()]
