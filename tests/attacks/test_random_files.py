"""Whatever stands in a policy file, it is a policy or one error that names its lines, soon and in little memory."""

from __future__ import annotations

import pytest

from tests.attacks.random_files import MANY, tried


def test_a_random_file_is_a_policy_or_one_error(seed: int) -> None:
    seen, wrong = tried(40, seed)
    assert wrong == []
    assert seen["policies"] and seen["refused"] > seen["policies"]


@pytest.mark.chance(1e-20, "of 5,000 mutated files at most 100 are policies, or more than half: 1 of 18 was, of 1,200")
@pytest.mark.slow
def test_thousands_of_random_files_are_policies_or_one_error_each(seed: int) -> None:
    seen, wrong = tried(5 * MANY, seed + 1)
    assert wrong == []
    assert 100 < seen["policies"] < seen["refused"]
