"""What stands in a picture: every value and interval at its place, and in words what they are."""

from __future__ import annotations

import math
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Ellipse
from matplotlib.text import Text

from dpsql.answers.answer import Answer, public
from dpsql.answers.plots.picture import UNTOLD, Picture
from dpsql.answers.shown.extras import MissingExtra
from dpsql.errors import ProgrammingError
from dpsql.plan.types import ListOf, Type
from tests.unit.answers.plots.drawn import COORDINATE, COVARIANCE, DAYS, DEPARTMENTS, KEY, VALUE, answer_of

TEXT, INTEGER, REAL, DATE = Type.TEXT, Type.INTEGER, Type.REAL, Type.DATE
CITY, N, MEAN = ("city", TEXT, KEY), ("n", INTEGER, VALUE), ("mean", REAL, VALUE)


def panels(picture: Picture) -> list[Any]:
    return [axes for axes in picture.axes if axes.axison]


def whiskers(axes: Any, *, flat: bool) -> list[tuple[float, float, float]]:
    """The place and the ends of each."""
    found = []
    for lines in axes.collections:
        for ends in lines.get_segments() if isinstance(lines, LineCollection) else []:
            (x0, y0), (x1, y1) = ends
            found.append((y0, x0, x1) if flat else (x0, y0, y1))
    return found


def words(picture: Picture) -> str:
    """All that is written, panel after panel, then title and caption."""
    picture.draw_without_rendering()
    texts = [own.get_text() for own in picture.findobj(Text) if isinstance(own, Text)]
    return "\n".join(text.replace("\n", " ") for text in texts)


