"""Bodies of requests as the OpenAPI description shows them."""

from typing import Any

from wherecast.server.http.transport.body import ARROW, JSON, NDJSON

_PUBLICATION = {"attributes": {"no2": 45.0, "city": "Zagreb"}, "id": "station-7-0001"}
_PUBLICATION_SCHEMA = {
    "type": "object",
    "required": ["attributes"],
    "additionalProperties": False,
    "properties": {
        "attributes": {"type": "object"},
        "id": {"type": "string", "minLength": 1, "maxLength": 256},
        "payload": {"type": "string", "format": "byte"},
        "published_at": {"type": "string", "format": "date-time"},
    },
}
_SUBSCRIPTION_FIELDS = {
    "filter": {"type": "string"},
    "stream": {"type": "string", "default": "default"},
}

PUBLISH = {
    JSON: {
        "schema": {"anyOf": [_PUBLICATION_SCHEMA, {"type": "array", "items": _PUBLICATION_SCHEMA}]},
        "examples": {"one": {"value": _PUBLICATION}, "several": {"value": [_PUBLICATION]}},
    },
    NDJSON: {
        "schema": {"type": "string"},
        "example": '{"attributes": {"no2": 45.0}}\n{"attributes": {"no2": 12.5}}\n',
    },
    ARROW: {"schema": {"type": "string", "format": "binary"}},
}

STREAM = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["schema"],
            "additionalProperties": False,
            "properties": {"schema": {"type": "object"}},
        },
        "example": {"schema": {"attributes": {"no2": {"type": "float", "min": 0}}, "open": False}},
    }
}

SUBSCRIBE = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["filter"],
            "additionalProperties": False,
            "properties": _SUBSCRIPTION_FIELDS,
        },
        "example": {"filter": "no2 > 40 AND city = 'Zagreb'"},
    }
}

SUBSCRIBE_ALL = {
    NDJSON: {
        "schema": {"type": "string"},
        "example": '{"id": "s1", "filter": "no2 > 40"}\n{"id": "s2", "filter": "no2 > 80"}\n',
    }
}

ACKNOWLEDGE = {
    JSON: {
        "schema": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "through": {"type": "string"},
                "cursors": {"type": "array", "items": {"type": "string"}},
            },
        },
        "examples": {
            "through": {"value": {"through": "0000000000000011"}},
            "some": {"value": {"cursors": ["0000000000000011"]}},
        },
    }
}

EXPLAIN = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["filter", "publication"],
            "additionalProperties": False,
            "properties": {"filter": {"type": "string"}, "publication": _PUBLICATION_SCHEMA},
        },
        "example": {"filter": "no2 > 40", "publication": {"attributes": {"no2": 45.0}}},
    }
}


def body(content: dict[str, Any]) -> dict[str, Any]:
    """The description of a request's body."""
    return {"requestBody": {"required": True, "content": content}}
