"""Random policy files: sound ones with mistakes of every kind, and files made to hurt whoever reads them.

Each must end in a policy, or in one `PolicyError` whose lines name a line of the file. It is run in a process of its
own, which may take little time and memory:

    python -m tests.attacks.random_files COUNT SEED
"""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dpsql.errors import PolicyError
from dpsql.policy import load_policy

__all__ = ["HOSTILE", "loaded", "tried"]

ROOT = Path(__file__).parents[2]
SOUND = (ROOT / "policies" / "hospital.yaml", ROOT / "tests" / "sql" / "policies" / "census.yaml")
MEMORY = 2 << 30  # Bytes of addresses for the process.
PATIENCE = 60.0
"""Seconds of the processor for one file: the largest that is read, 1 MiB, is nested or has a mistake a line. 200,000
keys take 25 on a busy machine, and twice as many twice as long; what grows faster than its file takes hours."""
TOLD = re.compile(r".*\.yaml:[0-9]+(:[0-9]+)?: .+; .+")
SCALARS = (
    "null",
    "~",
    "",
    "[]",
    "{}",
    "-1",
    "0",
    "1e999",
    "-1e-999",
    "9" * 70,
    "9" * 5000,
    "1e-70",
    "0x10",
    "0o7",
    "1_000",
    ".inf",
    ".nan",
    "true",
    "no",
    "2020-02-30",
    "2020-01-01T00:00:00Z",
    "12:30:45",
    "'",
    '"',
    '"\\0"',
    '"\\ud800"',
    '"\\U0010ffff"',
    "é",
    "\x00",
    "\x07",
    "\x7f",
    "\x85",
    "\u2028",
    "\ufeff",
    "\ufffe",
    "\U0001f600",
    "=",
    "<<",
    "!!binary aGk=",
    "!!python/object:os.system x",
    "!<tag:x> y",
    "&a x",
    "*a",
    "&a [*a]",
    "|",
    ">",
    "|2",
    "? x",
    "[",
    "{",
    "]",
    "}",
    "%",
    "@",
    "`",
    "- - -",
    "{a: 1, a: 2}",
    "[1, 2, 3]",
    "{<<: {a: 1}}",
    "<chain>",
    "[key]",
    "<columns>",
    "x" * 20_000,
)
"""Values in the place of sound ones."""
KEYS = (
    "version", "tables", "columns", "unit", "bounds", "<<", "? [a]", "1", "null", '""', "'\\'", "é", "key with words",
    "__class__", "<column>", "*a", "&k key", "true", "x" * 300, "\x00",
)  # fmt: skip
PLACES = re.compile(r"(?<=: )[^\s{\[][^,\n}#]*|\[[^\]\n]*\]|\{[^{}\n]*\}")
NAMES = re.compile(r"[\w*\"]+(?=:)")


def mutated(rng: random.Random) -> bytes:
    """A sound policy with one mistake or a few."""
    text = rng.choice(SOUND).read_text(encoding="utf-8")
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        text = rng.choice((_valued, _valued, _keyed, _keyed, _lined, _lined, _typed))(text, rng)
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        data = rng.choice((_bitten, _cut, _framed))(data, rng)
    return data


def _valued(text: str, rng: random.Random) -> str:
    """Another value."""
    found = rng.choice(list(PLACES.finditer(text)))
    return text[: found.start()] + rng.choice(SCALARS) + text[found.end() :]


def _keyed(text: str, rng: random.Random) -> str:
    """Another key, one of elsewhere or none of ours."""
    names = list(NAMES.finditer(text))
    found = rng.choice(names)
    other = rng.choice(KEYS) if rng.random() < 0.5 else rng.choice(names)[0]
    return text[: found.start()] + other + text[found.end() :]


def _lined(text: str, rng: random.Random) -> str:
    """Lines dropped, twice, elsewhere, or with another indentation."""
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[at : at + rng.choice((1, 1, 5))]
        case 1:
            lines[other:other] = lines[at : at + rng.choice((1, 1, 8))]
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = rng.choice((" ", "  ", "\t", "- ", "    ")) + lines[at]
        case _:
            lines[at] = lines[at].lstrip()
    return "\n".join(lines)


def _typed(text: str, rng: random.Random) -> str:
    """A slip of the finger anywhere."""
    at = rng.randrange(len(text))
    slip: str = rng.choice((*SCALARS[:-1], *":,#&*!|>'\"%@`[]{}?-\t\r \x00", "\ud800"))
    return text[:at] + slip + text[at + rng.choice((0, 1)) :]


