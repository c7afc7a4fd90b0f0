"""Rewrites every expectation of the corpus; read the difference before you keep it.

python -m tests.sql.regenerate [accepted.sql ...]
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.sql.corpus import blocks, write
from tests.sql.databases import POLICIES, open_proxy
from tests.sql.described import described

FILES = ("accepted.sql", "refused.sql", "later.sql")


def main(names: list[str]) -> None:
    """Rewrites the files of these names, or all."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sessions = {name: stack.enter_context(open_proxy(name, folder)).session(analyst="corpus") for name in POLICIES}
        for name in names or FILES:
            write(name, [block.expecting(described(sessions[block.policy], block)) for block in blocks(name)])


if __name__ == "__main__":
    main(sys.argv[1:])
