from wherecast.delivery.queue_items import QueueItems


def held(*sequences: int) -> QueueItems:
    one = QueueItems()
    for sequence in sequences:
        one.add(sequence, (f"s{sequence}",))
    return one


def sequences(one: QueueItems) -> list[int]:
    return [sequence for sequence, _ in one]


def test_sent_ones_come_first_and_go_back_in_order() -> None:
    one = held(1, 2, 3, 4)
    assert one.send(2) == [(1, ("s1",)), (2, ("s2",))]
    assert one.send(1) == [(3, ("s3",))]
    assert (one.in_flight, len(one), one.first()) == (3, 4, 1)
    one.take_back()
    assert (one.in_flight, len(one)) == (0, 4)
    assert sequences(one) == [1, 2, 3, 4]


def test_any_can_be_removed() -> None:
    one = held(1, 2, 3, 4)
    one.send(2)
    assert one.remove(2)
    assert one.remove(3)
    assert not one.remove(3)
    assert sequences(one) == [1, 4]
    assert (one.in_flight, len(one)) == (1, 2)
    assert 1 in one
    assert 4 in one
    assert 2 not in one


def test_the_oldest_are_removed_in_flight_or_not() -> None:
    one = held(1, 2, 3, 4)
    one.send(2)
    assert one.remove_before(2) == 1
    assert one.remove_before(4) == 2
    assert sequences(one) == [4]
    assert one.remove_before(9) == 1
    assert one.first() is None
    assert one.send(5) == []


def test_no_ids_are_still_an_item() -> None:
    one = QueueItems()
    one.add(1, ())
    assert one.remove(1)
