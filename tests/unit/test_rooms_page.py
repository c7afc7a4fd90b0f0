"""dpsql/ROOMS.md is what the modules say of themselves, and dpsql/ARCHITECTURE.md has a place for each room."""

from __future__ import annotations

from tests.rooms import PACKAGE, page, summary

ARCHITECTURE = (PACKAGE / "ARCHITECTURE.md").read_text()


def test_the_page_is_made_from_the_modules_of_today() -> None:
    assert (PACKAGE / "ROOMS.md").read_text() == page(), "Run `make schema`."


def test_a_module_says_in_a_sentence_what_it_is() -> None:
    files = {file.relative_to(PACKAGE): summary(file) for file in PACKAGE.rglob("*.py")}
    silent = [str(file) for file, said in files.items() if not said.endswith((".", "`", ")"))]
    assert not silent, "End the first paragraph of their docstrings with a full stop."


def test_every_room_has_its_place_in_the_architecture() -> None:
    for file in PACKAGE.glob("*/**/__init__.py"):
        assert f"{file.parent.name}/" in ARCHITECTURE, f"Name {file.parent.relative_to(PACKAGE)}/ there."


def test_a_module_beside_the_rooms_has_its_place_in_the_architecture() -> None:
    for file in PACKAGE.glob("*.py"):
        assert file.name.startswith("__") or file.name in ARCHITECTURE, f"Name {file.name} in dpsql/ARCHITECTURE.md."
