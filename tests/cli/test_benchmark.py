"""``aldsurv benchmark``: what is asked for, what is told, and exit codes."""

from __future__ import annotations

import json

import pytest
from reports.made_up import made_up_store

from aldsurv.benchmark import Plan, Store
from aldsurv.cli.main import main

QUICK = ["--datasets", "norm_linear,weibull", "--models", "cox", "--seeds", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "inner"
    assert main(["benchmark", "run", *QUICK, "--out", str(folder)]) == 0
    return folder


def test_run(folder, capsys):
    assert main(["benchmark", "run", *QUICK, "--out", str(folder)]) == 0
    told = capsys.readouterr()
    assert "2 of 2 cells done" in told.out
    assert f"aldsurv benchmark report {folder}" in told.out
    # Nobody watches: no progress line.
    assert told.err == ""
    assert len(Store(folder).done()) == 2


def test_json_and_quiet(folder, capsys):
    assert main(["benchmark", "run", *QUICK, "--out", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["done"] == 2
    assert told["failed"] == {}
    assert told["plan"] == Store(folder).plan.hash
    assert main(["benchmark", "run", *QUICK, "--out", str(folder), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_a_watched_run_tells_how_far_it_is(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["benchmark", "run", *QUICK, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert "1/2 cells" in told
    assert "2/2 cells" in told
    assert "weibull cox: Harrell's C 0." in told


def test_failures_are_told_and_give_exit_code_1(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path / "empty"))
    words = ["--datasets", "weibull,metabric", "--models", "cox", "--seeds", "1", "--jobs", "1"]
    assert main(["benchmark", "run", *words, "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr()
    assert "aldsurv: failed: metabric/real/row/cox/-:" in told.err
    assert "1 of 2 cells done" in told.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--datasets", "gbsgg"], "unknown dataset 'gbsgg'. Did you mean 'gbsg'?"),
        (["--models", "rfs"], "unknown model 'rfs'"),
        (["--recipe", "bets"], "recipes must be among 'paper', 'best'"),
        (["--seeds", "0"], "seeds must be a whole number from 1"),
        (["--seeds", "many"], "Invalid value for '--seeds'"),
        (["--jobs", "-1"], "jobs must be a whole number"),
    ],
)
def test_bad_options(words, message, tmp_path, capsys):
    assert main(["benchmark", "run", *words, "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_benchmark_in_the_folder(folder, capsys):
    assert main(["benchmark", "run", "--datasets", "norm_linear", "--models", "cox", "--out", str(folder)]) == 2
    assert "holds another benchmark" in capsys.readouterr().err


def test_groups_of_names(tmp_path, monkeypatch):
    plans = []

    def remember(plan, folder, **rest):
        plans.append(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr("aldsurv.benchmark.running.run", remember)
    for words in (["--datasets", "real"], ["--datasets", "synthetic", "--models", "ald, peers"], []):
        assert main(["benchmark", "run", *words, "--out", str(tmp_path)]) == 130
    assert [len(plan.datasets) for plan in plans] == [7, 14, 21]
    assert plans[1].models[0] == "ald"
    assert "rsf" in plans[1].models
    assert plans[2].models == ("ald", "cqrnn", "lognormal", "deepsurv", "deephit")


def test_report(folder, tmp_path, capsys, monkeypatch):
    words = ["benchmark", "report", str(folder)]
    assert main([*words, "--out", str(tmp_path / "page")]) == 0
    page = capsys.readouterr().out.strip().splitlines()[-1]
    assert page == str(tmp_path / "page" / "index.html")
    text = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "weibull" in text.lower()
    assert "wrong on purpose" not in text
    # Once with its pictures is enough.
    monkeypatch.setattr("aldsurv.reports.benchmark.benchmark_page._figure_sections", lambda *_: ())
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == str(folder / "report" / "index.html")


def test_report_the_published_way(tmp_path, monkeypatch):
    monkeypatch.setattr("aldsurv.reports.benchmark.benchmark_page._figure_sections", lambda *_: ())
    store = made_up_store(tmp_path, Plan(("weibull",), ("ald",), seeds=2))
    published = ["--evaluation", "published", "--without", "training_median, mixed_rows"]
    assert main(["benchmark", "report", str(store.folder), *published]) == 0
    assert "wrong on purpose" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_report_the_published_way_of_other_models(folder, tmp_path, capsys):
    words = ["benchmark", "report", str(folder), "--out", str(tmp_path / "page"), "--evaluation", "published"]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "no values of the published evaluation" in error
    assert "aldsurv benchmark run --recipe paper" in error
    assert not (tmp_path / "page").exists()


def test_report_of_an_unknown_evaluation(folder, capsys):
    words = ["benchmark", "report", str(folder)]
    assert main([*words, "--without", "median"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("aldsurv: error: --without must be one of")
    assert "'training_median'" in error
    assert main([*words, "--evaluation", "paper"]) == 2
    assert "'definition', 'published'" in capsys.readouterr().err


def test_report_of_nothing(tmp_path, capsys):
    assert main(["benchmark", "report", str(tmp_path / "nothing")]) == 2
    assert "holds no benchmark" in capsys.readouterr().err
    assert not (tmp_path / "nothing").exists()


def test_help(capsys):
    for words in ([], ["run"], ["report"]):
        assert main(["benchmark", *words, *(["--help"] if words else [])]) == 0
        assert "Examples:" in capsys.readouterr().out
