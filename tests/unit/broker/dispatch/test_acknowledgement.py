"""Several acknowledgements are as good as one."""

from wherecast.broker.dispatch.acknowledgement import Acknowledgement


def test_they_are_joined() -> None:
    given = [Acknowledgement(3), Acknowledgement(None, (9, 5)), Acknowledgement(7, (5,))]
    assert Acknowledgement.joined(given) == Acknowledgement(7, (5, 9))
    assert Acknowledgement.joined([]) == Acknowledgement()