def test_bars_end_at_the_values_and_whiskers_at_the_intervals() -> None:
    (axes,) = panels(answer_of([CITY, N], [("Rome", 40), ("Troy", -7)]).plot())
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 40), (0, -7)]
    assert whiskers(axes, flat=True) == [(1, 38, 42), (0, -9, -5)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Rome", "Troy"]
    assert axes.get_xlim()[0] < -9
    assert axes.get_xlim()[1] > 42


def test_numbers_that_are_not_whole_are_points_whose_axis_need_not_hold_0() -> None:
    (axes,) = panels(answer_of([CITY, MEAN], [("Rome", 40.5), ("Troy", 41.25)]).plot())
    assert not axes.patches
    assert whiskers(axes, flat=True) == [(1, 38.5, 42.5), (0, 39.25, 43.25)]
    assert axes.get_xlim()[0] > 30


def test_a_histogram_stands_in_the_order_of_its_numbers_and_null_beyond_them() -> None:
    rows: list[tuple[Any, ...]] = [(20, 5), (10, 9), (None, 3)]
    (axes,) = panels(answer_of([("age", INTEGER, KEY), N], rows).plot())
    bars = sorted((bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in axes.patches)
    assert [place for place, _ in bars] == pytest.approx([10, 20, 40])
    assert [height for _, height in bars] == [9, 5, 3]
    assert "NULL" in [text.get_text() for text in axes.texts]


def test_a_line_runs_through_time_inside_its_band() -> None:
    rows = [(day, 5.0 + i) for i, day in enumerate(DAYS)]
    (axes,) = panels(answer_of([("day", DATE, KEY), MEAN], rows[::-1]).plot())
    days = [(day - DAYS[0]).days for day in DAYS]
    curves = [curve.get_xydata() for curve in axes.lines]
    for offset, curve in zip((-2, 2, 0), curves, strict=True):
        assert curve[:, 0] - curve[0, 0] == pytest.approx(days)
        assert curve[:, 1] == pytest.approx([value + offset for _, value in rows])
    assert axes.xaxis.get_major_formatter()(curves[0][0, 0]).startswith("2024")


def test_a_gap_breaks_the_line_and_the_band_and_what_stands_alone_keeps_a_whisker() -> None:
    values = [1.0, None, 3.0, None, 5.0, 6.0]
    rows = [(DAYS[0] + timedelta(i), value) for i, value in enumerate(values)]
    picture = answer_of([("day", DATE, KEY), MEAN], rows).plot()
    (axes,) = panels(picture)
    assert [ends[1:] for ends in whiskers(axes, flat=False)] == [(-1, 3), (1, 5)]
    assert "×: no value is known." in picture.caption


def test_an_ellipse_goes_around_the_box_of_intervals_that_fail_half_as_often() -> None:
    axis = [("x", REAL, COORDINATE), ("y", REAL, COORDINATE)]
    picture = answer_of(axis, [(1.0, 10.0)], half=0.95).plot()
    (ellipse,) = (own for own in panels(picture)[0].patches if isinstance(own, Ellipse))
    assert ellipse.center == pytest.approx((1, 10))
    assert (ellipse.width, ellipse.height) == pytest.approx((2 * 0.975 * math.sqrt(2),) * 2)  # 97.5% of half a width
    assert picture.caption.startswith("Each ellipse holds the noise-free point with at least 95% confidence.")


def test_three_coordinates_are_three_panels() -> None:
    axis = [("id", INTEGER, KEY), *((name, REAL, COORDINATE) for name in "xyz")]
    shown = panels(answer_of(axis, [(1, 1.0, 2.0, 3.0), (2, None, None, None)]).plot())
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in shown] == [("x", "y"), ("x", "z"), ("y", "z")]


def test_covariances_are_an_ellipse_along_their_main_direction() -> None:
    axis = [("variable", TEXT, KEY), ("x", REAL, COVARIANCE), ("y", REAL, COVARIANCE)]
    picture = answer_of(axis, [("x", 5.0, 4.0), ("y", 4.0, 5.0)]).plot()
    (axes,) = panels(picture)
    outer, inner = (own for own in axes.patches if isinstance(own, Ellipse))
    assert (inner.width, inner.height) == pytest.approx((6, 2))  # the matrix has the eigenvalues 9 and 1
    assert (outer.width, outer.height) == pytest.approx((12, 4))
    assert abs(math.tan(math.radians(inner.angle)) - 1) < 1e-9
    assert axes.get_title(loc="left") == "r = 0.80"
    assert picture.get_label() == "Covariances of x, y"


def test_two_keys_are_small_multiples_with_the_same_axes() -> None:
    keys = [("sex", TEXT, KEY), ("city", TEXT, KEY)]
    rows = [(sex, city, 10 * i + j) for i, sex in enumerate("FM") for j, city in enumerate(["Rome", "Troy", "Ur"])]
    shown = panels(answer_of([*keys, N], rows[:-1]).plot())
    assert [axes.get_title(loc="left") for axes in shown] == ["sex: F", "sex: M"]
    assert [[bar.get_width() for bar in axes.patches] for axes in shown] == [[0, 1, 2], [10, 11]]
    assert shown[0].get_xlim() == shown[1].get_xlim()


def test_names_that_look_alike_once_they_are_cut_or_null_stay_apart() -> None:
    keys = [("sex", TEXT, KEY), ("city", TEXT, KEY)]
    rows = [(sex, "x" * 40 + end, 5) for sex in (None, "NULL") for end in "abc"]
    shown = panels(answer_of([*keys, N], rows).plot())
    assert [len(axes.patches) for axes in shown] == [3, 3]


def test_of_many_groups_the_largest_are_drawn_and_the_picture_says_so() -> None:
    rows = [(f"city {i}", (i * 7919) % 302) for i in range(302)]
    picture = answer_of([CITY, N], rows).plot()
    assert sorted(bar.get_width() for bar in panels(picture)[0].patches) == [*range(262, 302)]
    assert "The 40 largest of 302 rows, by n; 262 more." in picture.caption


def test_many_panels_and_many_columns_are_counted() -> None:
    keys = [("sex", TEXT, KEY), ("city", TEXT, KEY)]
    rows = [(str(i), str(j), i * j) for i in range(11) for j in range(20)]
    picture = answer_of([*keys, N], rows).plot()
    assert len(panels(picture)) == 9
    assert "The 9 largest of 11 panels, by n; 2 more. The 15 largest of 20 groups, by n; 5 more." in picture.caption
    five = answer_of([CITY, *((f"m{i}", REAL, VALUE) for i in range(5))], [("Rome", *map(float, range(5)))])
    assert "The 4 first of 5 columns of numbers; 1 more." in five.plot().caption


def test_clipped_one_sided_and_missing_intervals_are_drawn_as_what_they_are() -> None:
    picture = DEPARTMENTS.plot()
    (axes,) = panels(picture)
    low, high = axes.get_xlim()
    assert whiskers(axes, flat=True) == [(4, 35, 45), (3, -8, 2), (2, low, 9), (0, low, high)]
    assert -100 < low < -8
    assert 45 < high < 200
    for told in ("An arrow: the interval goes on beyond", "×: no value is known.", "Cost: epsilon 0.5."):
        assert told in picture.caption


def test_a_picture_says_its_title_units_level_and_that_it_is_not_private() -> None:
    said = words(DEPARTMENTS.plot(title="Beds in use", units={"n": "beds"}))
    for told in (
        *("NOT PRIVATE: test sampler\nBeds in use".replace("\n", " "), "n [beds]", "40 ± 5", "NULL"),
        "Each whisker holds the noise-free value with 95% confidence.",
    ):
        assert told in said
    assert words(answer_of([CITY, N], [("Rome", 4), ("Ur", 3)]).plot(units={"n": "people"})).count("n [people]") == 2


def test_names_are_cut_and_no_text_is_a_formula() -> None:
    said = words(DEPARTMENTS.plot())
    assert "a department with a very long n…" in said
    assert r"\$x\$ <script>" in said  # matplotlib shows \$ as $


def test_an_answer_without_rows_says_so() -> None:
    picture = answer_of([CITY, N], []).plot()
    assert "The answer has no rows." in words(picture)
    assert picture.caption == "Cost: epsilon 0.5."


def test_what_has_no_known_error_says_so_and_what_is_exact_does_not() -> None:
    unknown = answer_of([CITY, N], [("Rome", 4), ("Ur", 3)], ends={1: []})
    assert unknown.plot().caption.startswith(UNTOLD)
    exact = public(("city", "people"), (TEXT, INTEGER), [("Rome", 4), ("Ur", 3)])
    assert exact.plot().caption == "Cost: nothing."


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "rows",
    [[(2**80,), (-(2**79),)], [(0,)], [(None,)], [(10**-12,)], [(math.inf,)], [(np.float64(2.5),)]],
)
def test_numbers_of_every_size_are_drawn(rows: list[tuple[Any, ...]]) -> None:
    answer_of([("x", REAL, VALUE)], rows, half=2.0**70).plot().draw_without_rendering()


