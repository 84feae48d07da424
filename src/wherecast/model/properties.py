r"""Java properties files, as the elastic BE-Tree uses them: a key and a value per line.

The format of `java.util.Properties`: `key=value`, `key:value` or `key value`; comments begin with
`#` or `!`; a backslash at the end of a line continues it; `\t`, `\n`, `\r`, `\f` and `\uXXXX` are
escapes, and a backslash before any other character stands for that character. The text is UTF-8.
Unlike in Java, a key that comes twice is an error, and so is a damaged escape.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from wherecast.model.errors import ConfigError
from wherecast.model.names import did_you_mean

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE_END = re.compile(r"\r\n|\r|\n")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_Number = TypeVar("_Number", int, float)
_HEX = re.compile(r"[0-9a-fA-F]{4}")


@dataclass(frozen=True, slots=True)
class Property:
    """The value of a key, and the line that the key is on, counted from 1."""

    value: str
    line: int


@dataclass(frozen=True, slots=True)
class PropertyFile:
    """The properties in a file, by key; errors name the file, the line and the key."""

    path: Path
    properties: dict[str, Property]

    @staticmethod
    def load(path: str | Path, known: Collection[str]) -> "PropertyFile":
        """The properties in a file, of which all keys are known.

        Raises:
            ConfigError: the file cannot be read, is malformed, or has an unknown key.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: is not UTF-8 text") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise ConfigError(f"{path}: {(reason or str(error)).lower()}") from None
        try:
            found = PropertyFile(Path(path), parse_properties(text))
        except ConfigError as error:
            raise ConfigError(f"{path}, {error}") from None
        for key in found.properties:
            if key not in known:
                hint = did_you_mean(key, known) or f"known keys are {', '.join(known)}"
                raise found.error(key, f"unknown key {key}; {hint}")
        return found

    def error(self, key: str, message: str) -> ConfigError:
        """An error about the value of a key that the file has."""
        return ConfigError(f"{self.path}, line {self.properties[key].line}: {message}")

    def text(self, key: str) -> str:
        """The value of a key.

        Raises:
            ConfigError: the file does not have the key, or the value is empty.
        """
        if key not in self.properties:
            raise ConfigError(f"{self.path}: the key {key} is missing")
        value = self.properties[key].value.strip()
        if not value:
            raise self.error(key, f"{key} has no value")
        return value

    def whole_number(self, key: str, default: int, least: int, most: int | None = None) -> int:
        """The value of a key as an int, or the default where the file does not have the key.

        Raises:
            ConfigError: the value is no whole number, or out of range.
        """
        if key not in self.properties:
            return default
        text = self.text(key)
        if not _WHOLE.fullmatch(text):
            raise self.error(key, f"{key} is a whole number, not {text!r}")
        return self._in_range(key, int(text), least, most)

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """The value of a key as a float, or the default where the file does not have the key.

        Raises:
            ConfigError: the value is no number, or out of range.
        """
        if key not in self.properties:
            return default
        text = self.text(key)
        try:
            value = float(text)
        except ValueError:
            raise self.error(key, f"{key} is a number, not {text!r}") from None
        return self._in_range(key, value, least, most)

    def _in_range(self, key: str, value: _Number, least: float, most: float | None) -> _Number:
        if least <= value and (most is None or value <= most):
            return value
        expected = f"at least {least}" if most is None else f"{least} to {most}"
        raise self.error(key, f"{key} is {expected}, not {value}")


def parse_properties(text: str) -> dict[str, Property]:
    """The properties in the text of a file, by key.

    Raises:
        ConfigError: the text is malformed; the error names the line.
    """
    found: dict[str, Property] = {}
    for number, line in _logical_lines(text):
        key, value = _split(line, number)
        if not key:
            raise ConfigError(f"line {number}: expected key=value, not {line!r}")
        if key in found:
            raise ConfigError(f"line {number}: {key} was given on line {found[key].line} already")
        found[key] = Property(value, number)
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with properties, continued ones joined, each with the number of its first line."""
    lines = iter(enumerate(_LINE_END.split(text), 1))
    for number, natural in lines:
        line = natural.lstrip(_BLANK)
        if not line or line[0] in "#!":
            continue
        while _is_continued(line):
            _, following = next(lines, (0, ""))
            line = line[:-1] + following.lstrip(_BLANK)
        yield number, line


def _is_continued(line: str) -> bool:
    """Whether a line ends with a backslash that is not itself escaped."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str, number: int) -> tuple[str, str]:
    """The key and the value of a line."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _BLANK:
        end += 2 if line[end] == "\\" else 1
    start = end + len(line[end:]) - len(line[end:].lstrip(_BLANK))
    if line[start : start + 1] in ("=", ":"):
        start += 1 + len(line[start + 1 :]) - len(line[start + 1 :].lstrip(_BLANK))
    return _unescape(line[:end], number), _unescape(line[start:], number)


def _unescape(text: str, number: int) -> str:
    """The text with its escapes replaced."""
    parts, at = [], 0
    while (sign := text.find("\\", at)) >= 0:
        letter = text[sign + 1 : sign + 2]
        parts.append(text[at:sign])
        at = sign + 2
        if letter == "u":
            if not _HEX.match(text, at):
                raise ConfigError(f"line {number}: four hex digits follow \\u, not {text[at:]!r}")
            parts.append(chr(int(text[at : at + 4], 16)))
            at += 4
        else:
            parts.append(_ESCAPES.get(letter, letter))
    whole = "".join([*parts, text[at:]])
    try:  # characters beyond 16 bits are written as two escapes
        return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise ConfigError(f"line {number}: {text!r} has half of a surrogate pair") from None
