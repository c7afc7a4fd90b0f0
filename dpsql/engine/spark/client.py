"""The parts of pyspark's client that dpsql uses.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

from dpsql.errors import OperationalError

__all__ = ["driver"]


@cache
def driver() -> Any:
    """The parts of pyspark's client that are used: it comes with the extra ``spark``.

    Raises:
        OperationalError: If it is not installed.
    """
    with warnings.catch_warnings(), _as_a_file():
        warnings.simplefilter("ignore")  # of pandas, which it loads and dpsql does not use
        try:
            import grpc
            import pyarrow
            from pyspark.sql.connect import proto
            from pyspark.sql.connect.client.core import DefaultChannelBuilder
        except ImportError:
            raise OperationalError(
                "engine.kind spark needs pyspark-client. Write, in the copy of dpsql's repository: "
                "pip install '.[spark]'"
            ) from None
    return SimpleNamespace(grpc=grpc, arrow=pyarrow, proto=proto, channel=DefaultChannelBuilder)


@contextlib.contextmanager
def _as_a_file() -> Iterator[None]:
    """Gives ``python -c`` the name of a file: pyspark takes a program without one for its own tests, and ends it."""
    program = sys.modules["__main__"]
    if hasattr(program, "__file__"):
        yield
        return
    program.__file__ = "-c"
    try:
        yield
    finally:
        del program.__file__
