"""A column of filters as a predicate table."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, texts_of, values_of
from wherecast.language.bulk.filter_shapes import FilterShape, Shapes, read_shape
from wherecast.language.bulk.fragments import read_fragments
from wherecast.language.bulk.literals import Cut, cut, shape_key
from wherecast.language.filter import read_expression
from wherecast.language.meaning.index_plan import plan, without_program
from wherecast.language.meaning.normal_form import form_of
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.language.table.table_builder import TableBuilder
from wherecast.model import DEFAULT_LIMITS, FilterError, Limits, Schema
from wherecast.model.values import is_text

Ints = npt.NDArray[np.int64]
_ALONE_MAX = 2  # so few filters of a shape are read sooner than the shape is compiled
_SHAPES_FEW = 64  # so many shapes may all be compiled
_RARE_MAX = 100  # filters of one shape among many, which its predicates serve as well
_LOOKED_UP_MAX = 10_000  # rare shapes that may be known from before


def read_filters(
    texts: pa.Array | pa.ChunkedArray | Sequence[str | None],
    schema: Schema,
    limits: Limits = DEFAULT_LIMITS,
    has_programs: bool = True,
) -> PredicateTable:
    """The predicate table of a column of filter texts; bad ones are in its `rejected`.

    Without programs, the whole filter is a predicate where its conjunctions do not decide: for
    indexes that run no programs.

    A shape is parsed once, and the constants of all filters of that shape are read as columns.
    Filters of rare shapes are read predicate by predicate where that is possible; of the others,
    those that share their shape with hardly any are read one by one.
    """
    shapes = Shapes(schema, limits, has_programs)
    column = _column(texts)
    builder = TableBuilder(schema, len(column))
    given = column if isinstance(texts, pa.Array | pa.ChunkedArray) else texts
    if len(column) <= _ALONE_MAX:
        plain = column.to_pylist()
        for row in range(len(column)):
            read_alone(row, _text(given[row]), shapes, builder)
        return builder.finish(len({shape_key(text) for text in plain}))
    parts = cut(column, builder.string, limits.filter_text_bytes_max)
    for row in read_cut(parts, shapes, builder).tolist():
        read_alone(row, _text(given[row]), shapes, builder)
    return builder.finish(len(parts.keys))


def read_cut(parts: Cut, shapes: Shapes, builder: TableBuilder) -> Ints:
    """Adds the filters of texts that were cut; returns the rows that must be read alone."""
    schema, limits = shapes.schema, shapes.limits
    rare = _are_rare(parts, shapes)
    groups = _by_shape(np.flatnonzero((parts.shapes >= 0) & ~rare), parts.shapes)
    alone = [np.flatnonzero(parts.shapes < 0)]
    if rare.any():
        left = read_fragments(np.flatnonzero(rare), parts, schema, limits, builder)
        few = np.bincount(parts.shapes[left], minlength=1)[parts.shapes[left]] <= _ALONE_MAX
        alone.append(left[few])
        groups += _by_shape(left[~few], parts.shapes)
    for rows in groups:
        for shape, mine in _with_frozen(rows, parts, shapes):
            starts = parts.starts[mine]
            alone.append(
                mine
                if shape is None
                else read_shape(shape, mine, starts, parts.literals, builder, limits)
            )
    return np.concatenate(alone)


def _with_frozen(
    rows: Ints, parts: Cut, shapes: Shapes
) -> Iterator[tuple[FilterShape | None, Ints]]:
    """The rows of a shape by the texts of its frozen constants, each with its own shape.

    None is the shape of rows that must be read alone.
    """
    key = parts.keys[parts.shapes[rows[0]]]
    shape = shapes.of(key)
    if shape is None or not shape.frozen:
        yield shape, rows
        return
    places = [array_of(parts.starts[rows] + number) for number in shape.frozen]
    coded = [parts.literals.texts.take(one).dictionary_encode() for one in places]
    codes = np.stack([values_of(one.indices) for one in coded], axis=1)
    distinct, back = np.unique(codes, axis=0, return_inverse=True)
    for mine, row in zip(_by_shape(np.arange(len(rows)), back.reshape(-1)), distinct, strict=True):
        given = zip(coded, row.tolist(), strict=True)
        texts = tuple(one.dictionary[number].as_py() for one, number in given)
        is_worth = len(mine) > _ALONE_MAX or (key, texts) in shapes
        yield shapes.with_frozen(key, shape, texts) if is_worth else None, rows[mine]


def read_alone(row: int, text: str | None, shapes: Shapes, builder: TableBuilder) -> None:
    """Reads one filter into the table, or notes why it is rejected."""
    try:
        if text is None:
            raise FilterError("the filter is null")
        expression = read_expression(text, shapes.schema, shapes.limits)
        made = plan(expression)
        if not shapes.has_programs:
            made = without_program(made, expression)
        builder.add_plan(row, form_of(made.conjunctions), made.program)
    except FilterError as error:
        error.found_in(None)  # the column has it; many long texts would fill the memory
        builder.reject(row, error)


def _are_rare(parts: Cut, shapes: Shapes) -> npt.NDArray[np.bool_]:
    """Which rows have a rare shape: one that is not known and does not pay its compilation."""
    has_shape = parts.shapes >= 0
    sizes = np.bincount(parts.shapes[has_shape], minlength=max(1, len(parts.keys)))
    many = np.count_nonzero(sizes <= _RARE_MAX) > _SHAPES_FEW
    rare = sizes <= (_RARE_MAX if many else _ALONE_MAX)
    numbers = np.flatnonzero(rare & (sizes > 0))
    if len(shapes) and len(numbers) <= _LOOKED_UP_MAX:
        rare[[number for number in numbers.tolist() if parts.keys[number] in shapes]] = False
    return has_shape & rare[parts.shapes]


def _by_shape(rows: Ints, shapes: Ints) -> list[Ints]:
    """The rows of each shape."""
    order = rows[np.argsort(shapes[rows], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(shapes[order])) + 1)
    return groups if len(order) else []


def _column(texts: pa.Array | pa.ChunkedArray | Sequence[str | None]) -> pa.Array:
    """The texts as one Arrow array."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if isinstance(texts, pa.Array):
        return texts if pa.types.is_large_string(texts.type) else texts.cast(pa.large_string())
    try:
        return texts_of(texts)  # type: ignore[arg-type]
    except (UnicodeEncodeError, TypeError):  # something in it is no text: read it alone
        plain = [text if isinstance(text, str) and is_text(text) else None for text in texts]
        return pa.array(plain, pa.large_string())


def _text(given: Any) -> Any:
    return given.as_py() if isinstance(given, pa.Scalar) else given
