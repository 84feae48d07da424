import pytest

from wherecast import AcknowledgementError
from wherecast.delivery import (
    Close,
    Cursor,
    Effect,
    LoadNotifications,
    Queue,
    QueuedNotification,
    QueueLimits,
    SaveCursor,
    Send,
    encode_cursor,
)

SMALL = QueueLimits(held_max=4, in_flight_max=2, acknowledgements_max=3)
IDS = ("s1", "s2")


def opened(*sequences: int, end: int = 100, limits: QueueLimits | None = None) -> Queue:
    """A queue that was empty when it was opened, and got these in one batch."""
    queue = Queue(Cursor(), 0, limits=limits or QueueLimits())
    assert queue.take(1) == ()
    queue.notified(0, end, [(sequence, IDS) for sequence in sequences])
    queue.committed(end)
    return queue


def taken(queue: Queue, most: int = 1000) -> list[tuple[int, bool]]:
    got = queue.take(most)
    assert not isinstance(got, LoadNotifications)
    return [(one.sequence, one.redelivered) for one in got]


def sent(effects: tuple[Effect, ...]) -> list[tuple[int, int, bool]]:
    return [
        (effect.connection, one.sequence, one.redelivered)
        for effect in effects
        if isinstance(effect, Send)
        for one in effect.notifications
    ]


def new(*sequences: int) -> list[tuple[int, bool]]:
    return [(sequence, False) for sequence in sequences]


def again(*sequences: int) -> list[tuple[int, bool]]:
    return [(sequence, True) for sequence in sequences]


class TestPull:
    def test_without_acknowledgement_gives_the_same_again_marked(self) -> None:
        queue = opened(3, 5, 8)
        assert queue.take(2) == (
            QueuedNotification(3, IDS, False),
            QueuedNotification(5, IDS, False),
        )
        assert taken(queue) == again(3, 5) + new(8)

    def test_an_empty_queue_gives_nothing(self) -> None:
        assert taken(Queue(Cursor(), 0)) == []
        assert not Queue(Cursor(), 0).is_ready

    def test_what_is_not_in_memory_is_loaded_first(self) -> None:
        queue = Queue(Cursor(through=10), 50)
        assert queue.is_ready
        assert queue.take(5) == LoadNotifications(10, 2000)
        assert queue.loaded(10, [12, 20], [IDS, ["s3"]], 50) == ()
        assert queue.take(5) == (
            QueuedNotification(12, IDS, True),
            QueuedNotification(20, ("s3",), True),
        )

    def test_while_a_load_is_under_way_it_gives_what_there_is(self) -> None:
        queue = Queue(Cursor(through=10), 50)
        assert isinstance(queue.take(5), LoadNotifications)
        assert taken(queue) == []

    def test_a_load_that_failed_is_asked_for_again(self) -> None:
        queue = Queue(Cursor(through=10), 50)
        assert queue.take(5) == LoadNotifications(10, 2000)
        queue.load_failed()
        assert queue.take(5) == LoadNotifications(10, 2000)

    def test_news_may_come_in_any_order(self) -> None:
        queue = Queue(Cursor(), 0)
        queue.committed(50)
        queue.committed(40)
        queue.take(1)
        queue.loaded(0, [], [], 45)
        assert queue.take(1) == LoadNotifications(45, 2000)

    def test_no_load_where_there_is_enough(self) -> None:
        queue = opened(1, 2, 3)
        queue.committed(200)
        assert taken(queue, 3) == new(1, 2, 3)
        assert queue.take(4) == LoadNotifications(100, 1997)