def test_files_are_pictures_and_the_same_answer_is_the_same_file(tmp_path: Path) -> None:
    DEPARTMENTS.plot(tmp_path / "a.png")
    DEPARTMENTS.plot(tmp_path / "a.SVG")
    DEPARTMENTS.plot().save(tmp_path / "b.svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n")
    svg = (tmp_path / "a.SVG").read_text()
    assert svg == (tmp_path / "b.svg").read_text()
    assert "<script" not in svg
    assert "Each whisker holds" in "".join(ElementTree.fromstring(svg).itertext())


def test_a_picture_shows_itself_in_a_notebook() -> None:
    image, size = answer_of([N], [(5,)]).plot()._repr_png_()
    assert image.startswith(b"\x89PNG")
    assert size["width"] == 720


@pytest.mark.parametrize("name", ["a.pdf", "a", "png"])
def test_another_ending_is_told_what_to_write(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProgrammingError, match=r"is no name of a picture. Let it end in \.png or \.svg\."):
        DEPARTMENTS.plot(tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_an_answer_without_numbers_names_its_columns() -> None:
    words_only = public(("city", "mayor"), (TEXT, TEXT), [("Rome", "Numa")])
    with pytest.raises(ProgrammingError, match=r"no number to draw. Its columns are city, mayor\."):
        words_only.plot()


def test_an_answer_of_lists_alone_says_what_to_ask() -> None:
    lists = public(("q",), (ListOf(TEXT),), [(["a"],)])
    with pytest.raises(ProgrammingError, match=r"A list is not drawn: ask for each element as a column\."):
        lists.plot()


def test_a_unit_of_no_column_is_refused() -> None:
    with pytest.raises(ProgrammingError, match="no column 'm'"):
        DEPARTMENTS.plot(units={"m": "kg"})


@pytest.mark.parametrize("answer", [DEPARTMENTS, answer_of([N], [(5,)])])
def test_without_matplotlib_the_extra_is_named(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[plot\]'"):
        answer.plot()
