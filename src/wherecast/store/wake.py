"""Waking those who wait for a commit, in this process and in others, at once.

Who waits binds a datagram socket under a random address (abstract, so nothing is left of it when
the process dies) and puts a file with that name into a folder that the store shares. Who commits
sends a byte to each. A byte that is lost costs at most `_LOOK_AGAIN_S`. A `Bell` stands for the
commits of one folder.

Concurrency: any number of threads wait on one `Waiter`. One of them reads the socket and tells the
others; when it has what it waits for, another takes over.
"""

import os
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from wherecast.store.folders import make_folder, private_opener

_LOOK_AGAIN_S = 1.0
_RECEIVED_MAX = 64
_SAME_INSTANT_NS = 1_000_000_000  # far above the step of the times of files


def wake(folder: Path) -> int:
    """Wakes all who wait at a folder, and gives their number; never blocks, never fails.

    What a waiter that died left in the folder is removed.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    if not names:
        return 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        for name in names:
            try:
                sender.sendto(b"\0", _address(name))
            except BlockingIOError:
                pass  # it has bytes enough to wake up for
            except (ConnectionRefusedError, FileNotFoundError):
                with suppress(OSError):
                    (folder / name).unlink()
            except OSError:
                pass  # it looks again by itself
    return len(names)


class Waiter:
    """Waits until something is true that only changes with a commit."""

    def __init__(self, folder: Path) -> None:
        self._name = secrets.token_hex(16)
        self._folder = folder
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(_address(self._name))
        with suppress(OSError):  # of a folder that cannot be written; it then looks again
            make_folder(folder, is_private=True)
            open(folder / self._name, "xb", opener=private_opener).close()
        self._changed = threading.Condition()
        self._wakings = 0
        self._has_reader = False

    def wait(self, is_true: Callable[[], bool], timeout_s: float) -> bool:
        """Waits until something is true; False where the time ran out first.

        No commit is missed between the look and the sleep: the byte of one that comes after the
        look is still in the socket, or was counted.
        """
        until = time.monotonic() + timeout_s
        while True:
            with self._changed:
                seen = self._wakings
            if is_true():
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._sleep(seen, min(left, _LOOK_AGAIN_S))

    def close(self) -> None:
        """Takes the address back; whoever waits looks once more."""
        with suppress(OSError):
            (self._folder / self._name).unlink()
        self._socket.close()
        self._tell()

    def _sleep(self, seen: int, timeout_s: float) -> None:
        """Returns when there was a waking since `seen`, or after a time."""
        with self._changed:
            if self._wakings != seen:
                return
            if self._has_reader:
                self._changed.wait(timeout_s)
                return
            self._has_reader = True
        try:
            if self._socket.fileno() >= 0:
                poll = select.poll()
                poll.register(self._socket, select.POLLIN)
                poll.poll(timeout_s * 1000)
                self._drain()
        finally:
            with self._changed:
                self._has_reader = False
            self._tell()

    def _drain(self) -> None:
        with suppress(OSError):
            for _ in range(_RECEIVED_MAX):
                self._socket.recv(1)

    def _tell(self) -> None:
        with self._changed:
            self._wakings += 1
            self._changed.notify_all()


class Bell:
    """Wakes those who wait for commits of one kind, and waits for such commits itself.

    Args:
        folder: has a file for everyone who waits.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiter: Waiter | None = None
        self._lock = threading.Lock()
        self._empty_since = -1  # the time of the folder's last change, where nobody waited then

    def ring(self) -> None:
        """Wakes all who wait; never blocks, never fails."""
        try:
            changed = os.stat(self._folder).st_mtime_ns
        except OSError:
            return
        if changed != self._empty_since and not wake(self._folder):
            # A waiter that came in the same instant may have left the same time.
            settled = time.time_ns() - changed > _SAME_INSTANT_NS
            self._empty_since = changed if settled else -1

    def wait(self, is_true: Callable[[], bool], timeout_s: float) -> bool:
        """Waits until something is true that changes with a commit; False after the timeout."""
        with self._lock:
            if self._waiter is None:
                self._waiter = Waiter(self._folder)
        return self._waiter.wait(is_true, timeout_s)

    def close(self) -> None:
        """Waits for nothing any more; whoever waits looks once more."""
        with self._lock:
            if self._waiter is not None:
                self._waiter.close()


def _address(name: str) -> str:
    return f"\0wherecast-{name}"
