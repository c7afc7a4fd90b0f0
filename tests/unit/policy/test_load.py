"""Errors in a policy file name the line, and say what to write."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.errors import PolicyError
from dpsql.policy import Policy, load_policy

Load = Callable[..., Policy]
Refusal = Callable[..., str]

HOSPITAL = Path(__file__).parents[3] / "policies" / "hospital.yaml"


def refused(file: Path, content: bytes | str) -> str:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(PolicyError) as caught:
        load_policy(file)
    return str(caught.value).removeprefix(f"{file.parent}/")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("    unit: pid\n    key", "    unit: [pid, clinic]\n    key"),
            "13:11: tables.people.unit: a unit is one column; make one of several in a view of the data",
        ),
        (
            ("    unit: pid\n    key", "    unti: pid\n    key"),
            "13:5: tables.people.unti: there is no such key here; write unit",
        ),
        (
            ("[0, 110]", "[0, old]"),
            "17:40: tables.people.columns.age.bounds.1: old is not a whole number; write digits, such as 42",
        ),
        (("type: integer", "type: int"), "17:19: tables.people.columns.age.type: int is not one of 'integer', 'real'"),
        (("name: clinic\n", ""), "1:1: name: this is missing; write name: hospital"),
        (("  ledger: clinic.ledger.db\n", ""), "5:1: budget.ledger: this is missing; write ledger: hospital.ledger.db"),
        (
            ("rows_per_unit: 12", "rows_per_unit: 0"),
            "21:20: tables.visits.rows_per_unit: 0 is below 1; write at least 1",
        ),
        (
            ("rows_per_unit: 12", "rows_per_unit: many"),
            "21:20: tables.visits.rows_per_unit: this is not a whole number",
        ),
        (
            ("rows_per_unit: 12", "rows_per_unit: true"),
            "21:20: tables.visits.rows_per_unit: this is not a whole number",
        ),
        (("rows_per_unit: 12", "rows_per_unit: 1e13"), "21:20: tables.visits.rows_per_unit"),
        (("public: true", "public: yes"), "25:19: tables.towns.public: this is neither true nor false; write one of"),
        (("towns: {public: true, key: name}", "towns: 3"), "25:10: tables.towns: this is not a mapping"),
        (("name: clinic", "name: 3"), "2:7: name: this is not text; write it in quotes"),
        (("name: clinic", "name:"), "2:1: name: there is no value here; write one, or remove the key"),
        (("version: 1", "version: 2"), "1:10: version: 2 is not one of 1"),
        (
            ("2025-12-31", "2025-02-30"),
            "24:49: tables.visits.columns.on_day.bounds.1: 2025-02-30 is not in the calendar",
        ),
        (
            ("2025-12-31", "2025-12-31 10:00:00Z"),
            "24:49: tables.visits.columns.on_day.bounds.1: time zones are not used",
        ),
        (("epsilon: 2,", "epsilon: .inf,"), "8:20: budget.total.epsilon: .inf is not a plain number"),
        (("epsilon: 2,", "epsilon: 0x2,"), "8:20: budget.total.epsilon: 0x2 is not a plain number"),
        (("epsilon: 2,", "epsilon: 1e999,"), "8:20: budget.total.epsilon: this number is out of range"),
        (("name: clinic", "<chain>: clinic"), "1:1: name: this is missing; write name: hospital"),
        (("name: clinic", 'name: "\\ud800"'), "2:7: name: this holds characters that do not print"),
        (("rows_per_unit: 12", f"rows_per_unit: {10**400}"), "21:20: tables.visits.rows_per_unit: 1"),
        (("[0, 110]", "[0, 1e-60]"), "17:40: tables.people.columns.age.bounds.1: 1E-60 is not a whole number"),
        (("[0, 110]", f"[0, {'9' * 59}.5]"), "17:40: tables.people.columns.age.bounds.1: 9"),
        (("epsilon: 2,", f"epsilon: {'9' * 5000},"), "8:20: budget.total.epsilon: 9"),
        (("name: clinic", "name: !secret clinic"), "2:7: name: the tag !secret is not used here; remove it"),
        (("name: clinic", "name: &n clinic"), "2:7: name: anchors and aliases are not used here; write the value out"),
        (("name: clinic", "3: clinic"), "2:1: this key is not plain text; write a name, in quotes"),
        (("name: clinic", "<<: {name: clinic}"), "2:1: this key is not plain text"),
        (("name: clinic", "name: clinic\nname: other"), "3:1: the key name is written twice; keep one"),
        (("budget:\n", "budget:\n\tledger: x\n"), "6:1: this is not YAML"),
        (("name: clinic", "name: a: b"), "2:8: this is not YAML"),
        (("version: 1", "%YAML 1.1\n---\nversion: 1"), "1:1: directives are not used here; remove the line"),
        (("tables:", "---\ntables:"), "11:1: this is not YAML (expected a single document"),
    ],
)
def test_an_error_names_its_line_and_what_to_write(refusal: Refusal, change: tuple[str, str], expected: str) -> None:
    assert refusal(change).startswith(f"clinic.yaml:{expected}")


def test_all_errors_are_listed_in_the_order_of_the_file(refusal: Refusal) -> None:
    lines = refusal(("rows_per_unit: 12", "rows_per_unit: 0"), ("name: clinic", "nmae: clinic")).splitlines()
    assert lines == [
        "clinic.yaml:1:1: name: this is missing; write name: hospital",
        "clinic.yaml:2:1: nmae: there is no such key here; write name",
        "clinic.yaml:21:20: tables.visits.rows_per_unit: 0 is below 1; write at least 1",
    ]


def test_a_long_list_of_errors_is_cut_short(refusal: Refusal) -> None:
    many = "".join(f"key{number}: 1\n" for number in range(30))
    lines = refusal(("version: 1\n", f"version: 1\n{many}")).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "clinic.yaml: and 10 more; mend these first"


CHANGES = (
    *("null", "[]", "{}", "-1", "9" * 70, "1e-70", "true", "2020-01-01", '"\\0"', '"\\ud800"', "é", "\x85", "\u2028"),
    *("'", "&a", "*a", "!t", "\t", "- ", ": ", "?", "|", "[", "{", "<<", " ", "#", "%"),
    *("<chain>", "[key]", "columns", "unit: {}"),
)


@given(st.lists(st.tuples(st.integers(0, 2000), st.sampled_from(CHANGES)), min_size=1, max_size=3))
@settings(deadline=None, database=None)
def test_no_mistake_in_a_policy_gives_anything_but_its_error(changes: list[tuple[int, str]]) -> None:
    text = HOSPITAL.read_text(encoding="utf-8").partition("version: 1\n")[2]
    for place, change in changes:
        text = text[:place] + change + text[place + 1 :]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "p.yaml"
        file.write_text(f"version: 1\n{text}", encoding="utf-8")
        try:
            load_policy(file)
        except PolicyError as error:
            assert all(re.match(r".*p\.yaml:[0-9]+:[0-9]+: .+; .+", line) for line in str(error).splitlines())


def test_yaml_1_2_means_what_it_looks_like(load: Load) -> None:
    policy = load(("{type: integer, bounds: [0, 110]}", "{type: text, values: [NO, yes, 30s, '1']}"))
    assert policy.tables["people"].columns["age"].values == ("NO", "yes", "30s", "1")
    assert policy.budget.total.delta == Decimal("1e-9")


def test_loading_twice_gives_equal_policies(load: Load) -> None:
    assert load() == load()
    assert load() != load(("epsilon: 2,", "epsilon: 3,"))


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "clinic.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + HOSPITAL.read_bytes().replace(b"\n", b"\r\n"))
    assert load_policy(file) != load_policy(HOSPITAL)  # another file, so other paths
    assert load_policy(file).tables == load_policy(HOSPITAL).tables


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"none\.yaml: there is no such file; `dpsql init DATABASE` writes"):
        load_policy(tmp_path / "none.yaml")
    with pytest.raises(PolicyError, match="the file cannot be read"):
        load_policy(tmp_path)
    with pytest.raises(PolicyError, match="the file cannot be read"):
        load_policy("a\0b")


def test_a_pipe_is_read_by_who_waits_for_it_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(PolicyError, match="the file cannot be read"):
        load_policy(pipe, waits=False)
    with ThreadPoolExecutor(1) as pool:
        loaded = pool.submit(load_policy, pipe)
        pipe.write_bytes(HOSPITAL.read_bytes())
        assert loaded.result(60).name


def test_what_is_put_in_the_place_of_a_file_meanwhile_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, other = tmp_path / "pipe", tmp_path / "other"
    other.write_text("")
    os.mkfifo(pipe)
    before = other.stat()
    monkeypatch.setattr(Path, "stat", lambda _: before)  # as it was a moment before
    said = list[str]()

    def load() -> None:
        with pytest.raises(PolicyError) as refused:
            load_policy(pipe, waits=False)
        said.append(str(refused.value))

    loads = Thread(target=load, daemon=True)
    loads.start()
    loads.join(60)
    assert "the file cannot be read" in said[0]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "p.yaml:1:1: the file is empty; `dpsql init DATABASE` writes a first policy"),
        ("# nothing but this\n", "p.yaml:1:1: the file is empty"),
        ("- a\n- b\n", "p.yaml:1:1: the file is not a mapping; start with version: 1"),
        ("just text", "p.yaml:1:1: the file is not a mapping"),
        (b"a: 1\nb: \xff\n", "p.yaml:2: the file is not UTF-8; save it as UTF-8"),
        (b"a: \x00", "p.yaml:1:1: the file holds characters that YAML does not allow"),
        ("a: " + "[" * 1200, "p.yaml:1:1: the file is nested too deeply"),
        ("a: " + "[" * 40 + "]" * 40, "p.yaml:1:1: the file is nested too deeply"),
        ("\n".join(f"{' ' * level}a:" for level in range(40)), "p.yaml:1:1: the file is nested too deeply"),
        ("#" * (2**20 + 1), "p.yaml: the file is larger than 1 MiB"),
        ("a: &x [*x]", "p.yaml:1:4: a: anchors and aliases are not used here"),
        ('"a\\e[31m": 1', "p.yaml:1:1: this key holds characters that do not print"),
        ('"": 1', "there is no such key here; write one of version, name"),
        ("? [a]\n: 1\n", "p.yaml:1:3: this key is not plain text"),
    ],
)
def test_what_is_not_a_policy_at_all_gets_one_clear_error(tmp_path: Path, content: bytes | str, expected: str) -> None:
    assert expected in refused(tmp_path / "p.yaml", content)
