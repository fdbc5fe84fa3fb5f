"""Tables against numbers computed by hand, and their texts read back."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np
import pytest

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.figure_data import (
    calibration_extremes,
    figure_curves,
    figure_values,
    published_figure_values,
)
from aldsurv.benchmark.paper.published import published_results
from aldsurv.benchmark.paper.published_datasets import published_datasets
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import PAPER_METRICS, POINT_METRICS, Curve, Result, Results, Series
from aldsurv.benchmark.tables import (
    BenchmarkTable,
    NumberCell,
    calibration_columns_table,
    datasets_table,
    definitions_table,
    format_cell,
    full_table,
    grouping_table,
    infinite_time_table,
    mass_below_zero_table,
    ranking_table,
    recipes_table,
    seconds_table,
    summary_table,
    to_csv,
    to_latex,
    to_markdown,
    verdict_table,
)
from aldsurv.datasets import describe, load, names
from aldsurv.errors import ParameterError

NAN, INF = math.nan, math.inf
OF_RESULTS = [
    full_table, recipes_table, definitions_table, grouping_table, summary_table, mass_below_zero_table,
    infinite_time_table, verdict_table, calibration_columns_table, ranking_table,
]  # fmt: skip
# Every character that one of the formats gives a meaning to.
NASTY = '50 % of |x| < 1_000 & #1 {a}~^\\$ *b* [c], "q"'


@pytest.fixture(scope="module")
def results() -> Results:
    """Published means plus half a published standard deviation, on all seeds; and what stands beside them."""
    rows: list[Result] = []
    curves: list[Curve] = []
    offsets = np.array([-2.0, 0.0, 2.0])
    for (dataset, model, metric), (mean, sd) in published_results().items():
        if dataset not in ("weibull", "whas", "support"):
            continue
        kinds = ("released", "printed") if dataset == "weibull" else ("real",)
        variants = ("row", "group", "group, without case") if dataset == "whas" else ("row",)
        for definition in kinds:
            for variant in variants:
                for recipe, more in (("paper", 0.5), ("best", -0.5)):
                    one = Series(dataset, definition, variant, model, recipe)
                    for seed, offset in enumerate(offsets):
                        for add, point in enumerate(("mean", "median", "mode") if metric in POINT_METRICS else ("",)):
                            # The summary that the paper took has the published value.
                            taken = add if model in ("ald", "lognormal") else add - 1
                            value = mean + sd * (more + offset) + (taken if metric in POINT_METRICS else 0)
                            rows.append(Result(one, seed, point, metric, value))
                        if metric == "mae":
                            rows.append(Result(one, seed, "", "f0_p50", 1e-6 * (seed + 1)))
                            shares = (0.1, 0.5, 1.0)
                            observed = tuple(share + 0.01 * seed for share in shares)
                            curves.append(Curve(one, seed, "survival", shares, observed))
    return Results(rows, curves)


def columns(table: BenchmarkTable, *wanted: str) -> list[tuple]:
    places = [table.columns.index(name) for name in wanted]
    return [tuple(row[place] for place in places) for row in table.rows]


def test_cells():
    assert format_cell(NumberCell(-0.0004)) == "0.000"
    assert format_cell(NumberCell(-1.25, 0.5, digits=1)) == "−1.2 ± 0.5"
    assert format_cell(NumberCell(1.0, NAN)) == "1.000"
    assert format_cell(NumberCell(NAN, 1.0)) == "–"
    assert format_cell(NumberCell(INF, NAN)) == "∞"
    assert format_cell(NumberCell(12345678.0)) == "1.2e+07"
    assert format_cell(NumberCell(2.94e-6, digits=4, powers=True)) == "2.9e−06"
    assert format_cell(NumberCell(0.0, digits=4, powers=True)) == "0.0000"


def test_rows_must_fit_the_columns():
    with pytest.raises(ParameterError, match="row 1 of t has 1"):
        BenchmarkTable("t", "T", ("a", "b"), (("x", "y"), ("z",)))


def test_csv_reads_back():
    values = [0.1, 1 / 3, -2.5e-300, 1e20, 12.0, INF, -INF, NAN]
    rows = tuple((NASTY + "\n", NumberCell(value, sd)) for value, sd in zip(values, [*values[1:], None], strict=True))
    header, *read = csv.reader(io.StringIO(to_csv(BenchmarkTable("t", "T", ("a,b", "c"), rows)), newline=""))
    assert header == ["a,b", "c", "c, sd"]
    assert [row[0] for row in read] == [NASTY + "\n"] * len(values)
    np.testing.assert_array_equal([float(row[1] or NAN) for row in read], values)
    np.testing.assert_array_equal([float(row[2] or NAN) for row in read], [*values[1:], NAN])


def test_markdown_reads_back():
    table = BenchmarkTable("t", "T", ("a|b", "n"), ((NASTY, NumberCell(1.0, best=True)), ("x", NumberCell(2.0))), NASTY)
    lines = to_markdown(table).splitlines()
    body = [line for line in lines if line.startswith("|")]
    cells = [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body]
    assert cells == [["a|b", "n"], [":--", "--:"], [NASTY, "**1.000**"], ["x", "2.000"]]
    # What is left without a backslash may not mean anything.
    assert not re.search(r"(?<!\\)[*_<`\[]", re.sub(r"\\\\", "", lines[-1]))


def unescaped(text: str) -> str:
    """The text that LaTeX would set."""
    words = {"textbackslash{}": "\\", "textasciitilde{}": "~", "textasciicircum{}": "^", "textbar{}": "|"}
    words |= {"textless{}": "<", "textgreater{}": ">"}
    return re.sub(r"\\([a-z]+\{\}|.)", lambda found: words.get(found[1], found[1]), text)


def test_latex_reads_back():
    rows = ((NASTY, NumberCell(-1.0, 0.5, best=True)), (NASTY, NumberCell(INF)), ("[x", NumberCell(NAN)))
    text = to_latex(BenchmarkTable("a_name", NASTY, ("a_b", "n"), rows, NASTY, groups=1))
    lines = text.splitlines()
    assert lines[0] == r"\begin{table}"
    assert lines[-1] == r"\end{table}"
    assert unescaped(re.search(r"\\caption\{(.*)\}\\label\{tab:a_name\}", text)[1]) == NASTY
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    first, second, rule, third = body
    assert unescaped(re.split(r" (?<!\\)& ", first)[0]) == NASTY
    assert first.endswith(r" & \textbf{$-$1.000 $\pm$ 0.500} \\")
    assert second == r" & $\infty$ \\"
    assert (rule, third) == (r"\midrule", r"{}[x & -- \\")
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in lines
    meant = re.sub(r"\\(label\{[^}]*\}|[a-z]+\{\}|[^a-z])", "", "\n".join([lines[2], *body[:1]]))
    assert not re.search(r"[#_%~^|<>]", meant)
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def test_a_long_table_breaks_over_pages():
    text = to_latex(BenchmarkTable("t", "T", ("n",), tuple((NumberCell(float(k)),) for k in range(200))))
    assert text.startswith(r"\begin{longtable}{r}")
    assert r"\endhead" in text
    assert text.count(r"\\") == 202


@pytest.mark.parametrize("make", OF_RESULTS)
def test_every_table_of_everything_and_of_nothing(make, results):
    for given in (results, Results([]), results.where(model="cqrnn"), Results(list(results)[:1])):
        table = make(given)
        for text in (to_csv(table), to_markdown(table), to_latex(table)):
            assert not re.search(r"\bnan\b", text.lower())
        assert len(to_csv(table).splitlines()) == len(table.rows) + 1


def test_full_table(results):
    table = full_table(results)
    assert len(table.rows) == 3 * 5
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["Dataset"], row["Model"], row["Runs"].value) == ("Weibull", "ALD", 3)
    mean, sd = published_results()["weibull", "ald", "cens_dcal"]
    # Runs two standard deviations below, at and above: their standard deviation is two too.
    assert (row["CensDcal"].value, row["CensDcal"].sd) == pytest.approx((mean + sd / 2, 2 * sd))


def test_the_best_is_nearest_to_the_ideal():
    ideal = {"harrell_c": 1, "uno_c": 1, "cal_s_slope": 1, "cal_f_slope": 1}
    away = {"ald": -0.2, "cqrnn": 0.1, "deephit": -0.10001, "deepsurv": NAN}
    rows = [
        Result(Series("gbsg", "real", "row", model, "paper"), 0, point, metric, ideal.get(metric, 0) + sign * gap)
        for model, gap in away.items()
        for metric in PAPER_METRICS
        for sign in [-1 if metric.endswith("_c") else 1]
        for point in (("mean", "median") if metric in POINT_METRICS else ("",))
    ]
    table = full_table(Results(rows))
    best = {row[1]: [cell.best for cell in row[2:11]] for row in table.rows}
    distance = [metric.startswith("cal_") for metric in PAPER_METRICS]
    # MAE, IBS, CensDcal: the lowest; C: the highest; the rest by distance, tied to the digits shown.
    assert best["ALD"] == [not one for one in distance]
    assert best["CQRNN"] == best["DeepHit"] == distance
    assert not any(best["DeepSurv"])


def test_verdict_table(results):
    table = verdict_table(results)
    assert len(table.rows) == (9 + 2) * 4
    rows = {row[:2]: [cell.value for cell in row[2:]] for row in table.rows}
    # The last row of the paper's table, to its three digits.
    shares = {"CQRNN": (0.228, 0.116, 0.656), "LogNorm": (0.598, 0.048, 0.354),
              "DeepSurv": (0.407, 0.143, 0.450), "DeepHit": (0.730, 0.037, 0.233)}  # fmt: skip
    for other, printed in shares.items():
        assert rows["Proportion", other][3:6] == pytest.approx(printed, abs=5.0001e-4)
        for first in (0, 3, 6):
            total, share = (np.array(rows[title, other][first : first + 3]) for title in ("Total", "Proportion"))
            by_metric = [rows[metric_title(metric), other][first : first + 3] for metric in PAPER_METRICS]
            np.testing.assert_array_equal(total, np.sum(by_metric, axis=0))
            np.testing.assert_allclose(share, total / total.sum())
    assert rows["Total", "CQRNN"][3:6] == [43, 22, 124]
    assert rows["Harrell's C", "DeepHit"][3:6] == [15, 0, 6]
    assert all(sum(rows["IBS", other][:3]) == 3 for other in ("CQRNN", "LogNorm", "DeepSurv", "DeepHit"))
    assert sum(rows["Total", "CQRNN"][6:]) == 189
    others = [Result(row.series._replace(model="rsf"), *row[1:]) for row in results.where(model="deephit")]
    more = Results([*results, *others])
    assert verdict_table(more) == table
    with_peer = verdict_table(more, models=("ald", "cqrnn", "rsf"))
    assert [row[1] for row in with_peer.rows[:2]] == ["CQRNN", "Random forest"]
    assert [format_cell(cell) for cell in with_peer.rows[1][5:]] == ["–"] * 6
    assert [format_cell(cell) for cell in with_peer.rows[-1][5:]] == ["–"] * 6
    by_corrected = verdict_table(results, corrected=True)
    same = [sum(row[4].value for row in one.rows[:36]) for one in (table, by_corrected)]
    assert by_corrected.name != table.name
    assert same[1] != same[0]


def test_summaries(results):
    table = summary_table(results)
    found = {row[:2]: row[2:] for row in table.rows}
    assert len(found) == 9
    mean, median, mode = (found["WHAS", summary][0].value for summary in ("mean", "median", "mode"))
    assert (median - mean, mode - mean) == pytest.approx((1, 2))
    # The paper's table by summary.
    assert (found["WHAS", "mean"][1].value) == pytest.approx(2.196, abs=0.002)


def test_at_zero(results):
    found = columns(mass_below_zero_table(results), "Dataset", "F(0|x), 50 %", "F(0|x), 50 %, published")
    assert [row[0] for row in found] == ["Weibull", "WHAS", "SUPPORT"]
    assert (found[0][1].value, found[0][1].sd) == pytest.approx((2e-6, 1e-6))
    assert found[0][2].value == 0.0015


def test_beyond():
    shares = {"ald": ("mean", 0.0), "deepsurv": ("median", 0.25)}
    rows = [
        Result(Series("gbsg", "real", "row", model, "paper"), seed, point, "beyond", share + 0.1 * seed)
        for model, (point, share) in shares.items()
        for seed in range(3)
    ]
    table = infinite_time_table(Results(rows))
    assert table.columns == ("Dataset", "ALD", "DeepSurv")
    (row,) = table.rows
    assert (row[0], *(format_cell(cell) for cell in row[1:])) == ("GBSG", "0.100 ± 0.100", "0.350 ± 0.100")


def test_seconds():
    given = {"gbsg/real/row/ald/paper": (1.5, 2.0), "weibull/released/row/ald/paper": (3.0, 4.0)}
    given |= {"gbsg/real/row/cox/-": (0.25, 0.5), "gbsg/real/row/ald/best": (99.0, 99.0)}
    table = seconds_table(given)
    assert table.columns == ("Dataset", "ALD, fit", "ALD, evaluate", "Cox, fit", "Cox, evaluate")
    found = {row[0]: [format_cell(cell) for cell in row[1:]] for row in table.rows}
    assert found == {
        "Weibull": ["3.0", "4.0", "–", "–"],
        "GBSG": ["1.5", "2.0", "0.2", "0.5"],
        "Total": ["4.5", "6.0", "0.2", "0.5"],
    }
    assert [row[0] for row in seconds_table({}).rows] == ["Total"]


def test_what_stands_beside_each_other(results):
    recipes = recipes_table(results)
    assert len(recipes.rows) == 3 * 5 * 2
    assert [row[:3] for row in recipes.rows[:3]] == [
        ("Weibull", "ALD", "paper"), ("Weibull", "ALD", "best"), ("Weibull", "CQRNN", "paper"),
    ]  # fmt: skip
    # Half a standard deviation less error.
    mae, ibs = recipes.columns.index("MAE"), recipes.columns.index("IBS")
    assert [row[mae].best for row in recipes.rows[:2]] == [row[ibs].best for row in recipes.rows[:2]] == [False, True]
    definitions = definitions_table(results)
    assert {row[0] for row in definitions.rows} == {"Weibull"}
    assert [row[2] for row in definitions.rows[:2]] == ["released", "printed"]
    grouping = grouping_table(results)
    assert {row[0] for row in grouping.rows} == {"WHAS"}
    assert [row[2] for row in grouping.rows[:3]] == ["row", "group", "group, without case"]
    # Different data: neither is the better one.
    assert not any(isinstance(c, NumberCell) and c.best for t in (definitions, grouping) for row in t.rows for c in row)


def test_calibration_columns():
    def made(exchanged: bool) -> Results:
        other = {"cal_s": "cal_f", "cal_f": "cal_s"} if exchanged else {"cal_s": "cal_s", "cal_f": "cal_f"}
        return Results(
            Result(Series(d, "real" if d in names()[14:] else "released", "row", m, "paper"), 0, "",
                   other[metric[:5]] + metric[5:], mean)
            for (d, m, metric), (mean, _) in published_results().items()
            if metric.startswith("cal_")
        )  # fmt: skip

    straight, exchanged = (calibration_columns_table(made(which)) for which in (False, True))
    assert [cell.value for (cell,) in columns(straight, "As printed")] == [0] * 20
    assert [cell.value for (cell,) in columns(exchanged, "Exchanged")] == [0] * 20
    assert columns(straight, "Exchanged") == columns(exchanged, "As printed")
    assert all(cell.value > 0 for (cell,) in columns(straight, "Exchanged"))
    assert {cell.value for (cell,) in columns(exchanged, "Nearer as printed")} == {0}


def test_ranks(results):
    table = ranking_table(results)
    for row in table.rows:
        assert sum(cell.value for cell in row[1:6]) == pytest.approx(15)
        assert row[-1].value == 3
        assert [cell.value == min(c.value for c in row[1:6]) for cell in row[1:6]] == [cell.best for cell in row[1:6]]


def test_figure_data(results):
    datasets, drawn = figure_values(results, "cal_s_slope")
    assert datasets == ["weibull", "whas", "support"]
    assert list(drawn) == list(PAPER_MODELS)
    runs = results.by_seed(Series("whas", "real", "row", "cqrnn", "paper"), "cal_s_slope")
    assert drawn["cqrnn"][0][1] == pytest.approx(np.mean(np.abs(1 - runs)))
    assert drawn["cqrnn"][1][1] == pytest.approx(np.std(np.abs(1 - runs), ddof=1))
    assert figure_values(results, "harrell_c")[1]["ald"][0][0] > 0
    printed = published_figure_values("cal_s_slope", [*datasets, "unknown"])
    assert printed["deephit"][0][2] == pytest.approx(0.109)
    assert math.isnan(printed["deephit"][0][3])
    expected, observed = figure_curves(results, "whas", "survival")["deepsurv"]
    assert expected.shape == (3,)
    np.testing.assert_allclose(observed, expected + np.array([[0.0], [0.01], [0.02]]))
    assert figure_curves(results, "whas", "density") == {}


def test_datasets_are_counted_and_stand_beside_the_paper(monkeypatch, tmp_path):
    table = datasets_table(["gbsg", "weibull"], seeds=2)
    found = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert list(found) == ["Weibull", "GBSG"]
    gbsg, weibull = found["GBSG"], found["Weibull"]
    data = load("gbsg")
    rows = [(*x, time, event) for x, time, event in zip(data.x.tolist(), data.y.time, data.y.event, strict=True)]
    assert (gbsg["Kind"], gbsg["Unit"], weibull["Kind"], weibull["Unit"]) == ("clinical", "months", "synthetic", "–")
    values = {name: cell.value for name, cell in gbsg.items() if isinstance(cell, NumberCell)}
    # The paper's row: 7 features, 1785 and 447 rows, 0.42 censored.
    assert [values[f"{name}, published"] for name in ("Features", "Training rows", "Test rows")] == [7, 1785, 447]
    assert [values[name] for name in ("Features", "Training rows", "Test rows")] == [7, 1785, 447]
    assert (values["Censored"], values["Censored, published"]) == (pytest.approx(965 / 2232), 0.42)
    assert (values["Copies"], values["At time 0"]) == (len(rows) - len(set(rows)), 0)
    assert math.isnan(values["Patients"])
    # Of both draws, as released: the printed definition censors half as many rows.
    draws = [load("weibull", seed=seed, definition="released").y.event for seed in (0, 1)]
    assert weibull["Censored"].value == pytest.approx(1 - np.concatenate(draws).mean())
    printed = datasets_table(["weibull"], definition="printed", seeds=2).rows[0][table.columns.index("Censored")]
    assert printed.value < 0.6 * weibull["Censored"].value
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    (row,) = datasets_table(["support"]).rows
    assert [format_cell(cell) for cell in row] == [
        "SUPPORT", "clinical", "days", "–", "14", "–", "7098", "–", "1775", "–", "0.32", "–", "–", "–",
    ]  # fmt: skip


def test_published_datasets_are_those_of_the_catalogue():
    printed = published_datasets()
    assert list(printed) == list(names(paper=True))
    for name, row in printed.items():
        info = describe(name)
        assert row == (info.n_features, info.n_train, info.n_test, info.censored_in_paper)


def calibration_results(lines, *, datasets, model="ald"):
    """Curves on given lines, of two runs that differ from them in opposite directions."""
    curves = []
    for dataset, kind, (slope, intercept) in zip(datasets, ["survival"] * len(datasets), lines, strict=True):
        series = Series(dataset, "released" if dataset == "weibull" else "real", "row", model, "paper")
        levels = np.arange(1, 11) / 10
        for seed, shift in enumerate((-0.03, 0.03)):
            observed = slope * levels + intercept + shift
            curves.append(Curve(series, seed, kind, tuple(levels.tolist()), tuple(observed.tolist())))
    rows = [Result(curve.series, curve.seed, "", "ibs", 0.2) for curve in curves]
    return Results(rows, curves)


def test_best_and_worst_calibration_are_of_real_data():
    lines = [(1.0, 0.0), (0.9, 0.02), (1.05, -0.02), (1.0, 0.3)]
    results = calibration_results(lines, datasets=["weibull", "support", "gbsg", "whas"])
    best, worst = calibration_extremes(results, "survival")
    assert (best.dataset, worst.dataset) == ("gbsg", "whas")
    assert (best.distance, worst.distance) == pytest.approx((0.05 + 0.02, 0.3))
    assert calibration_extremes(results, "density") is None
    assert calibration_extremes(results, "survival", model="cqrnn") is None
    alone = calibration_results(lines[:2], datasets=["weibull", "support"])
    assert calibration_extremes(alone, "survival") is None


def test_names():
    assert len({dataset_title(name) for name in names()}) == 22
    # A sentence that ends with a title has one dot.
    assert not [name for name in names() if dataset_title(name).endswith(".")]
    assert len({metric_title(name) for name in PAPER_METRICS}) == 9
    assert model_title("lognormal") == "LogNorm"
    assert model_title("rsf") == "Random forest"
    assert model_title("somebody_s") == "somebody_s"
