from wherecast.delivery.single_acks import SingleAcks


def test_the_smallest_are_dropped_as_the_cursor_passes() -> None:
    beyond = SingleAcks({9, 5, 7})
    beyond.add(6)
    assert beyond.count_from(7) == 2
    beyond.drop_before(7)
    assert beyond.frozen() == {7, 9}
    assert len(beyond) == 2
    assert 7 in beyond
    assert 5 not in beyond
    beyond.drop_before(100)
    assert not beyond.frozen()
