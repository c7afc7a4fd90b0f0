"""What is handed out: the extras that messages name, a wheel and an sdist, and an installed dpsql that answers."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql.server.doors import DOORS
from tests.unit.test_readme import PAGES, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {
    extra: {re.split(r"[\[<>=]", requirement)[0].lower() for requirement in requirements}
    for extra, requirements in PROJECT["optional-dependencies"].items()
}
PACKAGES = {"grpc": "grpcio"}
"""Packages of libraries that have another name."""
SOURCES = sorted((ROOT / "dpsql").rglob("*.py"))


def asked_for() -> Iterator[tuple[str, str]]:
    """Each library that is looked for, with the extra that is said to bring it."""
    yield from (kind.needs for kind in DOORS if kind.needs)
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "of_extra":
                words = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                if len(words) == 2:
                    yield str(words[0]), str(words[1])


@pytest.mark.parametrize("name", dpsql.__all__)
def test_a_public_name_is_found_where_it_is_said_to_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(dpsql), name, raising=False)  # what was asked for before is kept
    assert getattr(dpsql, name) is not None


@pytest.mark.slow
def test_an_extra_brings_the_library_that_a_message_says_it_brings() -> None:
    found = set(asked_for())
    assert ("polars", "polars") in found
    for module, extra in found:
        library = module.partition(".")[0]
        assert PACKAGES.get(library, library) in EXTRAS[extra], module


def test_every_extra_that_a_text_names_exists() -> None:
    for file in [*SOURCES, *PAGES, ROOT / "CHANGELOG.md", ROOT / "Makefile"]:
        text = file.read_text()
        for named in re.findall(r"\.\[([a-z,]+)\]'", text) + re.findall(r"\bextra (?:`|``)([a-z]+)(?:`|``)", text):
            for extra in named.split(","):
                assert extra in EXTRAS, f"{file.relative_to(ROOT)} names the extra {extra}."


def test_the_version_is_the_projects() -> None:
    assert PROJECT["version"] == dpsql.__version__
    assert f"## [{dpsql.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints; it must succeed."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ran = subprocess.run(
        command, cwd=cwd, env={**own, "XDG_STATE_HOME": str(cwd)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


ASK = """
import pandas, sqlalchemy
engine = sqlalchemy.create_engine("dpsql:///hospital.yaml?analyst=ana&epsilon=0.1&intervals=on")
frame = pandas.read_sql("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", engine)
engine.dispose()
print(*frame.columns)
"""


@pytest.mark.slow
@pytest.mark.chance(0, "asserts nothing of the draws")
def test_wheel_and_sdist_install_in_a_fresh_environment_and_answer(tmp_path: Path) -> None:
    source, out, home = tmp_path / "source", tmp_path / "out", tmp_path / "home"
    home.mkdir()
    shutil.copytree(ROOT / "dpsql", source / "dpsql", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "build", "--outdir", out, source, cwd=tmp_path)  # the wheel is made of the sdist
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    packed = set(zipfile.ZipFile(wheel).namelist())
    for file in (ROOT / "dpsql").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert str(file.relative_to(ROOT)) in packed
    assert not [name for name in packed if not name.startswith(("dpsql/", f"dpsql-{dpsql.__version__}.dist-info/"))]
    with tarfile.open(sdist) as archive:
        assert f"{sdist.name.removesuffix('.tar.gz')}/LICENSE" in archive.getnames()

    run(sys.executable, "-m", "venv", home / "venv", cwd=home)
    at = home / "venv" / "bin"
    run(at / "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[pandas,sqlalchemy,shell]", cwd=home)
    run(at / "pip", "check", cwd=home)
    assert run(at / "dpsql", "--version", cwd=home) == f"dpsql {dpsql.__version__}\n"
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    run(at / "python", ROOT / "examples" / "hospital.py", "hospital.duckdb", cwd=home)
    asked = ("query", "hospital.yaml", "SELECT COUNT(*) AS n FROM visits", "--analyst", "ana", "--intervals")
    assert run(at / "dpsql", *asked, "--format", "csv", cwd=home).startswith("n,n_low,n_high\n")
    assert run(at / "python", "-c", ASK, cwd=home) == "sex n n_low n_high\n"
