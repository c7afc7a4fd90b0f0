"""README and docs tell the truth: their code blocks run, their lists are whole, their links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

import dpsql
import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import FUNCTIONS, Function
from dpsql.plan.types import Type
from dpsql.session import Session

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "dpsql" / "ARCHITECTURE.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """The page's code blocks in these languages, in order: (language, code) each."""
    return [(language, code) for language, code in BLOCK.findall(page.read_text()) if language in languages]


def imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that looks like a clone of the repository, with dpsql and python first on the path."""
    for name in ("policies", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return tmp_path


def shell(script: str) -> None:
    """Runs a block as a reader would, stopping at the first command that fails."""
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{script}\n{run.stderr}"
    assert "Traceback" not in run.stderr


def test_every_command_and_every_python_block_of_the_readme_runs_from_top_to_bottom(clone: Path) -> None:
    names: dict[str, object] = {}
    found = blocks(ROOT / "README.md", "sh", "python")
    assert {language for language, _ in found} == {"sh", "python"}
    for language, code in found:
        if language == "sh":
            shell(code)
        else:
            exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - the README's own text


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session on a small hospital, without noise."""
    home = tmp_path_factory.mktemp("hospital")
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    imported(ROOT / "examples" / "hospital.py").build(home / "hospital.duckdb", patients=300, visits=900)
    with dpsql.testing.open(home / "hospital.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_sql_block_is_accepted(page: Path, hospital: Session) -> None:
    for _, code in blocks(page, "sql"):
        assert hospital.query(code).columns


REFUSED = """
SELECT * FROM patients
SELECT age FROM patients
SELECT DISTINCT city FROM patients
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
SELECT COUNT(*) FROM (SELECT * FROM visits) AS v
WITH v AS (SELECT COUNT(*) AS n FROM visits) SELECT n FROM v
SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM patients
SELECT COUNT(*) FROM patients LEFT JOIN visits USING (patient_id)
SELECT COUNT(*) OVER () FROM visits
SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)
SELECT MEDIAN(age) FROM patients
SELECT MIN(age) FROM patients
SELECT COUNT(*) FROM visits WHERE visited_on < current_date
SELECT COUNT(*) FROM patients WHERE random() < 0.5
SELECT COUNT(*) FROM read_csv('/etc/passwd')
SELECT COUNT(*) FROM patients WHERE patient_id = 17
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id
SET memory_limit = '1TB'
DROP TABLE patients
INSERT INTO visits VALUES (1)
"""


@pytest.mark.parametrize("sql", REFUSED.strip().splitlines())
def test_what_the_docs_call_refused_is_refused(sql: str, hospital: Session) -> None:
    with pytest.raises((UnsupportedQuery, dpsql.ProgrammingError)):
        hospital.query(sql)


def test_an_option_named_in_the_docs_is_an_option(hospital: Session) -> None:
    page = (ROOT / "docs" / "sql.md").read_text()
    table = page.partition("| option | means |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    from dpsql.plan.options import NAMES

    assert named == set(NAMES)


def test_the_list_of_functions_is_the_allow_list() -> None:
    functions = imported(ROOT / "docs" / "functions.py")
    text = functions.PAGE.read_text(encoding="utf-8")
    assert text == functions.page(text), "Run `make schema`."


@pytest.fixture(scope="module")
def every_type(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session on a table with one column of each type, named after it."""
    home = tmp_path_factory.mktemp("types")
    types = {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE", Type.TEXT: "VARCHAR", Type.BOOLEAN: "BOOLEAN"} | {
        Type.DATE: "DATE",
        Type.TIMESTAMP: "TIMESTAMP",
    }
    with duckdb.connect(str(home / "types.duckdb")) as connection:
        columns = ", ".join(f"a_{kind.value} {engine}" for kind, engine in types.items())
        connection.execute(f"CREATE TABLE types (id BIGINT, {columns})")
        connection.execute("INSERT INTO types VALUES (1, 2, 2.5, 'two', true, '2002-02-02', '2002-02-02 02:02:02')")
    bounds = {"integer": ", bounds: [0, 9]", "real": ", bounds: [0, 9]", "date": ", bounds: [2000-01-01, 2009-12-31]"}
    lines = [f"      a_{kind.value}: {{type: {kind.value}{bounds.get(kind.value, '')}}}" for kind in types]
    (home / "types.yaml").write_text(
        "version: 1\nname: types\nengine: {kind: duckdb, database: types.duckdb}\nneighbours: add_remove\n"
        "budget: {ledger: types.ledger.db, composition: basic, total: {epsilon: 9000}, "
        'analysts: {"*": {epsilon: 9000}}, per_query: {epsilon: 1}}\n'
        "tables:\n  types:\n    unit: id\n    rows_per_unit: 1\n    columns:\n" + "\n".join(lines) + "\n"
    )
    with dpsql.testing.open(home / "types.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="anyone")


CONSTANTS = {Type.TEXT: "'a'", Type.INTEGER: "2"}


def called(function: Function) -> str:
    """The function as the docs spell it, on columns of its types, constants where it wants them."""
    arguments = []
    for index, kind in enumerate(function.parameters):
        choices = function.choices.get(index)
        if choices:
            arguments.append(f"'{choices[0]}'")
        else:
            arguments.append(CONSTANTS[kind] if index in function.constants else f"a_{kind.value}")
    functions = imported(ROOT / "docs" / "functions.py")
    return str(functions.spelled(function.name, arguments))


def test_every_listed_function_is_accepted_and_answers(every_type: Session) -> None:
    for function in FUNCTIONS:
        sql = f"SELECT COUNT(*) FROM types WHERE ({called(function)}) IS NOT NULL OR true"
        assert every_type.query(sql).rows == [(1,)], sql


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def ask(clone: Path, statement: str) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "examples" / "ask"), "hospital.yaml", "guest"]
    return subprocess.run(command, input=statement, capture_output=True, text=True, cwd=clone, check=False)


def test_the_ask_of_the_recipe_answers_under_the_name_it_was_given_and_takes_no_options(clone: Path) -> None:
    shutil.copy(ROOT / "policies" / "hospital.yaml", clone)
    imported(ROOT / "examples" / "hospital.py").build(clone / "hospital.duckdb", patients=300, visits=900)
    assert "epsilon 1, delta 1e-07" in ask(clone, "SHOW BUDGET").stdout  # what "*" may spend; ana may spend 8
    for words in ("--analyst=ana", "--analyst ana", "--help"):
        refused = ask(clone, words)
        assert refused.returncode == 1
        assert not refused.stdout
