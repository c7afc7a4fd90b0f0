"""``dpsql user``: a token alone on standard output, a list without tokens, one clear error."""

from __future__ import annotations

import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error

pytestmark = pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")


def test_users_are_added_listed_and_removed(clinic: Clinic) -> None:
    added = clinic.dpsql("user", "add", "clinic.yaml", "ana")
    token = added.out.rstrip("\n")
    assert (added.code, added.err, len(token.split())) == (0, "", 1)
    owner = clinic.dpsql("user", "add", "clinic.yaml", "--owner").out.strip()
    kept = clinic.folder / "ledger/clinic.ledger.db.users"
    assert kept.stat().st_mode & 0o777 == 0o600
    listed = clinic.dpsql("user", "list", "clinic.yaml").out
    assert "ana" in listed
    assert "the owner" in listed
    assert token not in listed + kept.read_text()
    assert owner not in listed + kept.read_text()
    assert clinic.dpsql("user", "remove", "clinic.yaml", "ana").out == "Removed ana.\n"
    assert "ana" not in clinic.dpsql("user", "list", "clinic.yaml").out


def test_wrong_names_get_one_clear_error(clinic: Clinic) -> None:
    assert_one_clear_error(clinic.dpsql("user", "add", "clinic.yaml", "eve"))
    assert_one_clear_error(clinic.dpsql("user", "remove", "clinic.yaml", "ana"))
    for wrong in ([], ["ana", "--owner"]):
        assert clinic.dpsql("user", "add", "clinic.yaml", *wrong).code == 2
