"""Wrong tokens lock a name for one address: for a minute after five of them, then for longer.

The pair is locked, not the name: nobody locks another out from elsewhere.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from threading import Lock

from dpsql.server.refusals import NotAdmitted

__all__ = ["WRONG", "Lockout"]

WRONG = "The user's name or token is wrong."
"""The same for both."""
TRIES = 5  # Wrong tokens before the first lock.
FIRST = 60.0  # Seconds of the first lock; each wrong token after it doubles them.
LONGEST = 3600.0  # Seconds of the longest lock. It is a choice: somebody who mistypes is not shut out for a day.
KEPT = 10_000
"""Pairs that are remembered. It is a choice: some 2 MB; who tries from more addresses than that still guesses at 256
bits."""


@dataclass(slots=True)
class _Tries:
    wrong: int = 0
    until: float = 0.0


class Lockout:
    """How often each name was tried in vain from each address. Threads may share it.

    Args:
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._tries: OrderedDict[tuple[str, str], _Tries] = OrderedDict()

    def check(self, name: str, address: str) -> None:
        """Returns if the pair is not locked.

        Raises:
            NotAdmitted: It is.
        """
        with self._lock:
            tries = self._tries.get((name, _home(address)))
            left = 0.0 if tries is None else tries.until - self._clock()
        if left > 0:
            raise NotAdmitted(f"Too many wrong tokens from your address. Try again in {left:.0f} s.")

    def wrong(self, name: str, address: str) -> None:
        """Counts a wrong token."""
        with self._lock:
            tries = self._tries.setdefault((name, _home(address)), _Tries())
            self._tries.move_to_end((name, _home(address)))
            tries.wrong += 1
            if tries.wrong >= TRIES:
                tries.until = self._clock() + min(FIRST * 2 ** min(tries.wrong - TRIES, 10), LONGEST)
            while len(self._tries) > KEPT:
                self._tries.popitem(last=False)

    def right(self, name: str, address: str) -> None:
        """Forgets the wrong ones before a right one."""
        with self._lock:
            self._tries.pop((name, _home(address)), None)


def _home(address: str) -> str:
    """The address; of version 6 its first half, of which one machine may have all.

    >>> _home("192.0.2.7"), _home("2001:db8::7")
    ('192.0.2.7', '2001:db8::/64')
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return f"{IPv6Address(int(found) >> 64 << 64)}/64"
    return address
