import pytest

from wherecast import AcknowledgementError
from wherecast.delivery import decode_cursor, encode_cursor

SEQUENCES = [0, 1, 9, 10, 15, 16, 255, 256, 10**9, 2**53 + 1, 2**63 - 1]


def test_cursors_sort_as_their_sequences() -> None:
    texts = [encode_cursor(sequence) for sequence in SEQUENCES]
    assert texts == sorted(texts)
    assert {len(text) for text in texts} == {16}
    assert [decode_cursor(text) for text in texts] == SEQUENCES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "8000000000000000",  # beyond 63 bits
        "00000000000000FF",  # two texts for one place would not sort
        "00000000000000f",
        "0x000000000000ff",
        "000000000000_001",
        "000000000000001\n",
        "000000000000000\u0661",  # a digit for int()
        " 00000000000000f",
        "x" * 10_000,
        None,
        7,
        b"00000000000000ff",
    ],
)
def test_other_texts_are_refused(text: object) -> None:
    with pytest.raises(AcknowledgementError, match="is not a cursor") as refused:
        decode_cursor(text)
    assert refused.value.code == "bad_cursor"
    assert len(str(refused.value)) < 80


@pytest.mark.parametrize("sequence", [-1, 2**63])
def test_only_sequences_are_encoded(sequence: int) -> None:
    with pytest.raises(ValueError, match="a sequence is from 0"):
        encode_cursor(sequence)
