"""One statement in, one table out; a process that fails is replaced, and none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from dpsql.errors import InvariantBroken
from dpsql.worker import client
from dpsql.worker.client import Worker, WorkerFailed, _message
from dpsql.worker.process import _BOOT, _PACKAGE
from dpsql.worker.wire import TIMES
from tests.effort import few_calls
from tests.unit.worker.conftest import COUNT, FOREVER, VISITS, pid, statement

ROOT = Path(client.__file__).parents[2]


def gone(process: int) -> bool:
    """Whether a process exists no more."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_count_comes_back_as_an_int64_array(worker: Worker) -> None:
    n = worker.run(COUNT, deadline=20)["n"]
    assert isinstance(n, np.ndarray)
    assert n.dtype == np.int64
    assert n.tolist() == [10_000]


def test_every_wire_type_arrives_as_its_python_type(worker: Worker) -> None:
    sql = f"""
        SELECT CAST(1 AS BIGINT) AS a, CAST(170141183460469231731687303715884105 AS HUGEINT) AS b,
            CAST(0.5 AS DOUBLE) AS c, 'straße' AS d, DATE '2024-02-29' AS e,
            TIMESTAMP '1969-12-31 23:59:59.999999' AS f, count(*) > 0 AS g FROM {VISITS}
        UNION ALL
        SELECT CAST(-2 AS BIGINT), CAST(-3 AS HUGEINT), CAST(-1e300 AS DOUBLE), '', DATE '0001-01-01',
            TIMESTAMP '9999-12-31 00:00:00', FALSE
        ORDER BY a DESC"""
    names = [("a", "BIGINT"), ("b", "HUGEINT"), ("c", "DOUBLE"), ("d", "VARCHAR"), ("e", "DATE"), ("f", "TIMESTAMP")]
    got = worker.run(statement(sql, *names, ("g", "BOOLEAN")), deadline=20)
    assert [list(got[name]) for name in "abcdefg"] == [
        [1, -2],
        [170141183460469231731687303715884105, -3],
        [0.5, -1e300],
        ["straße", ""],
        [date(2024, 2, 29), date(1, 1, 1)],
        [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(9999, 12, 31)],
        [True, False],
    ]


@pytest.mark.parametrize("wire_type", ["BIGINT", "HUGEINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN"])
def test_null_arrives_as_none_and_no_rows_as_an_empty_column(worker: Worker, wire_type: str) -> None:
    sql = f"SELECT CAST(NULL AS {wire_type}) AS x FROM {VISITS} LIMIT ?"
    assert list(worker.run(statement(sql, ("x", wire_type), parameters=(2,)), deadline=20)["x"]) == [None, None]
    assert len(worker.run(statement(sql, ("x", wire_type), parameters=(0,)), deadline=20)["x"]) == 0


def test_parameters_keep_their_types(worker: Worker) -> None:
    sql = (
        f"SELECT count(*) AS n FROM {VISITS} WHERE cost < ? AND city = ? AND DATE '2024-01-31' = ? AND TRUE = ? "
        "AND TIMESTAMP '2024-01-31 12:00:00' = ? AND age >= ?"
    )
    parameters = (Decimal("10.5"), "city 1", date(2024, 1, 31), True, datetime(2024, 1, 31, 12), 0)
    got = worker.run(statement(sql, ("n", "BIGINT"), parameters=parameters), deadline=20)
    assert list(got["n"]) == [3]


def test_a_worker_without_data_works_on_the_table_of_the_request(new_worker: Callable[..., Worker]) -> None:
    worker = new_worker(None)
    sql = 'SELECT "released"."n" + 1 AS m, "released"."day" AS "day" FROM "released" ORDER BY "released"."n"'
    meant = statement(sql, ("m", "HUGEINT"), ("day", "DATE"), tables=frozenset({"released"}))
    for numbers in ([5, 2**70], [7, None]):
        table = {"n": ("HUGEINT", numbers), "day": ("DATE", [date(2024, 2, 29), None])}
        got = worker.run(meant, deadline=20, tables={"released": table})
        assert list(got["m"]) == [number and number + 1 for number in numbers]
        assert list(got["day"]) == [date(2024, 2, 29), None]


