"""The server answers as its OpenAPI description says, whatever it is asked."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("schemathesis")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks as openapi

from tests.e2e.server import Server, serving

pytestmark = pytest.mark.release
EXAMPLES = 10
CHECKS = [
    schemathesis.checks.not_a_server_error,
    openapi.status_code_conformance,
    openapi.content_type_conformance,
    openapi.response_schema_conformance,
]


@schemathesis.serializer("application/x-ndjson", "application/vnd.apache.arrow.stream")
def as_it_is(context: Any, value: Any) -> bytes:
    """What is sent for a body that is no JSON: anything."""
    if isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), "--runner", "inline") as running:
        running.call("PUT", "/v1/subscribers/0")
        yield running
        assert "Traceback" not in running.told()


def asked(operation: Any, mode: Any) -> None:
    """Asks one operation many things, as it should be asked or otherwise."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.generate],  # an example is short as it is
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if case.query and "wait" in case.query:
            case.query["wait"] = 0
        case.call_and_validate(checks=CHECKS)

    ask()


def test_answers_are_as_described(server: Server) -> None:
    address = f"http://127.0.0.1:{server.port}/openapi.json"
    schema = schemathesis.openapi.from_url(address)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= 15
    for operation in operations:
        asked(operation, GenerationMode.POSITIVE)
        with suppress(Unsatisfiable):  # there is nothing that could be wrong
            asked(operation, GenerationMode.NEGATIVE)