class TestPush:
    def test_the_window_bounds_what_is_in_flight(self) -> None:
        queue = opened(1, 2, 3, 4, 5)
        assert sent(queue.connect(7, window=2)) == [(7, 1, False), (7, 2, False)]
        assert sent(queue.ack([2])) == [(7, 3, False)]
        assert sent(queue.ack_through(3)) == [(7, 4, False), (7, 5, False)]
        assert queue.figures.in_flight == 2

    def test_the_limit_bounds_the_window(self) -> None:
        queue = opened(1, 2, 3, limits=SMALL)
        for window in (-1, 0, 3):
            with pytest.raises(ValueError, match="from 1 to 2"):
                queue.connect(7, window)
        assert queue.connection is None
        assert len(sent(queue.connect(7))) == 2

    def test_new_ones_are_sent_at_once(self) -> None:
        queue = opened()
        queue.connect(7)
        assert queue.notified(100, 110, [(104, IDS)]) == (
            Send(7, (QueuedNotification(104, IDS, False),)),
        )

    def test_a_second_connection_replaces_the_first(self) -> None:
        queue = opened(1, 2, 3)
        queue.connect(7, window=2)
        close, *rest = queue.connect(8, window=3)
        assert isinstance(close, Close)
        assert close.connection == 7
        assert "replaced" in close.reason
        assert sent(tuple(rest)) == [(8, 1, True), (8, 2, True), (8, 3, False)]
        queue.disconnect(7)  # late: the queue does not care
        assert queue.connection == 8

    def test_what_was_in_flight_comes_again_marked(self) -> None:
        queue = opened(1, 2, 3)
        queue.connect(7, window=2)
        queue.ack([1])
        queue.disconnect(7)
        assert queue.figures.in_flight == 0
        assert queue.notified(100, 110, [(101, IDS)]) == ()
        assert sent(queue.connect(8)) == [(8, 2, True), (8, 3, True), (8, 101, False)]

    def test_pulled_ones_are_pushed_marked_and_pushed_ones_pulled_marked(self) -> None:
        queue = opened(1, 2)
        assert taken(queue, 1) == new(1)
        assert sent(queue.connect(7)) == [(7, 1, True), (7, 2, False)]
        assert taken(queue) == again(1, 2)

    def test_the_next_are_loaded_when_half_the_room_is_free(self) -> None:
        queue = Queue(Cursor(), 50, limits=SMALL)
        assert queue.connect(7) == (LoadNotifications(0, 4),)
        first = queue.loaded(0, [1, 2, 3, 4], [IDS] * 4, 5)
        assert sent(first) == [(7, 1, True), (7, 2, True)]
        assert sent(queue.ack_through(2)) == [(7, 3, True), (7, 4, True)]
        assert queue.committed(60) == ()  # one load at a time
        assert sent(queue.loaded(5, [9], [IDS], 60)) == []
        assert sent(queue.ack([3])) == [(7, 9, True)]


class TestMemory:
    def test_what_finds_no_room_is_loaded_later(self) -> None:
        queue = opened(1, 2, 3, 4, 5, 6, limits=SMALL)
        assert taken(queue, 9) == new(1, 2, 3, 4)
        assert queue.known == 5
        queue.ack_through(2)
        assert queue.take(9) == LoadNotifications(5, 2)
        queue.loaded(5, [5, 6], [IDS] * 2, 100)
        assert taken(queue, 9) == again(3, 4) + new(5, 6)

    def test_a_second_batch_gets_the_room_that_is_left(self) -> None:
        queue = opened(1, 2, 3, limits=SMALL)
        queue.notified(100, 110, [(101, IDS), (102, IDS)])
        assert queue.figures.queued == 4
        assert queue.known == 102

    def test_what_comes_after_a_gap_in_knowledge_is_loaded_later(self) -> None:
        queue = Queue(Cursor(), 50)
        queue.take(1)
        queue.notified(50, 60, [(55, IDS)])
        assert queue.figures.queued == 0
        queue.loaded(0, [], [], 50)
        queue.committed(60)
        assert queue.take(1) == LoadNotifications(50, 2000)

    def test_an_absent_subscriber_takes_no_memory(self) -> None:
        queue = Queue(Cursor(through=5), 5)
        queue.notified(5, 10, [(8, IDS)])
        assert queue.figures.queued == 0
        assert queue.cursor.through == 8

    def test_released_ones_are_loaded_again_with_their_marks(self) -> None:
        queue = opened(1, 2, 3)
        taken(queue, 2)
        queue.release()
        assert queue.figures.queued == 0
        assert queue.take(9) == LoadNotifications(1, 2000)
        queue.loaded(1, [1, 2, 3], [IDS] * 3, 100)
        assert taken(queue) == again(1, 2) + new(3)

    def test_nothing_is_released_under_a_connection(self) -> None:
        queue = opened(1)
        queue.connect(7)
        queue.release()
        assert queue.figures.in_flight == 1

    def test_an_answer_that_came_too_late_is_not_used_twice(self) -> None:
        queue = Queue(Cursor(), 50)
        queue.take(9)
        queue.trimmed(20, lost=1)
        queue.loaded(0, [10, 30], [IDS] * 2, 50)
        assert taken(queue) == again(30)
        queue.loaded(0, [10, 30], [IDS] * 2, 50)
        assert taken(queue) == again(30)


