"""Spark, where one machine ends: the bounded tables stand in the cluster, and aggregates are counted there.

Nothing of the rows passes through dpsql when tables are built, and only aggregates when statements are answered.

Tests: tests/doors/test_spark_engine.py, tests/doors/test_spark_dialect.py.
"""