def _bitten(data: bytes, rng: random.Random) -> bytes:
    """A byte that is another."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    """The beginning alone."""
    return data[: rng.randrange(len(data) + 1)]


def _framed(data: bytes, rng: random.Random) -> bytes:
    """As other systems write files."""
    return rng.choice(
        (
            data.replace(b"\n", b"\r\n"),
            data.replace(b"\n", b"\r"),
            b"\xef\xbb\xbf" + data,
            b"\xef\xbb\xbf" * 2 + data,
            data.decode("utf-8", "replace").encode("utf-16"),
            data.decode("utf-8", "replace").encode("utf-32"),
            b"\xff\xfe" + data,
            data + b"\x00",
            data + b"\n---\n" + data,
            data + b"\n...\n",
            bytes(rng.randrange(256) for _ in range(rng.choice((0, 1, 10, 1000)))),
        )
    )


def _laughs() -> str:
    """Aliases of lists of aliases: ten to the ninth values in a few lines."""
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines)


def _lines(text: str) -> str:
    """As many lines of this as a policy may hold."""
    return "".join(text.format(number) for number in range(2**20 // (len(text) + 5)))


HOSTILE: dict[str, Callable[[], str | bytes]] = {
    "nothing": lambda: "",
    "a billion laughs": _laughs,
    "aliases in a circle": lambda: "a: &a [*a, *a]\nb: *a\n",
    "merged keys": lambda: "a: &a {x: 1}\n" + "b: {<<: [*a, *a, *a]}\n",
    "brackets": lambda: "[" * 100_000,
    "braces": lambda: "{a: " * 50_000,
    "closed brackets": lambda: "[" * 300 + "]" * 300,
    "a deep mapping": lambda: "\n".join(" " * depth + "a:" for depth in range(1200)),
    "a list of lists": lambda: "- " * 100_000,
    "question marks": lambda: "? " * 100_000,
    "many unknown keys": lambda: "version: 1\n" + _lines("unknown{}: 1\n"),
    "many keys twice": lambda: "a: 1\n" * (2**20 // 5),
    "many tables": lambda: "version: 1\ntables:\n" + _lines("  t{}: 3\n"),
    "many columns": lambda: "tables:\n  t:\n    columns:\n" + _lines("      c{}: {{}}\n"),
    "many values": lambda: "tables: {t: {columns: {c: {type: text, values: [" + _lines("v{}, ") + "]}}}}",
    "a long line": lambda: "name: " + "x" * (2**20 - 6),
    "a long number": lambda: "version: " + "9" * (2**20 - 9),
    "a long fraction": lambda: "version: 0." + "1" * (2**20 - 11),
    "a large exponent": lambda: "budget: {total: {epsilon: 1e999999999}}",
    "a long comment": lambda: "#" * 2**20,
    "spaces": lambda: " " * 2**20,
    "ends of lines": lambda: "\n" * 2**20,
    "quotes": lambda: '"' + "\\x41" * (2**18 - 1) + '"',
    "anchors": lambda: _lines("- &a{} x\n"),
    "documents": lambda: "---\n" * 2**18,
    "too large": lambda: "#" * (2**20 + 1),
    "nul": lambda: b"\x00" * 1000,
    "not utf-8": lambda: b"version: \xff\xfe\x80",
    "half a letter": lambda: b"version: \xed\xa0\x80",
}
"""Files that are made to hurt, each 1 MiB at most, for more is not read."""
LARGE = 10_000  # Bytes: larger ones are read where thousands are.
MANY = 1000


class TooLong(Exception):  # noqa: N818
    """A file took more than `PATIENCE`."""


def complaint(content: bytes, file: Path) -> tuple[str, bool]:
    """What is wrong with how a file was read, '' for nothing; and whether it is a policy."""
    file.write_bytes(content)
    try:
        load_policy(file)
    except PolicyError as error:
        told = str(error)
        first, *more = told.splitlines()
        well = TOLD.fullmatch(first) and all(TOLD.fullmatch(line) or line.endswith("mend these first") for line in more)
        whole = all(line.isprintable() for line in told.split("\n"))
        size = "larger than 1 MiB" in told
        return ("" if (well or size) and whole else f"no line, or no remedy: {told[:300]}"), False
    except TooLong:
        return f"it took more than {PATIENCE:.0f} s", False
    except Exception as error:  # noqa: BLE001 - whatever is not in the tree of errors is a finding
        return f"{type(error).__name__}: {str(error)[:300]}", False
    return "", True


def loaded(files: Iterator[tuple[str, bytes]]) -> tuple[Counter[str], list[str]]:
    """How many files were policies and how many refused, and what is wrong with how they were read."""

    def late(*_: object) -> None:
        raise TooLong

    seen, wrong = Counter[str](), []
    signal.signal(signal.SIGVTALRM, late)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
            started = time.process_time()
            found, policy = complaint(content, Path(folder) / "p.yaml")
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            seen["policies" if policy else "refused"] += 1
            seen["longest, ms"] = max(seen["longest, ms"], round(1000 * (time.process_time() - started)))
            if found:
                wrong.append(f"{name}: {found}")
    return seen, wrong


def _files(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """The sound files, so many mutated ones, and those that are made to hurt; the large ones where there are many."""
    for sound in SOUND:
        yield sound.name, sound.read_bytes()
    for number in range(count):
        content = mutated(random.Random(f"file {seed} {number}"))
        yield f"file {number} of seed {seed}: {content[:2000]!r}", content
    for name, make in HOSTILE.items():
        made = make()
        if len(made) <= LARGE or count >= MANY:
            yield name, made.encode() if isinstance(made, str) else made


def tried(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """The same in a process of its own, which ends where it takes more memory than it may."""
    call = [sys.executable, "-m", "tests.attacks.random_files", str(count), str(seed)]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen, wrong = json.loads(done.stdout)
    return Counter(seen), wrong


def main(arguments: Sequence[str]) -> None:
    """Prints what was seen, and what is wrong."""
    count, seed = map(int, arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print(json.dumps(loaded(_files(count, seed))))


if __name__ == "__main__":
    main(sys.argv[1:])
