"""Progress of a build, where nobody looks at a terminal."""

from __future__ import annotations

import pytest

from dpsql.cli import running


def test_a_build_that_takes_long_leaves_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(running, "monotonic", lambda: now[0])
    with running.progress(lines=True) as step, running.progress() as silent:
        for now[0] in (100.0, 101.9, 102.0, 110.0, 131.9, 132.0, 133.0):
            step("visits\n", now[0] / 200)
            silent("visits", 0.5)
    said = capsys.readouterr()
    assert (said.out, said.err.splitlines()) == ("", ["visits : 51%", "visits : 66%"])