def test_a_statement_cannot_see_the_table_of_the_one_before(new_worker: Callable[..., Worker]) -> None:
    worker = new_worker(None)
    meant = statement('SELECT "released"."n" AS n FROM "released"', ("n", "BIGINT"), tables=frozenset({"released"}))
    worker.run(meant, deadline=20, tables={"released": {"n": ("BIGINT", [1])}})
    with pytest.raises(WorkerFailed):
        worker.run(meant, deadline=20)


def test_the_process_stays_warm_between_statements(worker: Worker) -> None:
    worker.run(COUNT, deadline=20)
    first = pid(worker)
    worker.run(COUNT, deadline=20)
    assert pid(worker) == first


def test_the_process_is_replaced_after_so_many_statements(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "QUERIES", 2)
    worker.run(COUNT, deadline=20)
    first = pid(worker)
    worker.run(COUNT, deadline=20)
    assert pid(worker) == first
    worker.run(COUNT, deadline=20)
    assert pid(worker) != first
    assert gone(first)


def test_a_statement_past_its_deadline_is_killed_and_the_next_one_works(worker: Worker) -> None:
    worker.run(COUNT, deadline=20)
    first = pid(worker)
    with pytest.raises(WorkerFailed) as failure:
        worker.run(FOREVER, deadline=0.3)
    assert failure.value.overrun
    assert gone(first)
    assert list(worker.run(COUNT, deadline=20)["n"]) == [10_000]


def test_several_statements_are_answered_in_their_order(worker: Worker) -> None:
    sums = [
        statement(f"SELECT CAST(count(*) + ? AS BIGINT) AS n FROM {VISITS}", ("n", "BIGINT"), parameters=(more,))
        for more in range(7)
    ]
    long = statement(f"SELECT repeat('x', 99) || age AS t FROM {VISITS}", ("t", "VARCHAR"))  # more than a pipe holds
    counts = [list(found["n"]) for found in worker.run_all(sums, deadline=20)]
    assert counts == [[10_000 + more] for more in range(7)]
    found = worker.run_all([long, COUNT, long], deadline=20)
    assert [len(next(iter(own.values()))) for own in found] == [10_000, 1, 10_000]


def test_behind_a_statement_that_is_refused_none_is_run(worker: Worker) -> None:
    other = statement('SELECT x AS n FROM "bounded"."main"."secret"', ("n", "INTEGER"))
    worker.run(COUNT, deadline=20)
    first = pid(worker)
    with pytest.raises(InvariantBroken):
        worker.run_all([COUNT, other, FOREVER], deadline=20)
    assert list(worker.run(COUNT, deadline=20)["n"]) == [10_000]
    assert pid(worker) == first


def test_each_of_several_statements_has_the_deadline(worker: Worker) -> None:
    worker.run(COUNT, deadline=20)
    first = pid(worker)
    with pytest.raises(WorkerFailed) as failure:
        worker.run_all([COUNT, FOREVER, COUNT], deadline=0.3)
    assert failure.value.overrun
    assert gone(first)
    assert list(worker.run(COUNT, deadline=20)["n"]) == [10_000]


def test_a_failure_has_a_fixed_text_and_its_detail_apart(worker: Worker) -> None:
    with pytest.raises(WorkerFailed) as failure:
        worker.run(statement(f"SELECT nothing AS n FROM {VISITS}", ("n", "BIGINT")), deadline=20)
    assert str(failure.value) == "The worker gave no answer."
    assert "nothing" in failure.value.detail
    assert not failure.value.overrun


def test_a_killed_process_is_one_failure_when_asked_and_none_when_idle(worker: Worker) -> None:
    worker.run(COUNT, deadline=20)
    os.kill(pid(worker), signal.SIGKILL)
    time.sleep(0.1)
    assert list(worker.run(COUNT, deadline=20)["n"]) == [10_000]
    threading.Timer(0.3, os.kill, (pid(worker), signal.SIGKILL)).start()
    with pytest.raises(WorkerFailed) as failure:
        worker.run(FOREVER, deadline=20)
    assert not failure.value.overrun


