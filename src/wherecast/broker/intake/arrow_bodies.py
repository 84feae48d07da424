"""Publications as an Arrow stream: columns from one end to the other.

A stream has either the columns of publication objects, `attributes` (a struct), `id`, `payload` and
`published_at`, or a column per attribute and nothing else.

The bytes are not trusted. A stream is outlined first: one that is packed is refused, since nobody
knows what it grows to, and so is one with too many rows. Then it is read and checked in full.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wherecast.arrays.list_elements import flat_elements, is_list
from wherecast.arrays.vectors import array_of, filled
from wherecast.broker.intake.arrow_outline import outline_of
from wherecast.broker.intake.intake import (
    FIRST_US,
    ID_CHARACTERS_MAX,
    LAST_US,
    PreparedPublications,
    Rows,
    complete,
    headers_batch,
    publishers_of,
)
from wherecast.broker.intake.json_bodies import KEYS, refuse_many
from wherecast.columns import Decoded, Rejection, read_arrow
from wherecast.columns.arrow_schema import is_open_field
from wherecast.model import (
    DEFAULT_LIMITS,
    Limits,
    Problem,
    PublicationError,
    Schema,
    SchemaError,
)
from wherecast.model.values import ValueProblem, problem_of
from wherecast.store.records import HEADERS, PAYLOAD

_GROWTH_BYTES_MAX = 64 << 20  # of a column whose values are written once and used often


_BESIDE = pa.schema([HEADERS.field("id"), HEADERS.field("published_at"), ("payload", PAYLOAD)])


def prepare_arrow(
    body: bytes,
    stream: str,
    schema: Schema,
    rows_max: int,
    limits: Limits = DEFAULT_LIMITS,
    publisher: str = "",
) -> PreparedPublications:
    """The publications of an Arrow stream, as a log takes them.

    Args:
        body: the stream of bytes.
        stream: where they are published.
        schema: of the stream.
        rows_max: number of publications that a body may have.
        limits: of what each may be.
        publisher: who publishes them; empty: no name is given.

    Raises:
        PublicationError: these bytes are no Arrow stream, or one of a kind that is refused.
        SchemaError: a column cannot be what its name says.
    """
    table = _table(body, rows_max)
    is_enveloped = _is_enveloped(table.schema)
    attributes = _unnested(table) if is_enveloped else table
    if not schema.open:
        _refuse_unknown(attributes.schema, schema, limits)
    decoded = read_arrow(attributes, schema, limits=limits)
    beside = _beside(table if is_enveloped else table.select([]))
    refused = [*_not_finite(decoded), *_bad_beside(beside, limits)]

    def headers_of(rows: Rows) -> tuple[pa.RecordBatch, pa.Array]:
        ids, moments, payloads = beside.take(array_of(rows)).columns
        return headers_batch(ids, moments, publishers_of(publisher, len(rows))), payloads

    return complete(decoded, refused, headers_of, stream, schema)


def _table(body: bytes, rows_max: int) -> pa.Table:
    """The rows of a stream, checked in full."""
    try:
        found = outline_of(body)
        if found.is_packed:
            raise PublicationError("the stream is compressed; send it as it is")
        refuse_many(found.rows, rows_max)
        table = pa.ipc.open_stream(pa.py_buffer(body)).read_all()
        table.validate(full=True)
        for field, column in zip(table.schema, table.columns, strict=True):
            _refuse_growth(field.name, column)
    except (pa.ArrowException, OSError, EOFError, ValueError) as error:
        first = next(iter(str(error).splitlines()), "it ends too early")
        raise PublicationError(f"no Arrow stream: {first[:200]}") from None
    return table.combine_chunks()


def _refuse_growth(name: str, column: pa.ChunkedArray) -> None:
    """Refuses a column that would grow when its values are written out."""
    kind = column.type
    if kinds.is_struct(kind):
        for field, part in zip(kind, column.flatten(), strict=True):
            _refuse_growth(f"{name}.{field.name}", part)
    elif kinds.is_dictionary(kind):
        grown = sum(_written_bytes(chunk) for chunk in column.chunks)
        if kinds.is_nested(kind.value_type) or grown > _GROWTH_BYTES_MAX:
            most = _GROWTH_BYTES_MAX
            text = f"column {name} has more than {most} bytes where its values are written out"
            raise PublicationError([Problem("too_large", text)])
    elif is_list(kind) and not kinds.is_nested(kind.value_type):
        for chunk in column.chunks:
            _refuse_growth(name, pa.chunked_array([flat_elements(chunk).values]))
    elif kinds.is_nested(kind) or kind.id in _SHARING:
        raise PublicationError([Problem("wrong_type", f"column {name} is {kind}: not taken")])


_SHARING = {pa.string_view().id, pa.binary_view().id, pa.run_end_encoded(pa.int32(), pa.int8()).id}


def _written_bytes(chunk: pa.DictionaryArray) -> int:
    """What the values of a chunk take, each written where it is used."""
    values = chunk.dictionary
    kind = values.type
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_binary(kind):
        lengths = pc.binary_length(values)
        return int(pc.sum(pc.take(lengths, chunk.indices)).as_py() or 0)
    return len(chunk) * 16


def _is_enveloped(schema: pa.Schema) -> bool:
    names = schema.names
    place = schema.get_field_index("attributes")
    return place >= 0 and kinds.is_struct(schema[place].type) and set(names) <= set(KEYS)


def _unnested(table: pa.Table) -> pa.Table:
    """The attributes of publication objects as columns."""
    column = table.column("attributes")
    if column.null_count:
        row = int(pc.index(pc.is_null(column), True).as_py())
        raise PublicationError(f"publication {row} has no attributes")
    fields = list(column.type)
    if not fields:
        return table.select([])
    return pa.Table.from_arrays(column.flatten(), schema=pa.schema(fields))


def _refuse_unknown(columns: pa.Schema, schema: Schema, limits: Limits) -> None:
    """Refuses columns that a closed schema does not have."""
    problems = []
    for path in _paths("", columns):
        if schema.find(path) is None:
            hint = schema.hint(path)
            text = f"unknown attribute {path}" + (f"; {hint}" if hint else "")
            problems.append(Problem("unknown_attribute", text, path))
    if problems:
        raise SchemaError(problems[: limits.publication_attributes_max])


def _paths(prefix: str, fields: pa.Schema | pa.StructType) -> Iterator[str]:
    for field in fields:
        if kinds.is_struct(field.type):
            yield from _paths(f"{prefix}{field.name}.", field.type)
        else:
            yield prefix + field.name


def _not_finite(decoded: Decoded) -> Iterator[Rejection]:
    """Rows with a number that JSON could not carry to a receiver."""
    for field, column in zip(decoded.batch.schema, decoded.batch.columns, strict=True):
        if is_list(column.type):
            yield from _not_finite_elements(field.name, column, decoded.rows)
            continue
        numbers = column.flatten()[0] if is_open_field(field) else column
        if kinds.is_floating(numbers.type):
            for row in decoded.rows[~np.isfinite(filled(numbers, 0))].tolist():
                yield _not_taken(row, field.name)


def _not_finite_elements(name: str, column: pa.Array, rows: Rows) -> Iterator[Rejection]:
    """The rows of a column of arrays with such a number: the first one of each."""
    flat = flat_elements(column)
    if kinds.is_floating(flat.values.type):
        places = np.flatnonzero(~np.isfinite(filled(flat.values, 0)))
        owners = np.searchsorted(flat.starts, places, side="right") - 1
        own, firsts = np.unique(owners, return_index=True)
        for row, place in zip(own.tolist(), places[firsts].tolist(), strict=True):
            yield _not_taken(int(rows[row]), name, place - int(flat.starts[row]))


def _not_taken(row: int, name: str, element: int | None = None) -> Rejection:
    wrong = ValueProblem("not_finite", "NaN and infinity are not taken", element)
    text = problem_of(name, wrong).message
    return Rejection(row, wrong.code, text, name, element=element)


def _beside(table: pa.Table) -> pa.RecordBatch:
    """The ids, times and payloads of all rows."""
    if "valid_for" in table.schema.names and table.column("valid_for").null_count < len(table):
        text = "valid_for is not supported yet; leave it out"
        raise PublicationError([Problem("not_supported", text)])
    arrays = []
    for field in _BESIDE:
        if field.name not in table.schema.names:
            arrays.append(pa.nulls(len(table), field.type))
            continue
        column = table.column(field.name).combine_chunks()
        try:
            if not _TAKEN[field.name](column.type):
                raise pa.ArrowTypeError
            arrays.append(column.cast(field.type))
        except pa.ArrowException:
            text = f"column {field.name} is {column.type}, and should be {field.type}"
            raise SchemaError([Problem("wrong_type", text, field.name)]) from None
    return pa.RecordBatch.from_arrays(arrays, schema=_BESIDE)


def _is_text(kind: pa.DataType) -> bool:
    plain = kind.value_type if kinds.is_dictionary(kind) else kind
    return bool(kinds.is_string(plain) or kinds.is_large_string(plain) or kinds.is_null(plain))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_null(kind))


def _is_moment(kind: pa.DataType) -> bool:
    return bool(kinds.is_timestamp(kind) or kinds.is_null(kind))


_TAKEN = {"id": _is_text, "payload": _is_bytes, "published_at": _is_moment}


def _bad_beside(beside: pa.RecordBatch, limits: Limits) -> Iterator[Rejection]:
    """Rows whose id, payload or time is not taken."""
    ids, moments, payloads = beside.columns
    lengths = filled(pc.utf8_length(ids), 1)
    for row in np.flatnonzero((lengths < 1) | (lengths > ID_CHARACTERS_MAX)).tolist():
        text = f"id is a string of 1 to {ID_CHARACTERS_MAX} characters"
        yield Rejection(row, "wrong_type", text, key="id")
    times = filled(moments.cast(pa.int64()), 0)
    for row in np.flatnonzero((times < FIRST_US) | (times > LAST_US)).tolist():
        text = "published_at is not of the years 1 to 9999, in UTC"
        yield Rejection(row, "bad_time", text, key="published_at")
    sizes, most = filled(pc.binary_length(payloads), 0), limits.payload_bytes_max
    for row in np.flatnonzero(sizes > most).tolist():
        text = f"payload has {sizes[row]} bytes, the limit is {most}"
        yield Rejection(row, "too_large", text, key="payload")
