"""ROOMS.md: a line for each module of dpsql, made of the modules' own docstrings.

``python -m tests.rooms`` prints the page; `make schema` writes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["page"]

PACKAGE = Path(__file__).parents[1] / "dpsql"
BEGINNING = """# Every module, by its room

Made of docstrings by `make schema`. [ARCHITECTURE.md](ARCHITECTURE.md) says how the rooms hang together.
"""


def page(package: Path = PACKAGE) -> str:
    """The text of the page, for a package that lies at this path."""
    return "\n".join([BEGINNING, *_room(package, package.name)])


def _room(folder: Path, name: str) -> Iterator[str]:
    """A room's heading, its sentence and its modules, then the rooms inside."""
    yield f"## {name}/\n"
    yield f"{summary(folder / '__init__.py')}\n"
    for file in sorted(folder.glob("*.py")):
        if file.name != "__init__.py":
            yield f"- `{file.name}`: {summary(file)}"
    yield ""
    for inside in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from _room(inside, f"{name}/{inside.name}")


@cache
def summary(file: Path) -> str:
    """The first paragraph of a module's docstring, as one line."""
    said = ast.get_docstring(ast.parse(file.read_text())) or ""
    return " ".join(said.partition("\n\n")[0].split())


if __name__ == "__main__":
    print(page(), end="")
