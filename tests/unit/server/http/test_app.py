"""The OpenAPI description: every operation is described, with an example that is one."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi")

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.server.http.app import api_of, context_of
from wherecast.server.http.messages.openapi import ARROW
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.settings import Settings
from wherecast.store.open_store import open_store


@pytest.fixture(scope="module")
def described() -> Iterator[dict[str, Any]]:
    core = BrokerCore(open_store("memory:"), wc.Schema.from_dict({"n": "int"}))

    async def describe() -> dict[str, Any]:
        context = context_of(core, Settings(), PipelineState("inline"))
        try:
            return api_of(context, "1").openapi()
        finally:
            context.pools.close()

    yield asyncio.run(describe())
    core.close()


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def contents(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Where a body is described, its type, and what is said of it."""
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield "request", kind, content
    for status, answer in operation["responses"].items():
        for kind, content in answer.get("content", {}).items():
            yield status, kind, content


def test_every_operation_has_examples(described: dict[str, Any]) -> None:
    named = dict(operations(described))
    assert len(named) == 22
    for name, operation in named.items():
        found = list(contents(operation))
        for where, kind, content in found:
            assert kind == ARROW or {"example", "examples"} & content.keys(), (name, where, kind)
        assert operation["summary"], name
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                assert parameter["examples"], (name, parameter["name"])
        succeeded = {where for where, _, _ in found if where.startswith("2")}
        assert succeeded or "204" in operation["responses"], name


def test_every_part_that_is_referred_to_is_described(described: dict[str, Any]) -> None:
    referred: set[str] = set()

    def look(part: Any) -> None:
        if isinstance(part, dict):
            if "$ref" in part:
                referred.add(part["$ref"].rpartition("/")[2])
            part = list(part.values())
        if isinstance(part, list):
            for one in part:
                look(one)

    look(described)
    schemas = described["components"]["schemas"]
    assert referred <= schemas.keys()
    for name in referred - {"HTTPValidationError", "ValidationError"}:
        assert schemas[name]["additionalProperties"] is False, name
        assert schemas[name]["description"], name
