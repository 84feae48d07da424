"""Joining tables gives what reading all their texts at once gives."""

from dataclasses import replace
from random import Random

from hypothesis import given, settings

from tests.property.strategies import EVERYTHING, RANDOMS, columns, fill, make_schema, make_template
from tests.seeds import random_of
from tests.unit.language.joining import Cut, assert_joined
from wherecast.model import Schema

BAD_TOO = replace(EVERYTHING, bad=True)


def cut_up(rng: Random, texts: list[str]) -> Cut:
    """The texts in a few parts, some of them empty, and what is kept of each."""
    ends = sorted(rng.randint(0, len(texts)) for _ in range(rng.randint(0, 4)))
    parts = [texts[a:b] for a, b in zip([0, *ends], [*ends, len(texts)], strict=True)]
    share = rng.choice([0.0, 0.3, 0.9])
    return [
        (part, None if rng.random() < 0.4 else [rng.random() < share for _ in part])
        for part in parts
    ]


@settings(max_examples=150)
@given(columns(BAD_TOO, domains=True), RANDOMS)
def test_parts_are_joined_as_their_texts_are_read(
    column: tuple[Schema, list[str]], rng: Random
) -> None:
    schema, texts = column
    assert_joined(schema, cut_up(rng, texts))


@settings(max_examples=75)
@given(columns(BAD_TOO), RANDOMS)
def test_attributes_need_not_be_declared(column: tuple[Schema, list[str]], rng: Random) -> None:
    """In an open schema one name may stand for attributes of several types."""
    schema, texts = column
    declared = schema.attributes[: rng.randint(0, 2)]
    assert_joined(Schema(declared, open=True), cut_up(rng, texts))


def test_a_thousand_filters_of_many_shapes() -> None:
    rng = random_of("joining")
    schema = make_schema(rng)
    templates = [make_template(rng, schema) for _ in range(40)]
    texts = [fill(rng, rng.choice(templates)) for _ in range(1000)]
    for _ in range(3):
        assert_joined(schema, cut_up(rng, texts))