class TestAcknowledgement:
    def test_the_cursor_moves_over_what_was_for_others(self) -> None:
        queue = opened(3, 5, 8)
        taken(queue)
        assert queue.cursor == Cursor(3)
        assert queue.ack([3]) == (SaveCursor(),)
        assert queue.cursor == Cursor(5)
        queue.ack([5, 8])
        assert queue.cursor == Cursor(100)

    def test_single_ones_are_kept_until_the_cursor_passes(self) -> None:
        queue = opened(3, 5, 8)
        taken(queue)
        queue.ack([8])
        assert queue.cursor == Cursor(3, frozenset({8}))
        queue.ack([3])
        assert queue.cursor == Cursor(5, frozenset({8}))
        queue.ack([5])
        assert queue.cursor == Cursor(100)

    def test_twice_is_harmless(self) -> None:
        queue = opened(3, 5, 8)
        taken(queue)
        assert queue.ack([5, 5]) == (SaveCursor(),)
        assert queue.ack([5]) == ()
        queue.ack_through(5)
        assert queue.ack([3, 5]) == ()
        assert queue.ack_through(3) == ()
        assert queue.figures.acknowledged == 2

    @pytest.mark.parametrize(
        ("sequence", "code"), [(4, "not_queued"), (8, "not_delivered"), (9, "not_delivered")]
    )
    def test_what_was_not_delivered_cannot_be_acknowledged(self, sequence: int, code: str) -> None:
        queue = opened(3, 5, 8)
        taken(queue, 2)
        with pytest.raises(AcknowledgementError) as refused:
            queue.ack([3, sequence])
        assert refused.value.code == code
        assert encode_cursor(sequence) in str(refused.value)
        assert queue.cursor == Cursor(3)

    def test_what_was_for_others_cannot_be_acknowledged_though_the_cursor_passed_it(self) -> None:
        queue = opened(3)
        taken(queue)
        queue.ack([3])
        assert queue.cursor == Cursor(100)
        for sequence in (50, 100, 5000):
            with pytest.raises(AcknowledgementError, match="never delivered"):
                queue.ack([sequence])

    def test_nothing_beyond_what_was_delivered_is_acknowledged_through(self) -> None:
        queue = opened(3, 5, 8)
        taken(queue, 2)
        for sequence in (6, 8, 5000):
            with pytest.raises(AcknowledgementError, match="never delivered"):
                queue.ack_through(sequence)
        queue.ack_through(4)  # no notification, but its meaning is clear
        assert queue.cursor == Cursor(5)

    def test_too_many_beyond_the_cursor_are_refused_whole(self) -> None:
        queue = opened(1, 2, 3, 4, 5, 6, limits=QueueLimits(acknowledgements_max=3))
        taken(queue)
        queue.ack([3, 4])
        with pytest.raises(AcknowledgementError, match="more than 3 acknowledg") as refused:
            queue.ack([5, 6])
        assert refused.value.code == "limit"
        assert queue.cursor == Cursor(1, frozenset({3, 4}))
        with pytest.raises(AcknowledgementError):
            queue.ack([1, 5, 6])  # 2 would be the first, with four beyond it
        queue.ack([1, 2, 6])  # 5 is the first
        assert queue.cursor == Cursor(5, frozenset({6}))

    def test_those_before_the_new_cursor_do_not_count_for_the_limit(self) -> None:
        queue = opened(1, 2, 3, 4, 5, limits=QueueLimits(acknowledgements_max=3))
        taken(queue)
        queue.ack([4, 3, 2, 1])
        assert queue.cursor == Cursor(5)

    def test_those_that_the_cursor_passes_make_room(self) -> None:
        queue = opened(1, 2, 3, 4, 5, 6, limits=QueueLimits(acknowledgements_max=3))
        taken(queue)
        queue.ack([2, 3, 4])
        queue.ack([1, 6])
        assert queue.cursor == Cursor(5, frozenset({6}))

    def test_a_lowered_limit_does_not_block_the_cursor(self) -> None:
        queue = Queue(Cursor(1, frozenset({3, 4, 5, 6})), 50, limits=SMALL)
        queue.take(9)
        queue.loaded(1, range(1, 9), [IDS] * 8, 50)
        taken(queue)
        queue.ack([1])
        with pytest.raises(AcknowledgementError, match="more than 3"):
            queue.ack([8])
        queue.ack([2])
        assert queue.cursor == Cursor(7)

    def test_a_cursor_ahead_of_the_pipeline_is_acknowledged_twice_without_harm(self) -> None:
        assert Queue(Cursor(through=60), 50).ack([55]) == ()

    def test_those_of_an_earlier_life_are_taken_on_trust(self) -> None:
        queue = Queue(Cursor(through=10), 50)
        queue.ack([30])
        assert queue.cursor == Cursor(10, frozenset({30}))
        queue.take(9)
        queue.loaded(10, [20, 30, 40], [IDS] * 3, 50)
        assert taken(queue) == again(20, 40)
        queue.ack_through(45)
        assert queue.cursor == Cursor(50)

    def test_through_what_is_not_loaded(self) -> None:
        queue = Queue(Cursor(through=10, beyond=frozenset({20, 40})), 50)
        queue.ack_through(30)
        assert queue.cursor == Cursor(31, frozenset({40}))
        assert queue.take(9) == LoadNotifications(31, 2000)


