"""Lays out the pages for zensical: ``python docs/site.py FOLDER`` (`make docs`).

The pages of docs/ link to files beside them, such as policies/hospital.yaml. The site has copies of those files, under
files/, and so no link leads out of it; SECURITY.md is a page of it. What the navigation does not name is an error: no
page may be lost.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
CONFIGURATION = DOCS / "zensical.toml"
PAGES = {"README.md": "index.md", "SECURITY.md": "security.md"}  # Files outside of docs/ that the site has as pages.
OUTSIDE = re.compile(r"\]\(\.\./([^)#]+)(#[^)]*)?\)")


def lay_out(folder: Path) -> None:
    """Fills a folder with the configuration and the pages, as zensical reads them.

    Raises:
        SystemExit: A page is lost, or a link leads nowhere.
    """
    pages = folder / "docs"
    if pages.exists() and not (folder / CONFIGURATION.name).exists():
        raise SystemExit(f"{pages} was not made by this script, and would be lost. Name another folder.")
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.py", "*.toml", "__pycache__"))
    shutil.copy(CONFIGURATION, folder)
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    (pages / "security.md").write_text(security.replace("](docs/", "]("), encoding="utf-8")
    written = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    named = set(_named(tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))["project"]["nav"]))
    if lost := sorted(written ^ named):
        raise SystemExit(f"docs/zensical.toml and the pages differ in: {', '.join(lost)}. Name each page in nav once.")
    for page in pages.rglob("*.md"):
        page.write_text(OUTSIDE.sub(lambda link: _inside(link, pages), page.read_text(encoding="utf-8")), "utf-8")


def _named(nav: Any) -> Iterator[str]:
    """The pages of a navigation, in order."""
    match nav:
        case str():
            yield nav
        case list():
            for part in nav:
                yield from _named(part)
        case dict():
            for part in nav.values():
                yield from _named(part)


def _inside(link: re.Match[str], pages: Path) -> str:
    """A link out of docs/, to a copy of the file that it leads to."""
    file = ROOT / link[1]
    if link[1] in PAGES:
        return f"]({PAGES[link[1]]}{link[2] or ''})"
    if not file.is_file():
        raise SystemExit(f"A page links to {link[1]}, which is no file. Link to a file, or write its name as code.")
    copy = pages / "files" / link[1]
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, copy)
    return f"](files/{link[1]})"


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
