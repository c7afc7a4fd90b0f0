"""Is this still a simple house? It counts the code, and fails above its limits.

`make check` runs this file as a script: no long file or function, no two public classes of one name, no constant with a
number that no sentence explains, and for each module of dpsql its tests: at its own path below tests/unit, or where a
line of its docstring or of its room's says.
``python -m tests.house --passed`` also counts the modules that statements pass, and the files that name one thing.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import statistics
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpsql.session import Session

__all__ = ["broken", "named", "passed", "unexplained"]

MOST_LINES_OF_A_FILE = 400
"""In lines, tests included: what can be read in one sitting. A guess."""

MOST_LINES_OF_A_FUNCTION = 60
"""In lines, from its def to its end: one screen. A guess."""

WORDS: Mapping[str, str] = {
    "an aggregate": "covar_pop",
    "an option": "min_privacy_units_per_group",
    "an engine": "duckdb",
    "a mechanism": "exponential",
    "a kind of loss": "PerClass",
    "an output format": "to_json",
    "a table function": "dp_covariance",
}
"""One of each, for `named`."""


def modules(*rooms: str) -> dict[Path, ast.Module]:
    """The modules below the rooms, read."""
    return {file: ast.parse(file.read_text()) for room in rooms for file in sorted(Path(room).rglob("*.py"))}


def functions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Each function's number of lines and its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1, node.name


def classes(trees: Mapping[Path, ast.Module]) -> dict[str, list[Path]]:
    """The public classes by name, with the modules that define them."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(file)
    return found


def tests_of(file: Path, tree: ast.Module) -> list[Path]:
    """Where a module's tests lie: at its own path, or where its docstring says, or that of its room."""
    own = Path("tests/unit") / file.relative_to("dpsql")
    own = own.parent if file.name == "__init__.py" else own.with_name(f"test_{own.name}")
    if own.exists():
        return [own]
    for said in (tree, ast.parse(file.with_name("__init__.py").read_text())):
        if line := re.search(r"^Tests: (.*)\.$", ast.get_docstring(said) or "", re.MULTILINE):
            return [Path(name) for name in line[1].split(", ")]
    return [own]


def unexplained(text: str) -> list[str]:
    """The constants of a module that no sentence explains, though they hold a number other than 0 and 1 or a comment.

    The sentence stands in a comment beside or above the constant, or in a string below it. It begins with a capital
    letter, or with a name in code, and ends with a full stop. Comments for tools do not count.
    """
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT]
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens if not _for_tools(token.string)}
    alone = {token.start[0] for token in tokens if token.line.lstrip().startswith("#")}
    body = ast.parse(text).body
    found = []
    for node, below in zip(body, [*body[1:], ast.Pass()], strict=True):
        beside = [comments.get(line or 0, "") for line in (node.lineno, node.end_lineno)]
        if not (names := _constants(node)) or not (any(beside) or any(map(_telling, ast.walk(node)))):
            continue
        first = node.lineno
        while first - 1 in alone:
            first -= 1
        above = " ".join(comments.get(line, "") for line in range(first, node.lineno))
        if not any(map(_sentence, [above, *beside, _text(below)])):
            found += names
    return found


def _constants(node: ast.stmt) -> list[str]:
    """The names in capitals that a statement gives a value."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return [name.id for name in names if name.id.isupper() and isinstance(name.ctx, ast.Store)]


def _for_tools(comment: str) -> bool:
    return re.match(r"# (fmt|noqa|type):? ?", comment) is not None


def _telling(node: ast.AST) -> bool:
    """Whether it is a number that says something: 0 and 1 mostly say nothing."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in (0, 1)


def _sentence(text: str) -> bool:
    return re.fullmatch(r"[A-Z`].*\.", " ".join(text.split())) is not None


