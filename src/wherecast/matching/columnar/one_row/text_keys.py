"""The keys of single strings among the strings of an index."""

from bisect import bisect_left

import pyarrow as pa

from wherecast.matching.columnar.slots import StringBytes

_KNOWN_MAX = 1 << 16  # strings whose keys are remembered


class TextKeys(dict[str, int]):
    """The keys of strings: twice the number of smaller strings of an index, plus one if known.

    Keys are remembered, up to a limit. A string with a lone surrogate has none: it raises
    UnicodeEncodeError.

    Concurrency: any number of threads may use it; a key may be computed twice.
    """

    def __init__(self, strings: pa.Array) -> None:
        super().__init__()
        self._bytes = StringBytes(strings)

    def __missing__(self, text: str) -> int:
        wanted, known = text.encode(), self._bytes
        below = bisect_left(known, wanted)
        key = 2 * below + (below < len(known) and known[below] == wanted)
        if len(self) >= _KNOWN_MAX:
            self.clear()
        self[text] = key
        return key
