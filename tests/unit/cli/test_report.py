"""The owner's page by the command line."""

from __future__ import annotations

import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error

pytestmark = pytest.mark.chance(0, "the answer's noise is not looked at")


def test_the_page_is_one_file_that_tells_what_was_asked(clinic: Clinic) -> None:
    assert clinic.dpsql("query", "clinic.yaml", "SELECT COUNT(*) FROM visits", "--analyst", "ana").code == 0
    (clinic.folder / "owner.html").write_text("an older one, which everybody may read")
    (clinic.folder / "owner.html").chmod(0o644)
    assert clinic.dpsql("report", "clinic.yaml", "--out", "owner.html").out == "Wrote owner.html.\n"
    page = (clinic.folder / "owner.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "SELECT count(*) FROM &quot;visits&quot;" in page
    assert "25%" in page
    assert (clinic.folder / "owner.html").stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_is_said(clinic: Clinic) -> None:
    assert_one_clear_error(clinic.dpsql("report", "clinic.yaml", "--out", "no/owner.html"), "no/owner.html")
    assert clinic.dpsql("report", "clinic.yaml").code == 2
    assert clinic.dpsql("report", "clinic.yaml", "--out", "/dev/null").code == 0
