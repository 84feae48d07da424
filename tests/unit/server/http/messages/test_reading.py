"""What is no request is refused with a code, a sentence and the place."""

from typing import Any

import pytest

pytest.importorskip("fastapi")

from wherecast.columns.unreadable import Unreadable
from wherecast.server.http.messages.acknowledgement_messages import AcknowledgementRequest
from wherecast.server.http.messages.error_messages import Refused, error_of, pointer_to
from wherecast.server.http.messages.explanation_messages import ExplainRequest
from wherecast.server.http.messages.reading import check_request, read_request
from wherecast.server.http.messages.subscription_messages import SubscriptionRequest


def test_a_request_is_what_was_sent_without_nulls() -> None:
    body = b'{"filter": "a > 1", "stream": null}'
    assert read_request(SubscriptionRequest, body) == {"filter": "a > 1"}
    assert read_request(SubscriptionRequest, body.decode()) == {"filter": "a > 1"}


KNOWN = "known keys are filter, stream, valid_for"


@pytest.mark.parametrize(
    ("body", "status", "code", "message", "pointer"),
    [
        (b" ", 400, "malformed", "the body is empty; it needs an object", None),
        (b"{", 400, "malformed", None, None),
        (b"[{}]", 422, "wrong_type", "the body is an object, not an array", None),
        (b'{"filtre": 1}', 422, "unknown_key", None, "/filtre"),
        (b'{"a/b": 1}', 422, "unknown_key", f"unknown key a/b; {KNOWN}", "/a~1b"),
        (b"{}", 422, "missing", "filter is missing", "/filter"),
        (b'{"filter": null}', 422, "missing", "filter is missing", "/filter"),
        (b'{"stream": 5}', 422, "missing", "filter is missing", "/filter"),
        (b'{"filter": 5}', 422, "wrong_type", "filter is a string, not the number 5", "/filter"),
        (b'{"filter": "a", "stream": []}', 422, "wrong_type", None, "/stream"),
        (b'{"filter": NaN}', 422, "not_finite", None, "/filter"),
        (b'{"filter": "a", "filter": "b"}', 422, "duplicate_key", None, "/filter"),
    ],
)
def test_a_body_that_is_no_request(
    body: bytes, status: int, code: str, message: str | None, pointer: str | None
) -> None:
    with pytest.raises(Refused) as found:
        read_request(SubscriptionRequest, body)
    error = found.value
    assert (error.status, error.code, error.pointer) == (status, code, pointer)
    assert message in (None, error.message)


@pytest.mark.parametrize(
    ("kind", "given", "code", "pointer"),
    [
        (ExplainRequest, {"filter": "a", "publication": 5}, "wrong_type", "/publication"),
        (AcknowledgementRequest, {"cursors": []}, "wrong_type", "/cursors"),
        (AcknowledgementRequest, {"cursors": "x"}, "wrong_type", "/cursors"),
        (AcknowledgementRequest, {"cursors": ["x"] * 10_001}, "too_many", "/cursors"),
        (SubscriptionRequest, [], "wrong_type", ""),
        (SubscriptionRequest, Unreadable("too_deep", "it is too deep"), "too_deep", ""),
        (SubscriptionRequest, {"filter": Unreadable("x", "bad")}, "x", "/filter"),
    ],
)
def test_an_object_that_is_no_request(kind: Any, given: Any, code: str, pointer: str) -> None:
    with pytest.raises(Refused) as found:
        check_request(kind, given)
    assert (found.value.code, found.value.pointer) == (code, pointer)


def test_a_refusal_is_an_error_object() -> None:
    refused = Refused(422, "missing", "filter is missing", pointer_to("a/b", 0, "c~"))
    detail = {"code": "missing", "message": "filter is missing", "pointer": "/a~1b/0/c~0"}
    assert error_of(refused) == (422, detail)
    assert str(refused) == "filter is missing"
