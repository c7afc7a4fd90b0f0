"""What notebooks show: tables that no theme hides, refusals without frames; and a notebook run by a real kernel."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import dpsql
import dpsql.testing
from dpsql.answers.shown.markup import EMPTY
from dpsql.errors import InvariantBroken, UnsupportedQuery
from tests.sql.databases import build
from tests.unit.test_readme import ROOT, imported

COUNT = "SELECT employed, COUNT(*) AS n FROM people GROUP BY employed"
HOSTILE = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """The texts of some HTML, whose elements must all be closed in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.styles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        self.styles += [value or "" for name, value in attrs if name == "style"]
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(shown: str) -> str:
    """What a reader sees, of HTML that leaves all colours to the page."""
    reader = Reader()
    reader.feed(shown)
    assert not reader.open
    for style in reader.styles:
        colours = re.findall(r"(?:color|background)\s*:\s*([^;]+)", style)
        assert {*colours} <= {"inherit", "transparent"}, style
    return " ".join(" ".join(reader.texts).split())


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.testing.TestProxy]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("notebook")), dpsql.testing.Noiseless()) as opened:
        yield opened


@pytest.fixture(scope="module")
def session(proxy: dpsql.testing.TestProxy) -> dpsql.Session:
    return proxy.session(analyst="ana")


def test_an_answer_shows_values_with_errors_its_cost_and_what_is_left(session: dpsql.Session) -> None:
    answer = session.query(COUNT, epsilon=0.5)
    told = read(answer._repr_html_())
    assert re.search(r"employed n false \d+ ± 12 true \d+ ± 12 2 rows\. Cost: epsilon 0\.5\. Left: epsilon \d+", told)
    assert "± is half the width of a 95% confidence interval" in told
    assert told.startswith("NOT PRIVATE: test sampler")
    assert f"Left: {session.budget().cells()[2]}." in told


def test_text_is_escaped_and_public_rows_have_nothing_left_to_tell(session: dpsql.Session) -> None:
    shown = session.query(
        f"SELECT district, '{HOSTILE.replace(chr(39), chr(39) * 2)}' AS x FROM districts"
    )._repr_html_()
    assert HOSTILE in read(shown)
    assert "<script" not in shown
    assert "Left" not in read(shown)


def test_notes_are_folded(session: dpsql.Session) -> None:
    answer = session.query("SELECT MAX(age) AS oldest FROM people", epsilon=1)
    assert answer.notes
    shown = answer._repr_html_()
    assert shown.index("<details") < shown.index("it rests on the outermost rows")


def test_quotes_show_their_cost_and_fold_the_rest(session: dpsql.Session) -> None:
    quote = session.explain(COUNT, epsilon=0.25)
    told = read(quote._repr_html_())
    assert "What it would cost column mechanism" in told
    assert "Cost: epsilon 0.25." in told
    assert "What the engine would run" in told
    assert repr(quote) == str(quote)
    both = session.quote([COUNT, "SELECT COUNT(*) AS n FROM people WHERE age > 30"], epsilon=0.25)
    assert "Cost together: epsilon 0.5. One by one: epsilon 0.5." in read(both._repr_html_())
    assert repr(both) == str(both)


def test_budgets_sessions_and_proxies_show_what_is_left(proxy: dpsql.testing.TestProxy, session: dpsql.Session) -> None:
    left = session.budget().cells()[2]
    assert left in read(session.budget()._repr_html_())
    told = read(session._repr_html_())
    assert told.startswith("The session of ana spent limit left for one query")
    assert left in told
    assert "people private person_id" in told
    owners = read(proxy._repr_html_())
    assert "all together" in owners
    assert "districts public" in owners
    for shown in (session, proxy):
        assert len(repr(shown)) < 120


def test_what_is_closed_still_shows_itself(tmp_path: Path) -> None:
    with dpsql.testing.open(build("census", tmp_path), dpsql.testing.Noiseless()) as proxy:
        session = proxy.session(analyst="ana")
        answer = session.query(COUNT, epsilon=0.5)
    for shown in (answer, session, proxy):
        assert "This proxy was closed" in read(shown._repr_html_())
    assert "Cost: epsilon 0.5." in read(answer._repr_html_())


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    own = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield own
    own.clear_instance()


def test_a_refusal_is_its_words_and_the_line_of_the_cell(
    session: dpsql.Session, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.push({"session": session})
    shell.run_cell('x = 1\nsession.query("SELECT age FROM people")', store_history=False)
    told = capsys.readouterr().out.strip().splitlines()
    assert told[0].startswith("UnsupportedQuery: age at 1:8: ")
    assert told[1:] == ['    line 2: session.query("SELECT age FROM people")']


def test_a_bug_keeps_its_frames() -> None:
    def broken() -> None:
        raise InvariantBroken("a bug")

    with pytest.raises(InvariantBroken) as caught:
        broken()
    assert "in broken" in "".join(caught.value._render_traceback_())
    refused = UnsupportedQuery("no.", construct="x")
    assert refused._render_traceback_() == ["UnsupportedQuery: x: no."]


CELLS = (
    "import dpsql\nproxy = dpsql.open('hospital.yaml')\nproxy",
    "session = proxy.session(analyst='ana')\nsession",
    "session.explain('SELECT COUNT(*) AS n FROM patients', epsilon=0.1)",
    "answer = session.query('SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex', epsilon=0.1)\nanswer",
    "answer.plot()",
    "session.budget()",
    "session.query('SELECT * FROM patients')",
    "session.query('SELECT COUNT(*) FROM visits', epsilon=100)",
    "proxy.close()",
)


@pytest.mark.slow
@pytest.mark.chance(0, "another process draws, and nothing of the draws is asserted")
@pytest.mark.filterwarnings("default")  # those of the kernel's own libraries
def test_a_notebook_runs_in_a_real_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat.v4")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shutil.copy(ROOT / "policies" / "hospital.yaml", tmp_path)
    imported(ROOT / "examples" / "hospital.py").build(tmp_path / "hospital.duckdb", patients=300, visits=900)
    book = nbformat.new_notebook(cells=[nbformat.new_code_cell(code) for code in CELLS])
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=120, allow_errors=True, kernel_name="python3", resources=resources).execute()
    outputs = [cell.outputs for cell in book.cells]
    for place in (0, 1, 2, 3, 5):
        assert outputs[place][0].output_type == "execute_result", outputs[place]
        read(outputs[place][0].data["text/html"])
    assert "Left: epsilon 7.9, delta 2.5e-07." in outputs[3][0].data["text/html"]
    assert outputs[4][0].data["image/png"]
    for place, kind in ((6, "UnsupportedQuery"), (7, "BudgetExceeded")):
        (error,) = outputs[place]
        assert error.ename == kind
        assert len(error.traceback) == 2
        assert error.traceback[1].startswith("    line 1: session.query(")