def test_other_columns_than_expected_are_refused(worker: Worker) -> None:
    with pytest.raises(InvariantBroken, match="columns"):
        worker.run(statement(f"SELECT count(*) AS n FROM {VISITS}", ("n", "VARCHAR")), deadline=20)
    with pytest.raises(InvariantBroken, match="columns"):
        worker.run(statement(f"SELECT count(*) AS m FROM {VISITS}", ("n", "BIGINT")), deadline=20)


def test_several_threads_take_turns_and_get_their_own_answers(worker: Worker) -> None:
    answers: dict[int, list[int]] = {}

    def ask(age: int) -> None:
        meant = statement(
            f"SELECT count(*) AS n FROM {VISITS} WHERE patient_id < ?", ("n", "BIGINT"), parameters=(age,)
        )
        answers[age] = list(worker.run(meant, deadline=20)["n"])

    threads = [threading.Thread(target=ask, args=(age,)) for age in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {age: [10 * age] for age in range(20)}


def test_the_process_outlives_the_thread_that_started_it(worker: Worker) -> None:
    thread = threading.Thread(target=worker.run, args=(COUNT,), kwargs={"deadline": 20})
    thread.start()
    thread.join()
    first = pid(worker)
    time.sleep(0.2)
    worker.run(COUNT, deadline=20)
    assert pid(worker) == first


def test_closing_leaves_no_process_and_no_descriptor(bounded_file: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    worker = Worker(bounded_file)
    worker.run(COUNT, deadline=20)
    process = pid(worker)
    worker.close()
    worker.close()
    assert gone(process)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_forgotten_worker_takes_its_process_along(bounded_file: Path) -> None:
    worker = Worker(bounded_file)
    worker.run(COUNT, deadline=20)
    process = pid(worker)
    del worker
    assert gone(process)


def test_a_process_that_cannot_start_is_a_failure_that_says_why(
    new_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    with pytest.raises(WorkerFailed) as failure:
        new_worker(tmp_path / "bounded.duckdb").run(COUNT, deadline=20)
    assert "bounded.duckdb" in failure.value.detail


def script(bounded_file: Path) -> str:
    """A user's script that asks at its top level, prints its worker's process, and waits to be killed."""
    return f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from dpsql.engine.base import EngineStatement
from dpsql.worker.client import Worker
worker = Worker(Path({str(bounded_file)!r}))
count = EngineStatement({COUNT.sql!r}, (), (("n", "BIGINT"),), frozenset({{"visits"}}), frozenset({{"count"}}))
assert list(worker.run(count, deadline=20)["n"]) == [10_000]
assert "duckdb" not in sys.modules
print(worker._child._process.pid, flush=True)
"""


@pytest.mark.every(2)
@pytest.mark.parametrize("way", ["stdin", "-c", "file"])
def test_it_works_from_every_kind_of_script(bounded_file: Path, tmp_path: Path, way: str) -> None:
    text = script(bounded_file)
    file = tmp_path / "script.py"
    file.write_text(text)
    arguments = {"stdin": ["-"], "-c": ["-c", text], "file": [str(file)]}[way]
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        input=text if way == "stdin" else None,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert gone(int(done.stdout))


def test_ctrl_c_kills_the_statement_and_is_passed_on(bounded_file: Path) -> None:
    text = script(bounded_file) + (
        f"endless = EngineStatement({FOREVER.sql!r}, (), (('n', 'DOUBLE'),), frozenset({{'visits'}}), "
        "frozenset({'sum', '*'}))\n"
        "try:\n    worker.run(endless, deadline=60)\nexcept KeyboardInterrupt:\n    print(worker._child, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as user:
        assert user.stdout is not None
        process = int(user.stdout.readline())
        time.sleep(0.3)
        os.killpg(user.pid, signal.SIGINT)  # what a terminal does: the whole group gets it
        assert user.stdout.readline() == "None\n"
        assert user.wait(20) == 0
    assert gone(process)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux alone tells where another process writes")
def test_what_a_worker_writes_goes_nowhere(worker: Worker) -> None:
    worker.run(COUNT, deadline=20)
    assert {str(Path(f"/proc/{pid(worker)}/fd/{stream}").readlink()) for stream in (1, 2)} == {os.devnull}


def test_a_worker_dies_at_its_deadline_by_itself(new_worker: Callable[..., Worker], bounded_file: Path) -> None:
    child = new_worker(bounded_file)._start()
    child.wait_until_ready()
    child.connection.send_bytes(_message(FOREVER, 0.2, {}))  # and nobody waits for the answer
    assert child._process.wait(60) == -signal.SIGALRM


def test_a_fork_of_the_parent_does_not_wait_for_what_its_worker_says(new_worker: Callable[..., Worker]) -> None:
    child, (reading, writing) = new_worker(None)._start(), os.pipe()  # as a worker's, before it gives up its own
    child.wait_until_ready()
    with os.fdopen(reading, "rb") as errors, os.fdopen(writing, "wb"):
        child.owner, child._process.stderr, before = -1, errors, child._process.stderr
        assert child.stop() == ""
        child.owner, child._process.stderr = os.getpid(), before


def test_a_killed_parent_takes_the_worker_along(bounded_file: Path) -> None:
    text = script(bounded_file) + "import time\ntime.sleep(60)\n"
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        process = int(user.stdout.readline())
        user.kill()
    for _ in range(50):
        if gone(process):
            break
        time.sleep(0.1)
    assert gone(process)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # from Python 3.12 on: what a user may do all the same
def test_a_fork_of_the_parent_gets_a_worker_of_its_own(worker: Worker) -> None:
    worker.run(COUNT, deadline=20)
    ours = pid(worker)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            fine = list(worker.run(COUNT, deadline=20)["n"]) == [10_000] and pid(worker) != ours
            worker.close()
            os.write(writer, b"1" if fine else b"0")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    assert os.read(reader, 1) == b"1"
    os.close(reader)
    worker.run(COUNT, deadline=20)
    assert pid(worker) == ours


def test_a_million_integers_and_many_text_keys_arrive_without_a_call_for_each(worker: Worker) -> None:
    numbers = statement(
        f"SELECT CAST(a.age AS BIGINT) AS x FROM {VISITS} AS a, {VISITS} AS b WHERE b.patient_id < 10",
        ("x", "BIGINT"),
    )
    keys = statement(
        f"SELECT a.city || b.patient_id || a.patient_id AS k FROM {VISITS} AS a, {VISITS} AS b WHERE b.cost < 5",
        ("k", "VARCHAR"),
    )
    for meant, rows in ((numbers, 1_000_000), (keys, 100_000)):
        with few_calls(10_000):
            (column,) = worker.run(meant, deadline=20).values()
        assert len(column) == rows


def loaded(module: str) -> set[str]:
    """All modules of a process that has begun to run one."""
    run = 'runpy.run_module(module, run_name="__main__", alter_sys=True)'
    assert run in _BOOT
    boot = _BOOT.replace(run, "__import__(module); print(*sys.modules)")
    command = [sys.executable, "-I", "-c", boot, _PACKAGE, module]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", ["dpsql.worker.__main__", "dpsql.owner.process"])
def test_a_process_loads_neither_policies_nor_plans(module: str) -> None:
    modules = loaded(module)
    assert module in modules
    assert not {"pydantic", "sqlglot", "scipy", "dpsql.policy", "dpsql.sql.parse"} & modules


def test_a_worker_loads_of_the_database_the_compiled_module_alone() -> None:
    modules = loaded("dpsql.worker.__main__")
    assert "_duckdb" in modules
    assert not {"duckdb", "numpy", "dataclasses", "dpsql.worker.lying"} & modules


def test_rows_of_a_request_stand_as_often_as_is_said(new_worker: Callable[..., Worker]) -> None:
    worker = new_worker(None)
    sql = 'SELECT "a"."n" AS "n", COUNT(*) AS "m" FROM "a" JOIN "b" ON "a"."n" = "b"."n" GROUP BY "a"."n" ORDER BY 1'
    meant = statement(sql, ("n", "BIGINT"), ("m", "BIGINT"), tables=frozenset({"a", "b"}))
    often = {"n": ("BIGINT", [4, 7, 9, 10, 11]), TIMES: ("BIGINT", [3, 0, 2, 1024, 10**8 + 1])}
    got = worker.run(meant, deadline=20, tables={"a": often, "b": {"n": ("BIGINT", [4, 7, 9, 9, 10, 11])}})
    assert list(zip(got["n"], got["m"], strict=True)) == [(4, 3), (9, 4), (10, 1024), (11, 10**8 + 1)]
