"""Manifests: what is read is what was written, or an error says why not."""

import json
from contextlib import suppress

import pytest

from wherecast import SnapshotError
from wherecast.pipeline.filters.manifests import FORMAT, packed, unpacked

CONTENT = {"b": [1, 2.5, None], "a": {"ž": "text", "digest": "own"}, "format_": True}


def test_what_was_packed_is_unpacked_in_its_order() -> None:
    found = unpacked(packed(CONTENT), "here")
    assert found == CONTENT
    assert list(found) == list(CONTENT)
    assert packed(found) == packed(CONTENT)


def test_every_flipped_bit_is_noticed() -> None:
    good = packed(CONTENT)
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1
        with suppress(SnapshotError):
            assert unpacked(bytes(bad), "here") == CONTENT  # of white space, say


@pytest.mark.parametrize("text", [b"", b"[]", b"5", b"{}", b'{"format": "x"}', b"\xff", b"null"])
def test_what_is_no_manifest_is_refused(text: bytes) -> None:
    with pytest.raises(SnapshotError, match=r"^here is damaged$"):
        unpacked(text, "here")


def test_a_newer_format_is_named() -> None:
    text = json.dumps({"format": FORMAT + 1, "something": "new"}).encode()
    with pytest.raises(SnapshotError, match="has format 2, this version reads up to 1"):
        unpacked(text, "here")
