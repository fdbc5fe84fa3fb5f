"""Real and messy tables through `check`, `fit`, `evaluate` and `report`: what is printed is right, and can be read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from reports.parsed import ParsedPage

import aldsurv
from aldsurv.cli.main import main

from .real_tables import DRAWN, REAL, TableCase

CASES = (*REAL, *DRAWN)
# A network takes seconds where a regression takes a tenth of one.
NETWORKS = {"gbsg2.csv": "ald", "veteran.csv": "lognormal", "gaps.csv": "deepsurv"}
QUICK = ("--set", "max_epochs=5", "--members", "1")
REPORTS = ("lung.csv", "bmt.csv", "stanford_heart.csv", "semicolon.csv", "one_event.csv")
# What no reader wants to see: numbers that are none or have too many digits, words of Python, one of several.
UNREADABLE = {
    "not a number": r"\bnan\b|\bNaN\b|\binf\b",
    "power of ten": r"\d[eE][+-]?\d\d\b",
    "digits": r"\b0\.0*[1-9]\d{6,}|[1-9]\d*\.\d{7,}|\d{12,}|\.000000",
    "word of Python": r"\bNone\b|\bTraceback\b|\bdata\[|<class|dtype|ndarray|[a-z]+_[a-z]+=(?:'|\d|True|False)",
    "one of several": r"(?<![\d.,] )(?<![\d.,])\b1 (?:rows|events|columns|persons|gaps)\b",
}
METRIC = re.compile(r"^(.{3,22}?) +(-?[\d.]+)  (-?[\d.]+) to (-?[\d.]+) ", re.M)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def require_readable(text: str, case: TableCase) -> None:
    # Values of the table are shown as they are.
    text = re.sub(r"such as .*", "", text)
    for what, pattern in UNREADABLE.items():
        found = re.search(pattern, text)
        assert found is None, f"{case.name}: {what} in {text[max(found.start() - 80, 0) : found.end() + 40]!r}"
    for title, value, lower, upper in METRIC.findall(text):
        assert float(lower) <= float(value) <= float(upper), (
            f"{case.name}: {title} {value} is not in {lower} to {upper}"
        )


def plain(text: str) -> str:
    return " ".join(text.split())


def run(capsys: pytest.CaptureFixture[str], case: TableCase, *arguments: str) -> str:
    code = main(arguments)
    output = capsys.readouterr()
    assert code == 0, output.err
    assert all(line.startswith("aldsurv: note: ") for line in output.err.splitlines()), output.err
    text = output.out + output.err
    require_readable(text, case)
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_table_of_others(case: TableCase, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    Path(case.name).write_bytes(case.content())
    frame = case.frame(Path(case.name))
    rows = len(frame)
    if case.refused:
        assert main(("fit", case.name, *case.options)) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert case.refused in line
        return
    model = NETWORKS.get(case.name, case.model)
    quick = QUICK if case.name in NETWORKS else ()
    shown = run(capsys, case, "check", case.name, *case.options)
    checked = plain(shown)
    assert f"{case.name}: {rows} rows, {frame.shape[1]} columns" in checked
    # The command that is suggested, as it is shown.
    suggested = shlex.split(shown.partition("\nNext\n")[2].replace("\\\n", " "))
    assert suggested[:3] == ["aldsurv", "fit", case.name]
    assert set(case.options) <= set(suggested)
    fitted = run(capsys, case, *suggested[1:], "--model", model, *quick, "--out", "m.aldsurv")
    assert f"{case.name}: {rows} rows, {frame.shape[1]} columns" in plain(fitted)
    parts = re.search(r"Fitted to (\d+) rows; on (\d+)(?: of \d+ persons)? held out \((\d+) events?\)", fitted)
    assert parts is None or int(parts[1]) + int(parts[2]) == rows
    assert parts is None or int(parts[3]) >= 50 or f"only {parts[3]} event" in fitted
    evaluated = run(capsys, case, "evaluate", "m.aldsurv", case.name, "--bootstrap", "20", *case.reading)
    if case.events is None:
        return
    events = case.events(frame)
    counted = f"{events} event{'s' * (events != 1)}"
    assert re.search(rf"\bevents {events} of (?:{rows} rows|\d+ persons) ", checked)
    assert f" {counted} (" in plain(fitted)
    assert f" {counted} (" in plain(evaluated)
    if "--stop" not in case.options:
        assert_concordance(case, evaluated)


def assert_concordance(case: TableCase, evaluated: str) -> None:
    """The C that is printed is the one of lifelines, by the ranks that the model predicts."""
    from lifelines.utils import concordance_index

    model = aldsurv.load("m.aldsurv")
    outcome = model.trained_on_.outcome
    if "time" not in outcome or "event_values" in outcome:
        return
    words = dict(zip(case.reading[::2], case.reading[1::2], strict=True))
    reading = {option.removeprefix("--"): word for option, word in words.items()}
    if "missing" in reading:
        reading["missing"] = reading["missing"].split(",")
    table = aldsurv.datasets.read_table(
        case.name, time=outcome["time"], event=outcome["event"], event_value=outcome.get("event_value"), **reading
    )
    risk = model.predict({name: table.x[name] for name in model.feature_names_in_})
    times = table.y.time
    if set(times[table.y.event]) & set(times[~table.y.event]):
        # A censored row at the time of an event: lifelines counts such a pair in another way.
        expected = pytest.importorskip("sksurv.metrics").concordance_index_censored(table.y.event, times, risk)[0]
    else:
        expected = concordance_index(times, -risk, table.y.event)
    printed = float(re.search(r"Harrell's C +([\d.]+)", evaluated)[1])
    assert printed == pytest.approx(expected, abs=6e-4)


@pytest.mark.usefixtures("quick_report")
@pytest.mark.parametrize("name", REPORTS)
def test_the_page_about_a_table_of_others(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2")
    (case,) = (case for case in CASES if case.name == name)
    Path(name).write_bytes(case.content())
    fit = ("fit", name, *case.options, *case.fit_options, "--model", case.model, "--out", "m.aldsurv", "--quiet")
    assert main(fit) == 0
    run(capsys, case, "report", "m.aldsurv", name, *case.reading, "--out", "page.html")
    html = Path("page.html").read_text(encoding="utf-8")
    page = re.sub(r"<(script|style|svg|head).*?</\1>|<[^>]+>", " ", html, flags=re.S)
    # The specification alone has as many digits as it takes to apply the model by hand.
    printed = re.sub(r'<section id="?model\b.*?</section>', " ", html, flags=re.S)
    require_readable(plain(re.sub(r"<(script|style|svg|head).*?</\1>|<[^>]+>", " ", printed, flags=re.S)), case)
    events = case.events(case.frame(Path(name)))
    assert re.search(rf"\b{events} events?\b|\bevents? {events}\b", plain(page))
    assert ParsedPage(html)


def test_there_are_thirty_real_tables_and_a_dozen_drawn_ones() -> None:
    assert len(REAL) >= 30
    assert len(DRAWN) >= 12
    assert len({case.name for case in CASES}) == len(CASES)
