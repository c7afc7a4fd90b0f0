"""The first policy says what to choose, and opens nothing until it is chosen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from dpsql.engine.database import SourceType, TableSchema
from dpsql.engine.duckdb.types import source_type
from dpsql.errors import PolicyError
from dpsql.owner.template import Choices, first_policy, with_plain_columns
from dpsql.policy import load_policy

TABLES = {
    "visits": [
        ("visit_id", "INTEGER"),
        ("patient_id", "BIGINT"),
        ("cost", "DOUBLE"),
        ("price", "DECIMAL(10,2)"),
        ("diagnosis", "VARCHAR"),
        ("ward", "ENUM('secret ward')"),
        ("on_day", "DATE"),
        ("at", "TIMESTAMP"),
        ("zoned", "TIMESTAMP WITH TIME ZONE"),
        ("photo", "BLOB"),
        ("token", "UUID"),
        ("urgent", "BOOLEAN"),
        ("odd name\n  evil: true", "INTEGER"),
        ("naïve", "INTEGER"),
    ],
    "bad table": [("x", "INTEGER")],
}


def first(name: str, database: str, tables: dict[str, list[tuple[str, str]]]) -> str:
    """The first policy of a DuckDB file with these types."""
    schemas = {
        table: TableSchema(tuple((column, source_type(kind)) for column, kind in of)) for table, of in tables.items()
    }
    return first_policy(name, "duckdb", {"database": database}, schemas)


def test_unchanged_it_is_refused_and_names_each_gap(tmp_path: Path) -> None:
    file = tmp_path / "first.yaml"
    file.write_text(first("clinic", "clinic.duckdb", TABLES), encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        load_policy(file)
    gaps = [line.split(": ")[1:3] for line in str(caught.value).splitlines()]
    assert [place for place, _ in gaps] == [
        "budget.total.epsilon",
        "budget.analysts.*.epsilon",
        "budget.per_query.epsilon",
        "tables.visits.unit",
        "tables.visits.columns",
    ]
    assert gaps[0][1].startswith("this is still to be filled in")


def test_filled_in_it_loads(tmp_path: Path) -> None:
    text = first("clinic", "clinic.duckdb", TABLES)
    for gap, choice in [
        ("total: {epsilon: FILL_IN}", "total: {epsilon: 3}"),
        ('"*": {epsilon: FILL_IN}', '"*": {epsilon: 1}'),
        ("per_query: {epsilon: FILL_IN}", "per_query: {epsilon: 0.1}"),
        ("    unit: FILL_IN", "    unit: patient_id"),
        ("rows_per_unit: 1024", "rows_per_unit: 12"),
        ("# cost: {type: real, bounds: auto}", "cost: {type: real, bounds: auto}"),
        ("# price: {type: decimal, bounds: auto", "price: {type: decimal, bounds: [0, 100]"),
        ("# diagnosis: {", "diagnosis: {"),
        ("# urgent: {", "urgent: {"),
    ]:
        assert gap in text
        text = text.replace(gap, choice)
    file = tmp_path / "first.yaml"
    file.write_text(text, encoding="utf-8")
    policy = load_policy(file)
    assert list(policy.tables) == ["visits"]
    assert list(policy.tables["visits"].columns) == ["cost", "price", "diagnosis", "urgent"]
    database = policy.engine.source(str)["database"]
    assert policy.resolve(Path(database)) == tmp_path / "clinic.duckdb"


def test_it_shows_names_and_types_alone() -> None:
    text = first("clinic", "clinic.duckdb", TABLES)
    assert "secret ward" not in text
    assert "# ward: {type: text}  # values: [a, b] in the braces as its ENUM lists them, if that list was not" in text
    assert "patient_id or visit_id; or public: true" in text
    assert "grid: 1.0e-2}" in text
    assert "# photo: its type cannot be used as it is; cast it in a view" in text
    assert (
        "# zoned: {type: timestamp}  # bounds: [LOW, HIGH] in the braces, each like 2024-01-31 00:00:00, lists" in text
    )  # `dpsql check` says that it is read as UTC
    assert "# token: {type: text}" in text


def test_letters_that_a_name_cannot_have_are_written_as_others() -> None:
    columns = [("Größe", "DOUBLE"), ("Einkommen €", "DOUBLE"), ("Émile Šimić", "INTERVAL")]
    text = first("survey", "survey.duckdb", {"survey": columns})
    assert "# Groesse: {type: real" in text
    assert "# Einkommen: {type: real" in text
    assert "# Emile_Simic: its type cannot be used as it is; write epoch(x), its seconds, in a view" in text


def test_names_cannot_break_out_of_their_comment() -> None:
    text = first("clinic", "clinic.duckdb", TABLES)
    assert r'# "odd name\U0000000a  evil: true": its name does not print' in text
    assert '# "bad table": not a plain name' in text
    assert "    rename:                      # names to use, and those in the data" in text
    assert '      naive: "naïve"\n' in text


WHOLE, TEXT, DAY = SourceType("BIGINT", "integer"), SourceType("VARCHAR", "text"), SourceType("DATE", "date")
SHOP = {
    "people": TableSchema((("person_id", WHOLE), ("email", TEXT), ("age", WHOLE)), keys=(("person_id",),)),
    "archive_orders": TableSchema(
        (("order_id", WHOLE), ("person_id", WHOLE), ("on_day", DAY)), stored="archive.orders"
    ),
    "lines": TableSchema(
        (("order_id", WHOLE), ("line", WHOLE)),
        file=Path("lines/*.parquet"),
        keys=(("order_id", "line"),),
        references={"order_id": ("archive_orders", "order_id")},
    ),
    "towns": TableSchema((("name", TEXT),)),
}


def test_with_every_choice_made_it_loads_as_it_is(tmp_path: Path) -> None:
    chosen = Choices("person_id", frozenset({"towns"}), columns=True, total="3", each="1", per_query="0.1")
    file = tmp_path / "shop.yaml"
    file.write_text(
        first_policy("shop", "duckdb", {"database": "shop.duckdb"}, SHOP, chosen).replace(
            "bounds: auto", "bounds: [0, 9]"
        )
    )
    policy = load_policy(file)
    assert policy.budget.total.epsilon == 3
    tables = policy.tables
    assert (tables["people"].key, tables["people"].rows_per_unit, tables["people"].stored) == ("person_id", 1, None)
    assert list(tables["people"].columns) == ["age"]  # and no email
    assert (tables["archive_orders"].key, tables["archive_orders"].stored) == ("order_id", "archive.orders")
    assert tables["lines"].unit_column == "person_id"
    assert (tables["lines"].key, tables["lines"].file) == (("order_id", "line"), Path("lines/*.parquet"))
    assert tables["towns"].public


def test_a_table_to_which_nothing_leads_says_so_and_stays_open(tmp_path: Path) -> None:
    text = first_policy("shop", "duckdb", {"database": "shop.duckdb"}, SHOP, Choices("person_id"))
    assert "# no column leads to person_id: if one does, write rename: {person_id: COLUMN}; or public: true" in text


def test_names_that_are_one_in_sql_are_told_apart(tmp_path: Path) -> None:
    tables = {
        "visits": TableSchema(
            (("Age", WHOLE), ("age", WHOLE), ("Person No", WHOLE), ("visit no", WHOLE), ("Person-No", WHOLE)),
            keys=(("visit no", "Person No"),),
        ),
        "lines": TableSchema((("Visit", WHOLE),), references={"Visit": ("visits", "visit no")}),
    }
    found = with_plain_columns(tables)
    assert found["visits"].rename == {
        "age_2": "age",
        "Person_No": "Person No",
        "visit_no": "visit no",
        "Person_No_2": "Person-No",
    }
    assert (found["visits"].keys, found["lines"].rename) == ((("visit_no", "Person_No"),), {})
    assert found["lines"].references == {"Visit": ("visits", "visit_no")}
    assert with_plain_columns(found) == found
    chosen = Choices("Person_No", columns=True, total="3", each="1", per_query="0.1")
    file = tmp_path / "clinic.yaml"
    text = first_policy("clinic", "duckdb", {"database": "clinic.duckdb"}, {"visits": tables["visits"]}, chosen)
    file.write_text(text.replace("bounds: auto", "bounds: [0, 9]"))
    visits = load_policy(file).tables["visits"]
    assert (visits.key, visits.rename["Person_No"]) == (("visit_no", "Person_No"), "Person No")


def test_what_a_file_holds_is_renamed_in_the_file_for_it_has_no_view() -> None:
    columns = (("a\tb", source_type("INTEGER")), ("photo", source_type("BLOB")))
    text = first_policy("clinic", "duckdb", {}, {"visits": TableSchema(columns, file=Path("visits.parquet"))})
    assert r'# "a\U00000009b": its name does not print; rename the column in the file' in text
    assert "# photo: its type cannot be used as it is; write the file with another\n" in text
    assert "view" not in text


def test_any_name_and_file_name_give_valid_yaml(tmp_path: Path) -> None:
    file = tmp_path / "first.yaml"
    file.write_text(first("2024 año", 'odd "name"\\\n.duckdb', {}), encoding="utf-8")
    with pytest.raises(PolicyError, match=r"budget\.total\.epsilon: this is still to be filled in"):
        load_policy(file)
    assert "name: my_data" in first("my data!?", "x", {}).splitlines()
    assert "name: policy_2024_ano" in file.read_text(encoding="utf-8")


def test_a_table_with_the_unit_and_another_one_s_key_says_how_the_two_would_join(tmp_path: Path) -> None:
    schemas = {
        name: TableSchema(tuple((column, source_type("BIGINT")) for column in columns))
        for name, columns in {
            "stays": ("stay_id", "patient_id", "cost"),
            "labs": ("lab_id", "patient_id", "stay_id", "value"),
        }.items()
    }
    chosen = Choices(
        unit="patient_id", columns=True, total="3", each="1", per_query="0.1",
        known={"stays.cost": "bounds: [0, 9]", "labs.value": "bounds: [0, 9]"},
    )  # fmt: skip
    text = first_policy("clinic", "duckdb", {"database": "clinic.duckdb"}, schemas, chosen)
    stays, labs = text[text.index("\n  stays:") : text.index("\n  labs:")], text[text.index("\n  labs:") :]
    assert "via" not in stays
    assert "unit: patient_id\n    # Instead, where each row belongs to one of stays (there: key: stay_id)" in labs
    key = "    # key: COLUMN                # unique in this table, if there is one; or [person, year] together\n"
    stays = stays.replace(key, "    key: stay_id\n").replace("      stay_id: {type: integer, bounds: auto}\n", "")
    labs = labs.replace("    unit: patient_id\n", "").replace("    # unit: {via", "    unit: {via")
    labs = labs.replace("      stay_id: {type: integer, bounds: auto}\n", "")
    file = tmp_path / "clinic.yaml"
    file.write_text(text[: text.index("\n  stays:")] + stays + labs, encoding="utf-8")
    assert load_policy(file).identities("labs") == {"stay_id": "stays.stay_id"}


def test_the_line_that_numbers_the_rows_of_a_survey_runs(tmp_path: Path) -> None:
    line = next(line for line in first("a", "a.duckdb", TABLES).splitlines() if "survey.parquet" in line)
    command = line.removeprefix("#   ")
    python, code, _ = command.split('"')
    assert python == "python -c "
    duckdb.execute(f"COPY (SELECT 7 AS x) TO '{tmp_path / 'survey.parquet'}'")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert duckdb.execute(f"FROM '{tmp_path / 'persons.parquet'}'").fetchall() == [(1, 7)]


def test_comments_of_the_source_are_descriptions(tmp_path: Path) -> None:
    words = {"age": 'In "years"; {not} # days,\n\x1b[2J bounds: auto', "Größe": "x" * 501, "email": " "}
    columns = (("person_id", WHOLE), ("age", WHOLE), ("Größe", WHOLE), ("email", TEXT))
    tables = {
        "people": TableSchema(columns, comment="Whoever came", comments=words),
        "towns": TableSchema((("name", TEXT),), comment="FILL_IN"),
    }
    chosen = Choices("person_id", frozenset({"towns"}), columns=True, total="3", each="1", per_query="0.1")
    file = tmp_path / "shop.yaml"
    text = first_policy("shop", "duckdb", {"database": "shop.duckdb"}, tables, chosen)
    assert "the source's own comments: read them first" in text
    file.write_text(text)
    people, towns = (load_policy(file).tables[name] for name in ("people", "towns"))
    assert (people.description, towns.description) == ("Whoever came", None)
    assert people.columns["age"].description == 'In "years"; {not} # days, [2J bounds: auto'
    assert people.columns["Groesse"].description == "x" * 499 + "…"
    none = first_policy("shop", "duckdb", {"database": "shop.duckdb"}, SHOP, chosen)
    assert "description" not in none.partition("tables:\n")[2] and "own comments" not in none
