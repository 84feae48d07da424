"""Manifests: small JSON files with the names of blobs, a format number and a digest.

The name of a blob verifies its bytes. The digest of a manifest verifies its names and counts.
"""

import json
from hashlib import blake2b
from typing import Any

from wherecast.model import SnapshotError

FORMAT = 1


def packed(content: dict[str, Any]) -> bytes:
    """The bytes of a manifest, equal for equal content; `unpacked` reads them."""
    head = {"format": FORMAT, "digest": _digest(content)}
    return json.dumps({**head, **content}, indent=1).encode()


def unpacked(text: bytes, where: str) -> dict[str, Any]:
    """The content of a manifest.

    Args:
        text: a result of `packed`.
        where: the location of the manifest, for errors.

    Raises:
        SnapshotError: the manifest is damaged, or a newer version of Wherecast wrote it.
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
    plain = json.dumps(content, separators=(",", ":"))  # unsorted: the order of attributes matters
    return blake2b(plain.encode(), digest_size=16).hexdigest()