class TestLives:
    def test_after_a_restart_everything_unacknowledged_is_marked(self) -> None:
        queue = Queue(Cursor(through=3, beyond=frozenset({8})), 50)
        queue.take(9)
        queue.loaded(3, [3, 5, 8], [IDS] * 3, 50)
        queue.notified(50, 60, [(55, IDS)])
        assert taken(queue) == again(3, 5) + new(55)

    def test_what_may_have_been_pushed_before_it_was_committed_is_marked(self) -> None:
        queue = Queue(Cursor(), 50, delivered_before=55)
        queue.take(9)
        queue.loaded(0, [], [], 50)
        queue.notified(50, 60, [(54, IDS), (55, IDS)])
        assert taken(queue) == again(54) + new(55)

    def test_a_cursor_may_be_ahead_of_the_pipeline(self) -> None:
        queue = Queue(Cursor(through=60, beyond=frozenset({65})), 50, delivered_before=70)
        assert taken(queue) == []
        queue.notified(50, 70, [(55, IDS), (62, IDS), (65, IDS)])
        assert taken(queue) == again(62)


class TestRetention:
    def test_what_was_removed_is_counted(self) -> None:
        queue = opened(1, 2, 3, 4)
        queue.connect(7, window=2)
        effects = queue.trimmed(3, lost=2)
        assert effects[0] == SaveCursor()
        assert sent(effects) == [(7, 3, False), (7, 4, False)]
        assert queue.cursor == Cursor(3, frozenset(), lost=2)
        assert queue.figures.lost == 2

    def test_what_was_acknowledged_changes_nothing(self) -> None:
        queue = opened(1, 2, 3)
        assert queue.trimmed(1, lost=0) == ()

    def test_beyond_what_is_in_memory(self) -> None:
        queue = Queue(Cursor(beyond=frozenset({10, 40})), 50)
        queue.trimmed(30, lost=5)
        assert queue.cursor == Cursor(30, frozenset({40}), lost=5)
        assert queue.take(9) == LoadNotifications(30, 2000)


def test_figures() -> None:
    queue = opened(1, 2, 3)
    taken(queue, 2)
    queue.connect(7, window=2)
    queue.ack([1])
    figures = queue.figures
    assert (figures.queued, figures.in_flight) == (2, 2)
    assert (figures.delivered, figures.redelivered) == (3, 2)
    assert (figures.acknowledged, figures.lost) == (1, 0)
