"""What was spent, on the command line."""

from __future__ import annotations

import json

import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error


def test_budget_shows_all_together_and_each_analyst(clinic: Clinic) -> None:
    lines = clinic.dpsql("budget", "clinic.yaml").out.splitlines()
    assert lines[2].split() == ["all", "together", "nothing", "epsilon", "3", "epsilon", "3"]
    assert lines[3].split() == ["ana", "nothing", "epsilon", "2", "epsilon", "2"]
    assert lines[4] == "Losses add up by basic composition."


def test_a_budget_is_written_in_the_formats_of_answers(clinic: Clinic) -> None:
    told = json.loads(clinic.dpsql("budget", "clinic.yaml", "--format", "json").out)
    assert [column["name"] for column in told["columns"]][:4] == ["analyst", "spent", "limit", "remaining_epsilon"]
    assert told["rows"][1] == ["ana", "nothing", "epsilon 2", 2.0, None, "basic", None]
    assert (
        clinic.dpsql("budget", "clinic.yaml", "--format", "csv").out.splitlines()[2]
        == "ana,nothing,epsilon 2,2.0,,basic,"
    )


def test_a_budget_is_never_cut(clinic: Clinic) -> None:
    policy, long = clinic.folder / "clinic.yaml", "ana-maria-" * 8
    policy.write_text(policy.read_text().replace("{ana: {epsilon: 2}}", f"{{{long}: {{epsilon: 2}}}}"))
    assert clinic.dpsql("budget", "clinic.yaml").out.splitlines()[3].split()[0] == long


def test_budget_of_a_stranger_is_refused_also_for_a_reset(clinic: Clinic) -> None:
    assert_one_clear_error(clinic.dpsql("budget", "clinic.yaml", "--analyst", "bob"), "'bob' has no budget")
    assert_one_clear_error(
        clinic.dpsql("budget", "clinic.yaml", "--analyst", "bob", "--reset", "--reason", "try"), "'bob' has no account"
    )
    assert "reset" not in clinic.dpsql("log", "clinic.yaml").out


def test_a_name_without_an_account_of_its_own_does_not_reset_the_one_that_others_share(clinic: Clinic) -> None:
    policy = clinic.folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("{ana: {epsilon: 2}}", "{ana: {epsilon: 2}, '*': {epsilon: 1}}"))
    refused = clinic.dpsql("budget", "clinic.yaml", "--analyst", "anna", "--reset", "--reason", "a new course")
    assert_one_clear_error(refused, "'anna' has no account of their own. Nothing was reset.", "'*'")
    assert "reset" not in clinic.dpsql("log", "clinic.yaml").out
    for account in ("*", "ana"):
        reset = clinic.dpsql("budget", "clinic.yaml", "--analyst", account, "--reset", "--reason", "a new course")
        assert reset.code == 0
        assert clinic.dpsql("log", "clinic.yaml").out.rstrip().endswith(f"the account {account}: a new course")


def test_a_reset_leaves_its_reason_in_the_log(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml", "--reset", "--reason", "new year").code == 0
    (line,) = [line for line in clinic.dpsql("log", "clinic.yaml").out.splitlines() if "reset" in line]
    assert line.endswith("new year")


def test_the_log_names_new_limits_and_versions(clinic: Clinic) -> None:
    assert clinic.dpsql("refresh", "clinic.yaml").code == 0
    policy = clinic.folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("{ana: {epsilon: 2}}", "{ana: {epsilon: 2.5}, bob: {epsilon: 1}}"))
    lines = clinic.dpsql("log", "clinic.yaml").out.splitlines()
    (refreshed,) = [line for line in lines if " refresh " in line]
    assert refreshed.endswith("version 1")
    (limits,) = [line for line in lines if " limits " in line]
    assert limits.endswith("total: epsilon 3; ana: epsilon 2.5; bob: epsilon 1")


def test_a_backup_restores_as_fully_spent_until_a_reset(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml").code == 0
    assert clinic.dpsql("ledger", "backup", "clinic.yaml", "copy.db").code == 0
    assert_one_clear_error(clinic.dpsql("ledger", "backup", "clinic.yaml", "copy.db"), "There is a file at copy.db")
    restored = clinic.dpsql("ledger", "restore", "clinic.yaml", "copy.db", "--reason", "disk died")
    assert (restored.code, "If tables were refreshed since it was made" in restored.out) == (0, True)
    assert "epsilon 0\n" in clinic.dpsql("budget", "clinic.yaml", "--analyst", "ana").out
    assert clinic.dpsql("budget", "clinic.yaml", "--reset", "--reason", "counted by hand").code == 0
    assert "epsilon 2\n" in clinic.dpsql("budget", "clinic.yaml", "--analyst", "ana").out


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_a_restored_ledger_of_older_tables_has_them_built_anew(clinic: Clinic) -> None:
    ask = ("query", "clinic.yaml", "--analyst", "ana", "SELECT COUNT(*) FROM visits")
    for words in (
        "refresh clinic.yaml", "ledger backup clinic.yaml copy.db", "refresh clinic.yaml", "refresh clinic.yaml",
        "ledger restore clinic.yaml copy.db --reason r", "budget clinic.yaml --reset --reason r",
    ):  # fmt: skip
        assert clinic.dpsql(*words.split()).code == 0
    assert_one_clear_error(clinic.dpsql(*ask), "dpsql refresh POLICY")
    assert clinic.dpsql("refresh", "clinic.yaml").code == 0
    assert clinic.dpsql(*ask).code == 0


def test_verify_is_content_with_a_sound_ledger_and_refuses_a_damaged_one(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml").code == 0
    assert clinic.dpsql("ledger", "verify", "clinic.yaml").out.startswith("The ledger is sound: ")
    ledger = clinic.folder / "ledger" / "clinic.ledger.db"
    ledger.write_bytes(b"\0" * len(ledger.read_bytes()))
    assert_one_clear_error(clinic.dpsql("ledger", "verify", "clinic.yaml"), "ledger")
    assert_one_clear_error(clinic.dpsql("log", "clinic.yaml"), "ledger")


def test_a_ledger_that_went_missing_is_not_silently_made_anew(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml").code == 0
    for file in (clinic.folder / "ledger").iterdir():
        file.unlink()
    assert_one_clear_error(clinic.dpsql("budget", "clinic.yaml"), "missing", "--reset")
