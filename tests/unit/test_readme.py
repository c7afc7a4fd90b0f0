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

import pytest

import dpsql
import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms import MECHANISMS
from dpsql.plan.aggregates import CALLS
from dpsql.session import Session

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "dpsql" / "ARCHITECTURE.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


DATA = "python examples/hospital.py hospital/hospital.duckdb"  # How the README makes its data.


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


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(" --patients 3000 --visits 18000", marks=pytest.mark.doors),
        pytest.param("", marks=pytest.mark.slow),
    ],
    ids=["few", "as_written"],
)
@pytest.mark.chance(0, "asserts nothing of the draws")
def test_every_command_and_every_python_block_of_the_readme_runs_from_top_to_bottom(clone: Path, size: str) -> None:
    """With fewer patients than the README's, whose tables take time; with all of them where slow tests run."""
    names: dict[str, object] = {}
    found = blocks(ROOT / "README.md", "sh", "python")
    assert {language for language, _ in found} == {"sh", "python"}
    assert sum(code.count(f"{DATA}\n") for _, code in found) == 1
    for language, code in found:
        if language == "sh":
            shell(code.replace(DATA, DATA + size))
        else:
            exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - the README's own text


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session on a small hospital, without noise, and with a budget for every example of every page."""
    home = tmp_path_factory.mktemp("hospital")
    policy = (ROOT / "policies" / "hospital.yaml").read_text()
    plenty = policy.replace("{epsilon: 20, delta: 1.0e-5,", "{epsilon: 2000, delta: 1.0e-3,").replace(
        "{epsilon: 8, delta: 1.0e-6,", "{epsilon: 1000, delta: 1.0e-4,"
    )
    assert plenty.count("e-3") == plenty.count("1000, delta") == 1
    (home / "hospital.yaml").write_text(plenty)
    imported(ROOT / "examples" / "hospital.py").build(home / "hospital.duckdb", patients=300, visits=900)
    with dpsql.testing.open(home / "hospital.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def examples() -> Iterator[tuple[str, str]]:
    """Every statement in a block of SQL: empty lines lie between them. Pages of other policies have their own tests."""
    for page in PAGES:
        if page.name in ("tpch.md", "google_examples.md"):
            continue
        for _, code in blocks(page, "sql"):
            for sql in code.strip().split("\n\n"):
                yield page.name, sql


@pytest.mark.parametrize(("page", "sql"), list(examples()))
def test_every_statement_in_the_docs_is_accepted(page: str, sql: str, hospital: Session) -> None:
    assert hospital.query(sql).columns, page


TABLES = re.compile(r"^\|.*$", re.MULTILINE)
STATEMENT = re.compile(r"`([A-Z][A-Z]+ [^`]*)`")


def refusals() -> Iterator[tuple[str, str | None]]:
    """Every statement that docs/sql.md says is refused, with what it says to write instead, if anything."""
    table = (ROOT / "docs" / "sql.md").read_text().partition("| refused | because | instead |")[2].partition("\n\n")[0]
    for row in TABLES.findall(table)[1:]:
        refused, _, instead = (STATEMENT.findall(cell) for cell in row.strip("|").split(" | "))
        for sql in refused:
            yield sql, next(iter(instead), None)


@pytest.mark.parametrize(("sql", "instead"), list(refusals()))
def test_what_the_docs_call_refused_is_refused_and_what_to_write_instead_is_accepted(
    sql: str, instead: str | None, hospital: Session
) -> None:
    with pytest.raises((UnsupportedQuery, dpsql.ProgrammingError)):
        hospital.query(sql)
    if instead is not None:
        assert hospital.query(instead).columns


def test_every_aggregate_is_in_the_docs_and_no_other() -> None:
    page = (ROOT / "docs" / "sql.md").read_text()
    table = page.partition("| write | gives | needs |")[2].partition("\n\n")[0]
    named = {name for row in TABLES.findall(table) for name in re.findall(r"`([A-Z_]+)\(", row.split("|")[1])}
    assert named == {name.upper() for name in CALLS}


@pytest.mark.parametrize("page", ["README.md", "docs/mechanisms.md"])
def test_every_mechanism_is_in_the_docs(page: str) -> None:
    text = (ROOT / page).read_text()
    for mechanism in MECHANISMS:
        assert f"| `{mechanism.name}` |" in text


def test_an_option_named_in_the_docs_is_an_option(hospital: Session) -> None:
    page = (ROOT / "docs" / "sql.md").read_text()
    table = page.partition("| option | means |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    from dpsql.plan.options import NAMES

    assert named == set(NAMES)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def ask(clone: Path, statement: str) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "examples" / "ask"), "hospital.yaml", "guest"]
    return subprocess.run(command, input=statement, capture_output=True, text=True, cwd=clone, check=False)


@pytest.mark.slow
@pytest.mark.chance(0, "another process draws, and nothing of the draws is asserted")
def test_the_ask_of_the_recipe_answers_under_the_name_it_was_given_and_takes_no_options(clone: Path) -> None:
    shutil.copy(ROOT / "policies" / "hospital.yaml", clone)
    imported(ROOT / "examples" / "hospital.py").build(clone / "hospital.duckdb", patients=300, visits=900)
    assert "epsilon 1, delta 1e-07" in ask(clone, "SHOW BUDGET").stdout  # what "*" may spend; ana may spend 8
    for words in ("--analyst=ana", "--help"):
        refused = ask(clone, words)
        assert refused.returncode == 1
        assert not refused.stdout
