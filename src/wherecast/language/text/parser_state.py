"""Where the parser is: the steps so far, the operators that wait, what is opened, and the limits.

Operators wait on a stack with their power, how strongly they bind; an operator that binds less
strongly releases them into the steps. A frame on the stack is something that is opened and must
be closed: a parenthesis, a call, a list, CASE. Each token is pushed and released once, so the work
is linear in the text.
"""

from typing import Any

from wherecast.language.text.steps import Step
from wherecast.language.text.tokens import COMMENT, TOKEN, Token, comment_end
from wherecast.model import FilterError, Limits

# what the parser stands before: an operand; or what may follow an operand, a name, a string or a
# finished test such as IS NULL; or nothing more
WANTED, FOLLOWS, NAMED, TEXT, TESTED, DONE = range(6)
# powers, as in Spark 4's grammar; an opened frame binds least
OPEN, OR, AND, NOT, TEST, COMPARE, ADD, MULTIPLY, SIGN = range(0, 90, 10)
UNFINISHED = TEST + 1  # BETWEEN until its AND comes


class Frame:
    """Something that is opened: what it is, where it stands, and how many parts it has so far.

    `place` is the place of the step that it becomes, `opened` that of its parenthesis, `start` the
    number of steps before it.
    """

    __slots__ = ("argument", "count", "kind", "opened", "place", "start")

    def __init__(self, kind: str, place: int, opened: int, argument: Any = None) -> None:
        self.kind = kind
        self.place = place
        self.opened = opened
        self.argument = argument
        self.count = 1
        self.start = 0


class ParserState:
    """The state of reading one text.

    Attributes:
        at: where the next token begins.
        phase: what may come next.
        out: the steps so far.
        stack: (power, step) of operators that wait, and (OPEN, frame).
        cases: how many CASE are open.
        work: how many tokens were read and operators released.
    """

    __slots__ = ("_open", "_operations", "_postfix", "_postfix_end", "_predicates", "_prefixes",
                 "_run", "_run_end", "at", "cases", "limits", "literal_max", "out", "phase",
                 "stack", "text", "work")  # fmt: skip

    def __init__(self, text: str, limits: Limits) -> None:
        self.text = text
        self.limits = limits
        self.literal_max = limits.literal_bytes_max // 4  # what is longer is measured in bytes
        self.at = self.cases = self.work = 0
        self.phase = WANTED
        self.out: list[Step] = []
        self.stack: list[tuple[int, Any]] = [(OPEN, Frame("filter", 0, 0))]
        self._open = self._operations = self._predicates = 0
        self._prefixes = self._run = self._postfix = 0
        self._run_end = self._postfix_end = -1

    def next(self) -> Token:
        """The next token, taken."""
        while True:
            match = TOKEN.match(self.text, self.at)
            assert match is not None
            kind: int = match.lastindex  # type: ignore[assignment]  # every text matches a group
            self.at = match.end()
            self.work += 1
            if kind != COMMENT:
                return Token(kind, match[kind], match.start(kind))
            self.comment(match.start(kind))

    def comment(self, place: int) -> None:
        """Passes the comment that begins at a place."""
        end = comment_end(self.text, place)
        if end < 0:
            raise FilterError("a /* is opened and not closed", place)
        self.at = end

    def release(self, power: int) -> None:
        """Releases the operators that bind at least with a power."""
        stack, out = self.stack, self.out
        before = len(stack)
        while stack[-1][0] >= power:
            own, step = stack.pop()
            if own in (NOT, SIGN):
                self._prefixes -= 1
            elif own == UNFINISHED:
                raise FilterError("not a WHERE clause: BETWEEN needs AND and a second bound",
                                  step.position, "write x BETWEEN 1 AND 5")  # fmt: skip
            out.append(step)
        self.work += before - len(stack)

    def infix(self, power: int, step: Step) -> None:
        """Lets an operator wait for its right operand."""
        self.stack.append((power, step))
        self.phase = WANTED

    def prefix(self, power: int, step: Step) -> None:
        """Lets an operator wait that stands before its operand; a run of them counts as nesting."""
        self._run = self._run + 1 if self._run_end == self.work - 1 else 1
        self._run_end = self.work
        self._prefixes += 1
        self.stack.append((power, step))
        self._check_nesting(self._run, step.position)

    def chain(self) -> int:
        """How many operators such as casts stand behind the operand that was read last."""
        return self._postfix if self._postfix_end == len(self.out) else 0

    def postfix(self, step: Step, chain: int) -> None:
        """Adds an operator that stands behind its operand; a chain of them counts as nesting."""
        self.count_operation(step.position)
        self._postfix = chain + 1
        self.out.append(step)
        self._postfix_end = len(self.out)
        self.phase = FOLLOWS
        self._check_nesting(self._postfix, step.position)

    def push(self, frame: Frame) -> None:
        """Opens a frame."""
        frame.start = len(self.out)
        self.stack.append((OPEN, frame))
        self.phase = WANTED
        self._open += 1
        if self._open + self._prefixes > self.limits.filter_depth_max:
            self._check_nesting(0, frame.opened)

    def frame(self) -> Frame:
        """The innermost frame, when all operators above it have been released."""
        frame: Frame = self.stack[-1][1]
        return frame

    def pop(self, phase: int = FOLLOWS) -> None:
        """Closes the innermost frame."""
        self.stack.pop()
        self._open -= 1
        self.phase = phase

    def innermost(self) -> Frame:
        """The innermost frame, whatever waits above it."""
        place = len(self.stack) - 1
        while self.stack[place][0] != OPEN:
            place -= 1
        frame: Frame = self.stack[place][1]
        return frame

    def _check_nesting(self, run: int, place: int) -> None:
        limit = self.limits.filter_depth_max
        if self._open + run > limit or self._open + self._prefixes > 2 * limit:
            raise over("nesting", "levels", limit, place)

    def count_operation(self, place: int) -> None:
        """Counts an operation: arithmetic, a call, a cast, a branch of CASE."""
        self._operations += 1
        if self._operations > self.limits.operations_max:
            raise over("the filter", "operations", self.limits.operations_max, place)

    def count_predicate(self, place: int) -> None:
        """Counts an AND or OR, which has one predicate more than there are of them."""
        self._predicates += 1
        if self._predicates >= self.limits.predicates_max:
            raise over("the filter", "predicates", self.limits.predicates_max, place)

    def check_literal(self, text: str, place: int) -> None:
        """Refuses a literal that is too long."""
        limit = self.limits.literal_bytes_max
        if len(text) > self.literal_max and len(text.encode("utf-8", "replace")) > limit:
            raise over("a literal", "bytes", limit, place)


def over(what: str, unit: str, limit: int, position: int | None = None) -> FilterError:
    """The error of something that exceeds a limit."""
    return FilterError(f"{what} exceeds the limit of {limit} {unit}", position, code="limit")
