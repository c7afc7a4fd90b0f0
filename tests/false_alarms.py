"""What chance may do to the tests, stated beside each of them and added up.

A test that draws noise says, for each of its assertions, how likely a correct dpsql is to fail it, and why:

    @pytest.mark.chance(P_THRESHOLD, "the loss measured is above the charge: Clopper-Pearson, all events together")
    @pytest.mark.chance(binom.sf(40, 100, 0.1), "more than 40 of 100 intervals miss")
    @pytest.mark.chance(0, "asserts nothing of the draws")

The marks of a test, its class and its module (``pytestmark``) add up, for each set of parameters. The number comes
from a formula or an exact law, never from "it passed". Noise from `Noiseless` or `FixedSampler` is no chance, and needs
no mark. A test without a mark fails as soon as the kernel is asked for randomness, in the test or in a fixture of it.
What happens in other processes is not seen: a test that starts some which draw noise carries its mark unasked. Doctests
need none: they pass only where what they show is the same every time.

`make check` runs this file as a script: it adds up the marks of all that `make test` runs, and fails above `MOST`.

Random generators and Hypothesis have fixed seeds in `make test`. `make test-slow` gives them a new one, which make
prints, and a failure too: ``--hypothesis-seed`` repeats it. A test gets it as the fixture ``seed``, 0 in `make test`.
What `secrets` makes (the names and keys of ledgers, hence which rows a cap keeps) comes from that seed and the name of
the test, too: it is no noise, and no test may depend on its luck.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import multiprocessing.process  # noqa: F401 - it draws a key as it is imported: before draws are counted
import os
import random
import sys
from collections.abc import Generator
from typing import Any

import pytest

__all__ = ["MOST", "chance_of", "seed"]

MOST = 1e-6
"""The chance that one run of `make test` fails although nothing is wrong: the project's own limit."""

EXAMPLES = 20
"""What Hypothesis tries in `make test` where a test says no number; in `make test-slow` it tries its own 100. It is a
choice: those of `make test` are the same in every run, and new ones are drawn by `make test-slow`."""

KERNEL = os.urandom
STARTED = pytest.StashKey[int]()


class Draws:
    """How often the kernel was asked for randomness, and the fixtures that asked."""

    count = 0
    fixtures: set[tuple[str, str]] = set()  # noqa: RUF012 - one for the process, as the kernel is


def counted(size: int) -> bytes:
    """`os.urandom`, counted. `ExactSampler` takes it when dpsql is imported, which is later than this module."""
    Draws.count += 1
    return KERNEL(size)


os.urandom = counted


class Secrets:
    """What `secrets` reads: a stream of its own for each test, the same in every run with one seed."""

    name = ""
    asked = 0

    @classmethod
    def read(cls, size: int) -> bytes:
        """The next ``size`` bytes of the test's stream."""
        cls.asked += 1
        return hashlib.shake_256(f"{cls.name} {cls.asked}".encode()).digest(size)


random._urandom = Secrets.read  # type: ignore[attr-defined]  # what `random.SystemRandom`, and so `secrets`, reads


def chance_of(item: pytest.Item) -> float | None:
    """The chance that a test fails although nothing is wrong; None where it does not say."""
    marks = list(item.iter_markers("chance"))
    for mark in marks:
        p, why = mark.args
        if not (0 <= p <= 1 and why):
            raise pytest.UsageError(f"{item.nodeid}: chance({p!r}, {why!r}); write a probability and what it is of")
    return float(sum(mark.args[0] for mark in marks)) if marks else None


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis takes the same examples every time, unless a seed is given."""
    import hypothesis  # here, for pytest rewrites its asserts before it is imported

    profile = hypothesis.settings.register_profile
    profile("fixed", derandomize=True, database=None, deadline=None, max_examples=EXAMPLES)
    profile("fresh", derandomize=False, database=None, deadline=None, print_blob=True)
    hypothesis.settings.load_profile("fixed" if config.getoption("hypothesis_seed") is None else "fresh")


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """What random generators start from: 0, or the seed that `make test-slow` made and printed."""
    return int(request.config.getoption("hypothesis_seed") or 0)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Remembers the fixtures that draw: each test that uses one rests on its draws."""
    before = Draws.count
    result = yield
    if Draws.count > before:
        Draws.fixtures.add((request.node.nodeid, fixturedef.argname))
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Notes where the count stands, and begins the test's own stream of secrets."""
    item.stash[STARTED] = Draws.count
    Secrets.name, Secrets.asked = f"{item.config.getoption('hypothesis_seed') or 0} {item.nodeid}", 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fails a test that drew and says nothing of it."""
    result = yield
    if isinstance(item, pytest.Function) and chance_of(item) is None and drew(item):
        pytest.fail("This test draws noise and states no chance of a false alarm: see tests/false_alarms.py.", False)
    return result


def drew(item: pytest.Item) -> bool:
    """Whether a test, or a fixture that it uses, asked the kernel."""
    names = getattr(item, "fixturenames", ())
    return Draws.count > item.stash[STARTED] or any(
        name in names and item.nodeid.startswith(node) for node, name in Draws.fixtures
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Prints the seed beside a failure, and lets nothing captured end a process of pytest-xdist, which sends UTF-8."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    given = item.config.getoption("hypothesis_seed")
    if report.failed and given is not None:
        report.sections.append(("seed", f"Repeat with --hypothesis-seed={given}"))
    return report


class Sum:
    """The marks of all collected tests, added up."""

    def __init__(self) -> None:
        self.chances: list[float] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Adds up."""
        found = [chance_of(item) for item in session.items]
        self.chances = [chance for chance in found if chance is not None]

    def pytest_report_collectionfinish(self) -> str:
        """The line that `make check` shows."""
        return (
            f"False alarms: {sum(self.chances):.2g} in a run of make test, at most {MOST:g}; "
            f"{len(self.chances)} tests draw noise."
        )


def main() -> int:
    """Prints the sum over `make test`; 1 where it is above `MOST`."""
    total, listing = Sum(), io.StringIO()
    with contextlib.redirect_stdout(listing):
        code = pytest.main(["--collect-only", "-qq", "-m", "not slow", "-p", "no:cacheprovider"], plugins=[total])
    if code:
        print(listing.getvalue())
    print(total.pytest_report_collectionfinish())
    return int(code) or int(sum(total.chances) > MOST)


if __name__ == "__main__":
    sys.exit(main())
