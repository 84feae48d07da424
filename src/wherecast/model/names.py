"""How a name finds its attribute, and which known name is nearest to a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches

_NAME_CHARACTERS_MAX = 100  # a longer name is no slip of the fingers, and costly to compare


def folded(names: Iterable[str]) -> dict[str, str | None]:
    """Case-folded name to the one name that folds so, or to None where several do."""
    result: dict[str, str | None] = {}
    for name in names:
        key = name.casefold()
        result[key] = None if key in result else name
    return result


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is closest to a wrong one, or None where none is close."""
    if len(name) > _NAME_CHARACTERS_MAX:
        return None
    candidates = list(known)
    if len(candidates) > 2_000:  # the comparison is quadratic in the length of names
        candidates = [other for other in candidates if other[:1].casefold() == name[:1].casefold()]
    close = get_close_matches(name, candidates, n=1, cutoff=0.6)
    if close:
        return close[0]
    by_fold = {other.casefold(): other for other in candidates}
    close = get_close_matches(name.casefold(), list(by_fold), n=1, cutoff=0.6)
    return by_fold[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the nearest known name, or None."""
    close = nearest(name, known)
    return None if close is None else f"did you mean {close}?"
