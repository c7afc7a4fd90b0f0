"""What the random audits share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.answers.computed.postprocess import PostProcess


@pytest.fixture(scope="module")
def after() -> Iterator[PostProcess]:
    """Computes over released values, in a worker of its own."""
    after = PostProcess(2 << 30)
    yield after
    after.close()
