"""For tests alone: a proxy whose noise a test controls. Every answer says that it is not private.

Nothing else in the package imports this module, and there is no other way to choose a sampler.

Tests: tests/unit/test_testing_samplers.py.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from os import PathLike
from pathlib import Path

from dpsql.errors import PolicyError
from dpsql.given import policy_path_given
from dpsql.ledger.ledger import Ledger
from dpsql.policy import load_policy
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.proxy import Proxy, limits_of, pinned_of
from dpsql.testing_samplers import FixedSampler, Noiseless

__all__ = ["ExactSampler", "FixedSampler", "Noiseless", "TestProxy", "open"]


class TestProxy(Proxy):
    """A proxy with an in-memory ledger and bounded tables in a temporary directory, gone when it is closed.

    Where a unit has more rows than count, the same ones are kept in every run.
    """

    __test__ = False

    def __init__(self, path: Path, sampler: Sampler) -> None:
        policy = load_policy(path)
        if policy.resolve(policy.budget.ledger).exists():
            raise PolicyError(
                f"{policy.resolve(policy.budget.ledger)} exists: this policy is in real use. "
                "Copy the policy to another directory for tests."
            )
        scratch = tempfile.mkdtemp(prefix="dpsql-test-")
        self._forget = weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        ledger = Ledger.open(None, pinned=pinned_of(policy), limits=limits_of(policy))
        try:
            super().__init__(policy, ledger, Path(scratch), sampler, private=False)
        except BaseException:
            self._forget()
            raise

    def close(self) -> None:
        """Ends the processes and removes the bounded tables."""
        super().close()
        self._forget()


def open(path: str | PathLike[str], sampler: Sampler | None = None) -> TestProxy:  # noqa: A001 - as dpsql.open
    """A proxy for tests: in-memory ledger, temporary tables, the given sampler.

    Args:
        path: The policy file; its ledger must not exist.
        sampler: `Noiseless`, `FixedSampler`, or an `ExactSampler` (the default).

    Raises:
        PolicyError: The policy cannot be used, or its ledger exists.
    """
    return TestProxy(policy_path_given(path), sampler or ExactSampler())
