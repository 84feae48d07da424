"""What sqlglot's nodes say: the literal, the dotted name and the place of each."""

from sqlglot import exp

from wherecast.language.meaning.constants import LiteralKind, Word

_TIMES: dict[str, LiteralKind] = {
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ"), "time"),
    "TIMESTAMPNTZ": "local",
    "DATE": "date",
}


def position_of(tree: exp.Expression | None) -> int | None:
    """Where a node starts in the text: the least position of its parts."""
    if tree is None:
        return None
    places = [node.meta["start"] for node in tree.walk() if "start" in node.meta]
    return min(places) if places else None


def bare(tree: exp.Expression) -> exp.Expression:
    """A node without the parentheses around it."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def word_of(tree: exp.Expression | None) -> Word | None:
    """The literal that a node is, or None where it is none."""
    if isinstance(tree, exp.Literal):
        kind = "string" if tree.is_string else "number"
        return Word(kind, tree.this, tree.meta.get("start"))  # type: ignore[arg-type]
    if isinstance(tree, exp.RawString):
        return Word("string", tree.this, tree.meta.get("start"))
    if isinstance(tree, exp.Boolean):
        return Word("bool", "true" if tree.this else "false", tree.meta.get("start"))
    if isinstance(tree, exp.Null):
        return Word("null", "NULL", tree.meta.get("start"))
    if isinstance(tree, exp.Paren):
        return word_of(tree.this)
    if isinstance(tree, exp.Neg):
        inner = word_of(tree.this)
        if inner is None or inner.kind != "number":
            return None
        return Word("number", inner.text, inner.position, not inner.negative)
    if isinstance(tree, exp.Cast):
        return _typed(tree)
    return None


def _typed(tree: exp.Cast) -> Word | None:
    """`TIMESTAMP '…'`, `DATE '…'`, and the numbers `5L` and `5D`; other letters round in Spark."""
    inner = word_of(tree.this)
    if inner is None:
        return None
    if inner.kind == "string" and tree.to.this.name in _TIMES:
        return Word(_TIMES[tree.to.this.name], inner.text, inner.position)
    if inner.kind == "number" and isinstance(tree, exp.TryCast):
        letter = tree.to.this.name
        return (
            inner if letter == "DOUBLE" or (letter == "BIGINT" and inner.text.isdigit()) else None
        )
    return None


def name_of(tree: exp.Expression | None) -> str | None:
    """The dotted name that a column node spells, or None where it is no name."""
    tail: list[str] = []
    if tree is not None:
        tree = bare(tree)
    while isinstance(tree, exp.Dot):
        if not isinstance(tree.expression, exp.Identifier):
            return None
        tail.append(tree.expression.name)
        tree = tree.this
    if not isinstance(tree, exp.Column) or not isinstance(tree.this, exp.Identifier):
        return None
    return ".".join([part.name for part in tree.parts] + tail[::-1])
