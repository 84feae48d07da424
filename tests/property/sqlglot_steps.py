"""A second opinion on the form of a filter: sqlglot's tree as steps.

Negated tests are written as the test and a NOT, and IS DISTINCT FROM as NOT of <=>, since sqlglot's
tree does not tell them apart.
"""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

from wherecast.language.text.steps import Step

Plain = tuple[str, Any]
_COMPARED = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_BINARY = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div"}
_PATTERNS = {exp.Like: "like", exp.ILike: "ilike", exp.RegexpLike: "rlike"}
_SUFFIXES = {"BIGINT": "L", "DOUBLE": "D", "FLOAT": "F", "SMALLINT": "S", "TINYINT": "Y"}
_TYPED = {"DATE": "date", "TIMESTAMP": "time", "TIMESTAMPTZ": "time", "TIMESTAMPLTZ": "time",
          "TIMESTAMPNTZ": "local"}  # fmt: skip


class _Where(Spark):
    """Spark's dialect without statements and functions: `show` and its like are names."""

    class Tokenizer(Spark.Tokenizer):
        COMMANDS: ClassVar[set[TokenType]] = set()

    class Parser(Spark.Parser):
        """Calls keep the name and the arguments of the text."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: Spark.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")
        }


_SPARK = _Where()


def plain(steps: list[Step]) -> list[Plain]:
    """Steps without places, in the form that sqlglot's tree can tell."""
    found: list[Plain] = []
    for code, argument, _ in steps:
        if code == "literal":
            zero = "0" if argument.kind == "number" and argument.text.startswith(".") else ""
            found.append((code, (argument.kind, zero + argument.text, argument.suffix)))
        elif code == "in":
            found += [(code, argument[1]), *_not(argument[0])]
        elif code == "between":
            found += [(code, None), *_not(argument)]
        elif code == "pattern":
            found += [(code, (argument[0], argument[2])), *_not(argument[1])]
        elif code == "is":
            what = "null" if argument[0] == "unknown" else argument[0]
            found += [(code, what), *_not(argument[1])]
        elif code == "cast":  # sqlglot reads :: as TRY_CAST
            found.append((code, argument[0]))
        elif code == "call":
            found.append((code, (argument[0].replace("s_with", "swith"), argument[1])))
        elif code == "distinct":
            found += [("compare", "<=>"), *_not(not argument)]
        elif code != "plus":  # a plus before an operand is nothing in sqlglot's tree
            found.append((code, argument))
    return found


def sqlglot_steps(text: str) -> list[Plain]:
    """What sqlglot reads."""
    tree = _SPARK.parser().parse_into(exp.Condition, _SPARK.tokenize(text), text)[0]
    assert tree is not None
    return _of(tree)


def _not(negated: bool) -> list[Plain]:
    return [("not", None)] * negated


def _of(tree: Any) -> list[Plain]:
    kind = type(tree)
    left, right = tree.args.get("this"), tree.args.get("expression")
    if kind is exp.Paren:
        return _of(left)
    if kind is exp.Column:
        return [("name", ".".join(part.name for part in tree.parts))]
    if kind in (exp.Literal, exp.Boolean, exp.Null, exp.Cast, exp.TryCast):
        return _constant(tree) or _cast(tree)
    if kind in (exp.Neg, exp.Not):
        return [*_of(left), ("negate" if kind is exp.Neg else "not", None)]
    if kind in (exp.And, exp.Or):
        return [*_of(left), *_of(right), (kind.__name__.lower(), None)]
    if kind in _COMPARED or kind in (exp.NullSafeEQ, exp.NullSafeNEQ):
        sign = ("compare", _COMPARED.get(kind, "<=>"))
        return [*_of(left), *_of(right), sign, *_not(kind is exp.NullSafeNEQ)]
    if kind in _BINARY:
        return [*_of(left), *_of(right), ("binary", _BINARY[kind])]
    return _test(tree)


def _test(tree: Any) -> list[Plain]:
    kind = type(tree)
    left, right = tree.args.get("this"), tree.args.get("expression")
    if kind is exp.Between:
        return [*_of(left), *_of(tree.args["low"]), *_of(tree.args["high"]), ("between", None)]
    if kind is exp.In:
        items = [step for item in tree.expressions for step in _of(item)]
        return [*_of(left), *items, ("in", len(tree.expressions))]
    if kind is exp.Is:
        return [*_of(left), ("is", _constant(right)[0][1][1].lower())]
    escape: list[Plain] = []
    if kind is exp.Escape:
        escape, tree = _of(right), left
    if type(tree) in _PATTERNS:
        step = ("pattern", (_PATTERNS[type(tree)], bool(escape)))
        negated = _not(bool(tree.args.get("negate")))
        return [*_of(tree.this), *_of(tree.expression), *escape, step, *negated]
    return _call(tree)


def _call(tree: Any) -> list[Plain]:
    if isinstance(tree, exp.Case):
        parts = [tree.args["this"]] if tree.args.get("this") else []
        for branch in tree.args["ifs"]:
            parts += [branch.this, branch.args["true"]]
        default = tree.args.get("default")
        parts += [default] if default is not None else []
        count = len(tree.args["ifs"])
        step = ("case", (count, default is not None, tree.args.get("this") is not None))
        return [*(found for part in parts for found in _of(part)), step]
    if isinstance(tree, exp.Bracket):
        return [*_of(tree.this), *_of(tree.expressions[0]), ("index", None)]
    if isinstance(tree, exp.CurrentTimestamp):
        return [("call", ("current_timestamp", 0))]
    assert isinstance(tree, exp.Anonymous), tree
    arguments, name = tree.expressions, tree.name.lower()
    name = {"starts_with": "startswith", "ends_with": "endswith"}.get(name, name)
    found = [step for argument in arguments for step in _of(argument)]
    return [*found, ("call", (name, len(arguments)))]


def _constant(tree: Any) -> list[Plain]:
    """The literal that a node is; nothing where it is a cast of something else."""
    if isinstance(tree, exp.Null):
        return [("literal", ("null", "NULL", ""))]
    if isinstance(tree, exp.Boolean):
        return [("literal", ("bool", "true" if tree.this else "false", ""))]
    if isinstance(tree, exp.Literal):
        return [("literal", ("string" if tree.is_string else "number", tree.this, ""))]
    name = tree.to.this.name
    if isinstance(tree.this, exp.Literal) and isinstance(tree, exp.TryCast):
        return [("literal", ("number", tree.this.this, _SUFFIXES[name]))]
    if isinstance(tree.this, exp.Literal) and tree.this.is_string and name in _TYPED:
        return [("literal", (_TYPED[name], tree.this.this, ""))]
    return []


def _cast(tree: Any) -> list[Plain]:
    type_ = tree.to.sql("spark").lower().replace(" ", "")
    return [*_of(tree.this), ("cast", type_)]
