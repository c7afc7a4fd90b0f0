"""dpsql shell: what its texts do, what it completes, and a transcript through a pseudo-terminal."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
import pytest

import dpsql
import dpsql.testing
from dpsql.cli.completing import Words
from dpsql.cli.dots import COMMANDS, Shell, is_whole
from tests.sql.databases import build
from tests.unit.cli.clinic import Clinic

COUNT = "SELECT COUNT(*) AS n FROM people"


@dataclass
class Screen:
    """What a shell printed."""

    told: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def take(self) -> str:
        """All that was told since it was last taken."""
        text, self.told[:] = "\n".join(self.told), []
        return text


@contextmanager
def working() -> Iterator[Callable[[str, float], None]]:
    yield lambda step, done: None


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.testing.TestProxy]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("shell")), dpsql.testing.Noiseless()) as opened:
        yield opened


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def shell(proxy: dpsql.testing.TestProxy, screen: Screen) -> Shell:
    return Shell(proxy.session(analyst="ana"), screen.told.append, screen.complaints.append, working)


def test_a_statement_is_answered_with_its_error_and_what_is_left(shell: Shell, screen: Screen) -> None:
    assert shell.take(f"{COUNT} WHERE age > 7;")
    told = screen.take()
    assert re.search(r"\d ± \d", told)
    assert "Cost: epsilon 1." in told
    assert re.search(r"^Left: epsilon \d", told, re.MULTILINE)
    assert not screen.complaints


def test_a_price_holds_until_it_is_taken_back(shell: Shell, screen: Screen) -> None:
    sql = f"{COUNT} WHERE age > 41;"
    for text in (".price 0.25", f".explain {sql}", ".price", ".price default", f".explain {sql}"):
        assert shell.take(text)
    told = screen.take()
    assert told.count("Each statement costs epsilon 0.25.") == 2  # once set, and once shown
    assert told.index("Cost: epsilon 0.25.") < told.index("statement costs epsilon 1.") < told.index("Cost: epsilon 1.")
    shell.take(".price much")
    assert screen.complaints == ["much is no price. Write an epsilon, such as .price 0.1, or .price default."]


def test_explain_without_a_statement_explains_the_last(shell: Shell, screen: Screen) -> None:
    shell.take(".explain")
    assert screen.complaints == ["Nothing was asked yet. Write .explain SELECT ..."]
    shell.take(f"{COUNT};")
    screen.take()
    shell.take(".explain")
    assert "The engine would run:" in screen.take()
    shell.take("SELECT age FROM people;")
    shell.take(".explain")
    assert len(screen.complaints) == 3  # a refused statement is the last one, too
    assert screen.complaints[1] == screen.complaints[2]


def test_commands_tell_what_the_session_knows(shell: Shell, screen: Screen) -> None:
    for text, told in (
        (".tables", "people"),
        (".tables people", "employed"),
        (".budget", "left for one query"),
        (".mechanisms", "laplace"),
        (".help", ".batch FILE"),
        ("help;", ".batch FILE"),
        ("\\d", "people"),
        ("\\d people", "employed"),
        ("\\?", ".batch FILE"),
    ):
        assert is_whole(text)
        assert shell.take(text)
        assert told in screen.take()
    assert not screen.complaints


def test_every_command_is_in_the_help_and_an_unknown_one_is_told_of_it(shell: Shell, screen: Screen) -> None:
    shell.take(".help")
    told = screen.take()
    assert all(command in told for command in COMMANDS)
    for text in (".nonsense", "\\x", ".intervals maybe", ".intervals", ".batch", ".batch none.sql", ".tables none"):
        assert shell.take(text)
    assert len(screen.complaints) == 7
    assert "There is no command .nonsense." in screen.complaints[0]
    assert "There is no command .x. Write .help" in screen.complaints[1]
    assert shell.refused


def test_the_page_names_every_command_and_no_other() -> None:
    page = (Path(__file__).parents[3] / "docs" / "shell.md").read_text()
    assert re.findall(r"^\| `(\.\w+)", page, re.MULTILINE) == [command.split()[0] for command in COMMANDS]


def test_the_last_answer_is_drawn(
    shell: Shell, screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell.take(".plot n.png")
    for text in (f"{COUNT};", ".plot n.png", ".plot", ".plot n.txt", ".plot none/n.png"):
        assert shell.take(text)
    assert "Wrote n.png." in screen.take()
    assert Path("n.png").read_bytes().startswith(b"\x89PNG")
    assert [complaint.split(".")[0] for complaint in screen.complaints] == [
        *("Nothing was answered yet", "Name a file for the picture: ", "n", "none/n"),
    ]


def test_intervals_become_columns(shell: Shell, screen: Screen) -> None:
    for text in (".intervals on", f"{COUNT};", "SET intervals = off;", f"{COUNT};"):
        assert shell.take(text)
    told = screen.take()
    assert told.count("n_low") == 1
    assert not screen.complaints


def test_a_batch_is_bought_once_one_is_sure(
    proxy: dpsql.testing.TestProxy, screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dash.sql").write_text(f"{COUNT} WHERE age > 51; SELECT employed, COUNT(*) AS n FROM people GROUP BY employed")
    session, answers = proxy.session(analyst="ana"), iter([False, True])
    shell = Shell(session, screen.told.append, screen.complaints.append, working, lambda question: next(answers))
    before = session.budget()
    shell.take(".batch dash.sql")
    assert "Nothing was bought." in screen.take()
    assert session.budget() == before
    shell.take(".batch dash.sql")
    assert screen.take().count("Cost: ") == 2
    assert session.budget() != before
    assert not screen.complaints


def test_several_statements_of_one_text_stop_at_the_first_refusal(shell: Shell, screen: Screen) -> None:
    assert shell.take(f"{COUNT}; SELECT age FROM people; {COUNT} WHERE age > 3;")
    assert screen.take().count("± is half") == 1
    assert len(screen.complaints) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"SHOW TABLES\n{COUNT}", True),
        (f"{COUNT}\nSHOW BUDGET", True),
        (f"{COUNT}\n{COUNT}", True),
        ("SELECT age\nFROM people", False),
        ("SHOW NOTHING", False),
    ],
)
def test_where_semicolons_are_missing_it_is_said_that_they_end_statements(
    shell: Shell, screen: Screen, text: str, told: bool
) -> None:
    assert shell.take(text)
    assert ("Statements end with a semicolon" in screen.complaints[0]) is told


def test_an_interrupt_says_what_is_left_and_the_next_statement_is_answered(
    proxy: dpsql.testing.TestProxy, screen: Screen
) -> None:
    @contextmanager
    def interrupted() -> Iterator[Callable[[str, float], None]]:
        raise KeyboardInterrupt
        yield

    session = proxy.session(analyst="ana")
    first = Shell(session, screen.told.append, screen.complaints.append, interrupted)
    assert first.take(f"{COUNT};")
    (complaint,) = screen.complaints
    assert complaint.startswith("Interrupted. What was charged stays charged.\nLeft: epsilon ")


@pytest.mark.parametrize("text", [".exit", ".quit", "exit", "QUIT", "exit;", " .exit ", "\\q"])
def test_leaving(shell: Shell, text: str) -> None:
    assert is_whole(text)
    assert not shell.take(text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [("", True), (".price 1", True), ("SELECT 1", False), ("SELECT 1;", True), ("SELECT 1; -- done", True),
     ("SELECT 1 -- ;", False), ("SELECT 1 /* ; */", False), ("SELECT ';", False), ("SELECT ';';", True),
     ("SELECT 1;\nSELECT 2", False), ("SELECT [1];", True)],
)  # fmt: skip
def test_a_semicolon_ends_a_text_that_is_one(text: str, whole: bool) -> None:
    assert is_whole(text) == whole


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("SELECT * FROM pe", ["people"]),
        ("DESCRIBE pe", ["people"]),
        (".tables pe", ["people"]),
        ("SELECT p.em FROM people p WHERE p.em", ["employed"]),
        ("SELECT people.em", ["employed"]),
        ("SELECT COUNT(*) FROM people WHERE emp", ["employed"]),
        ("SELECT mEdI", ["MEDIAN("]),
        ("SELECT nullif", ["NULLIF("]),
        ("SELECT COUNT(*) FROM people GRO", ["GROUP"]),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, del", ["delta"]),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'gaussian_", ["gaussian_threshold"]),
        ("SET interv", ["interval", "intervals"]),
        (".bu", [".budget"]),
        ("SELECT nothing_like_it", []),
    ],
)
def test_what_may_stand_next_is_offered(proxy: dpsql.testing.TestProxy, text: str, offered: list[str]) -> None:
    commands = [command.split()[0] for command in COMMANDS]
    assert Words.of(proxy.session(analyst="ana"), commands).next(text) == offered


ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>])")
FRESH = r"clinic>\S*\[8C"  # a prompt with nothing behind it


@pytest.mark.slow
@pytest.mark.chance(0, "another process draws, and nothing of the draws is asserted")
def test_a_transcript_through_a_terminal(clinic: Clinic) -> None:
    env = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "dpsql.cli", "shell", "clinic.yaml", "--analyst", "ana", "--epsilon", "0.25"],
        env=env, encoding="utf-8", dimensions=(40, 140), timeout=60,
    )  # fmt: skip

    def typed(text: str) -> str:
        child.send(text)
        child.expect(FRESH)
        return ESCAPES.sub("", child.before)

    def completed(begun: str, rest: str) -> None:
        child.send(f"{begun}\t")
        child.expect(rest)

    child.expect(FRESH)
    completed("SEL", "ECT")
    child.send(" COUNT(*) AS n\r")
    completed("FROM vis", "its")
    told = typed(";\r")
    assert re.search(r"\d ± \d+", told)
    assert "Cost: epsilon 0.25." in told
    assert "Left: epsilon 1.75." in told
    assert "clear it" in typed("SELECT this to clear it\x03")
    assert "Left: epsilon 1.75." in typed("\x1b[A\r")  # the arrow brings the last statement back, which is free now
    completed(".bud", "get")
    assert "epsilon 1.75" in typed("\r")
    assert "neither grouped by nor aggregated" in typed("SELECT cost FROM visits;\r")
    # Python ends by the signal, whoever handled it, where it came while a module was loaded that makes code of texts
    assert "mechanism" in typed("EXPLAIN SELECT AVG(cost) FROM visits;\r")
    child.send("SELECT AVG(cost) FROM visits;\r")
    child.expect("Asking")
    child.send("\x03")  # at work, or just after it: the ledger and the session are right in either case
    completed(".price 0.125\r.bud", "0.125.*get")
    assert re.search(r"left for one query.*epsilon 1\.(75|5)\b", typed("\r"), re.DOTALL)
    assert "Cost: epsilon 0.125." in typed("SELECT COUNT(*) AS other FROM visits WHERE cost > 7;\r")
    child.send("\x04")
    child.expect(pexpect.EOF)
    assert child.wait() == 0  # a busy machine takes its time to close the ledger
    child.close()
    assert clinic.dpsql("ledger", "verify", "clinic.yaml").out.startswith("The ledger is sound")
    history = Path(os.environ["XDG_STATE_HOME"]) / "dpsql" / "shell_history"
    assert "SELECT COUNT(*) AS n" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_a_pipe_is_read_to_its_end_and_a_refusal_is_the_exit_code(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ".price 0.25\nSELECT COUNT(*) AS n\n\nFROM visits;\nSELECT cost FROM visits;\n.budget"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    ran = clinic.dpsql("shell", "clinic.yaml", "--analyst", "ana")
    assert ran.code == 1
    assert "Cost: epsilon 0.25." in ran.out
    assert "epsilon 1.75" in ran.out
    assert ran.err.startswith("cost at 1:8: it is neither grouped by nor aggregated.")
