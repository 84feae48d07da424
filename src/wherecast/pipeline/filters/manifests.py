"""Small JSON files that say what belongs together, each with its format and a digest of the rest.

A blob's name proves its bytes. The names and counts in a manifest are proved by its digest.
"""

import json
from hashlib import blake2b
from typing import Any

from wherecast.model import SnapshotError

FORMAT = 1


def packed(content: dict[str, Any]) -> bytes:
    """The content as `unpacked` reads it; the same for the same content."""
    head = {"format": FORMAT, "digest": _digest(content)}
    return json.dumps({**head, **content}, indent=1).encode()


def unpacked(text: bytes, where: str) -> dict[str, Any]:
    """The content of a manifest.

    Args:
        text: what `packed` gave.
        where: it was found, for errors.

    Raises:
        SnapshotError: it is damaged, or a newer version wrote it.
    """
    try:
        content: dict[str, Any] = json.loads(text)
        format_, digest = int(content.pop("format")), content.pop("digest", None)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SnapshotError(f"{where} is damaged") from None
    if format_ > FORMAT:
        raise SnapshotError(
            f"{where} has format {format_}, this version reads up to {FORMAT};"
            " a newer Wherecast wrote it"
        )
    if digest != _digest(content):
        raise SnapshotError(f"{where} is damaged")
    return content


def _digest(content: dict[str, Any]) -> str:
    plain = json.dumps(content, separators=(",", ":"))  # the order of attributes counts too
    return blake2b(plain.encode(), digest_size=16).hexdigest()