def broken(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Where the house is above its limits."""
    for file, tree in trees.items():
        lines = len(file.read_text().splitlines())
        if lines > MOST_LINES_OF_A_FILE:
            yield f"{file} has {lines} lines; split it at {MOST_LINES_OF_A_FILE}"
        for length, name in functions(tree):
            if length > MOST_LINES_OF_A_FUNCTION:
                yield f"{file}: {name} has {length} lines; split it at {MOST_LINES_OF_A_FUNCTION}"
    product = {file: tree for file, tree in trees.items() if file.parts[0] == "dpsql"}
    for name, files in classes(product).items():
        if len(files) > 1:
            yield f"{len(files)} classes are called {name}: {', '.join(map(str, files))}; give one word one meaning"
    for file in product:
        for name in unexplained(file.read_text()):
            yield f"{file}: no sentence says what {name} is; write one beside or below it, with its unit and origin"
    for file, tree in product.items():
        for place in tests_of(file, tree):
            if not place.exists():
                yield f"{file} has no tests at {place}; write them there, or a line 'Tests: PATH.'"


def named(word: str, trees: Mapping[Path, ast.Module]) -> list[Path]:
    """The modules of dpsql whose code, not its docstrings, names a thing."""
    return [
        file
        for file, tree in trees.items()
        if file.parts[0] == "dpsql" and re.search(rf"\b{word}\b", ast.unparse(_bare(tree)))
    ]


def _bare(tree: ast.Module) -> ast.Module:
    """The module without what only people read."""
    for node in ast.walk(tree):
        if hasattr(node, "body") and isinstance(node.body, list):
            node.body = [part for part in node.body if not _text(part)] or [ast.Pass()]
    return tree


def _text(node: ast.AST) -> str:
    """The string that stands there alone, for people to read, if it is one."""
    match node:
        case ast.Expr(ast.Constant(str() as text)):
            return text
    return ""


def passed(session: Session, sql: str, **options: Any) -> set[str]:
    """The modules of dpsql in which something runs while a statement is answered, in this process."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and "/dpsql/" in code.co_filename:
            seen.add(code.co_filename)

    sys.setprofile(note)
    try:
        session.query(sql, **options)
    finally:
        sys.setprofile(None)
    return seen


def count_passed() -> Iterator[tuple[str, int]]:
    """What statements pass: plain, the same again, under a metric, and a function of a whole table."""
    from dpsql import testing
    from tests.unit.mechanisms.metric.homes import opened, policy

    kmeans = (
        "EXPLAIN SELECT * FROM dp_kmeans((SELECT age, age AS b FROM people), k => 2, bound => 9, scale => (0.1, 9))"
    )
    plain = "SELECT sex, AVG(age) FROM people GROUP BY sex"
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), policy(), testing.Noiseless()) as proxy:
        session = proxy.session(analyst="ana")
        yield "a plain statement", len(passed(session, plain, epsilon=0.5))
        yield "the same again", len(passed(session, plain, epsilon=0.5))
        yield "a metric statement", len(passed(session, plain, metric="home", multiple=0.5))
        yield "dp_kmeans", len(passed(session, kmeans, epsilon=1, delta=1e-9))


def main() -> int:
    """Prints the counts; 1 where the house is above its limits."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--passed", action="store_true", help="also run statements, and count what they pass")
    arguments = reader.parse_args()
    trees = modules("dpsql", "tests")
    product = {file: tree for file, tree in trees.items() if file.parts[0] == "dpsql"}
    sizes = [len(file.read_text().splitlines()) for file in product]
    lengths = [length for tree in product.values() for length, _ in functions(tree)]
    problems = list(broken(trees))
    print(*problems, sep="\n", end="\n" if problems else "")
    print(
        f"The house: {len(sizes)} files, median {statistics.median(sizes):.0f} lines, longest {max(sizes)}; "
        f"{len(lengths)} functions, median {statistics.median(lengths):.0f}, longest {max(lengths)}."
    )
    if arguments.passed:
        for what, word in WORDS.items():
            print(f"Files that name {what} ({word}): {len(named(word, trees))}.")
        for what, count in count_passed():
            print(f"Modules that {what} passes: {count}.")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
