from __future__ import annotations

import base64
import hashlib
import math
import re
import sys
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from aldsurv.errors import MissingDependencyError, ParameterError
from aldsurv.files.writing import write_text
from aldsurv.reports.page.page import Facts, Page, Remarks, Section, Text, Tile, Tiles, page_templates, render_page
from aldsurv.reports.page.page_figures import Gallery, Picture, picture_of
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable, csv_text
from reports.parsed import ParsedPage

EVIL = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;{{ 7 * 7 }}"
SVG = "{http://www.w3.org/2000/svg}"
COLUMNS = (PageColumn("name", "Name"), PageColumn("size", "Size", numeric=True))


def page_of(*blocks) -> ParsedPage:
    return ParsedPage(render_page(Page("Title", "Lead", (Section("one", "One", blocks),))))


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_text_of_others_is_escaped(tmp_path):
    picture = picture_of(Figure(), tmp_path, "figure", caption=EVIL, alt=EVIL)
    column = PageColumn(EVIL, EVIL, meaning=EVIL)
    blocks = (
        Text(EVIL),
        Text(EVIL, warning=True),
        Facts(((EVIL, EVIL),)),
        Tiles((Tile(EVIL, EVIL, EVIL),)),
        Remarks(((EVIL, EVIL),)),
        PageTable(EVIL, EVIL, (column,), ((PageCell(EVIL, tone=EVIL, name=EVIL + "!"),),), about=EVIL, files=(EVIL,)),
        Gallery((picture,), wide=True),
    )
    html = render_page(Page(EVIL, EVIL, (Section("one", EVIL, blocks),), EVIL))
    found = ParsedPage(html)
    assert len(found.scripts) == 1
    assert "alert" not in found.scripts[0]
    assert [tag for tag, attributes in found.tags if "onerror" in attributes] == []
    assert sum(tag == "img" for tag, _ in found.tags) == 1
    shown = sum(text.strip() == EVIL for text in found.texts)
    # Title, lead, footer, section (heading, contents), texts, facts, tile, remark, table, figure.
    assert shown >= 17
    assert found.tables[EVIL].rows[0][0].text == EVIL
    assert found.tables[EVIL].rows[0][0].attributes["data-k"] == EVIL + "!"
    assert found.tables[EVIL].rows[0][0].attributes["class"] == EVIL
    assert found.tables[EVIL].caption == EVIL
    assert EVIL in found.values("alt")


def test_policy_allows_the_style_and_the_script_of_the_page_and_nothing_else():
    found = page_of(Text("text"))
    (policy,) = [attributes["content"] for _, attributes in found.tags if "http-equiv" in attributes]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(found.scripts[0])
    assert rules["style-src"] == digest(found.styles[0])
    assert rules["img-src"] == "data:"
    assert found.values("style") == []


def test_numbers_of_a_table_and_where_there_are_none():
    values = (0.1 + 0.2, math.nan, None, math.inf, -1e-30)
    table = PageTable("t", "Sizes", COLUMNS, tuple((PageCell(str(k)), PageCell("x", v)) for k, v in enumerate(values)))
    rows = page_of(table).tables["t"].rows
    assert [row[1].value for row in rows] == [pytest.approx(0.3, abs=1e-9), None, None, math.inf, -1e-30]
    assert rows[3][1].attributes["data-v"] == "Infinity"
    assert csv_text(table).split("\r\n") == [
        "name,size", "0,0.30000000000000004", "1,", "2,", "3,inf", "4,-1e-30", "",
    ]  # fmt: skip


def test_heads_have_what_the_script_needs():
    columns = (PageColumn("a", "A", filtered=True), PageColumn("b", "B", numeric=True))
    table = PageTable("t", "T", columns, ((PageCell("x", name="long x"), PageCell("1", 1.0, "best")),), main=True)
    found = page_of(table).tables["t"]
    assert "data-main" in found.attributes
    assert ["data-filter" in head.attributes for head in found.heads] == [True, False]
    assert [head.attributes.get("class") for head in found.heads] == [None, "n"]
    assert found.rows[0][1].attributes["class"] == "n best"
    assert csv_text(table) == "a,b\r\nlong x,1.0\r\n"


def test_rows_must_be_whole():
    with pytest.raises(ParameterError, match=r"cells of table 't' must be 2 per row, but row 1 has 1\."):
        PageTable("t", "T", COLUMNS, ((PageCell("a"), PageCell("b")), (PageCell("a"),)))


def test_a_picture_draws_what_its_file_draws(tmp_path):
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    ax.plot([0.123456, 1.987654, 3.5], [1e-3, 2.345678, 1.1], "o-", label="it's")
    ax.imshow([[0.1, 0.9], [0.4, 0.2]], extent=(0, 1, 0, 1))
    ax.set_title("A & B < C")
    ax.legend()
    picture = picture_of(figure, tmp_path, "drawing", caption="c", alt="a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drawing.png", "drawing.svg"]
    assert (tmp_path / "drawing.png").read_bytes().startswith(b"\x89PNG")
    start = "data:image/svg+xml,"
    assert picture.source.startswith(start)
    assert not set('<>"&#\n') & set(picture.source)
    short = ElementTree.fromstring(unquote(picture.source.removeprefix(start)))  # noqa: S314
    whole = ElementTree.fromstring((tmp_path / "drawing.svg").read_text())  # noqa: S314
    for tag in ("path", "use", "g", "clipPath", "image"):
        assert len(short.findall(f".//{SVG}{tag}")) == len(whole.findall(f".//{SVG}{tag}")), tag
    names = [node.attrib["id"] for node in short.iter() if "id" in node.attrib]
    assert len(set(names)) == len(names)
    uses = short.findall(f".//{SVG}use")
    assert uses
    assert {use.attrib["href"].removeprefix("#") for use in uses} <= set(names)
    clips = re.findall(r"url\(#([^)]*)\)", unquote(picture.source))
    assert clips
    assert set(clips) <= set(names)
    for one, other in zip(short.iter(f"{SVG}path"), whole.iter(f"{SVG}path"), strict=True):
        assert numbers(one.get("d", "")) == pytest.approx(numbers(other.get("d", "")), abs=0.01)
    for one, other in zip(uses, whole.iter(f"{SVG}use"), strict=True):
        assert placed(one) == pytest.approx(placed(other), abs=0.011)
    assert (picture.width, picture.height) == pytest.approx(
        [float(x) for x in whole.attrib["viewBox"].split()[2:]], abs=0.5
    )


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def placed(use: ElementTree.Element) -> list[float]:
    moved = re.fullmatch(r"translate\((\S+) (\S+)\)", use.attrib.get("transform", "translate(0 0)"))
    assert moved is not None
    return [float(use.attrib.get(axis, 0)) + float(by) for axis, by in zip("xy", moved.groups(), strict=True)]


def test_a_text_is_written_whole_or_not_at_all(tmp_path: Path):
    path = write_text(tmp_path / "a.txt", "first ± line\n")
    assert path.read_bytes() == "first ± line\n".encode()
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "x" * 100_000 + "\ud800")
    assert path.read_bytes() == "first ± line\n".encode()
    assert write_text(path, "second\r\n").read_bytes() == b"second\r\n"
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_without_jinja2_it_says_what_to_install(monkeypatch):
    page_templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r"pip install \"aldsurv\[reports\]\""):
        page_templates()


def test_a_source_that_would_end_its_attribute_is_refused():
    with pytest.raises(ParameterError, match="source of figure 'f' must have no '\"'"):
        Picture("f", "caption", "alt", 'data:image/png,x" onload="alert(1)', 1, 1)
