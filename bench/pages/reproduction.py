"""Values of docs/reproduction.md and docs/claims.md, from the results of the paper's benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.paper.calibration_bounds import calibration_bounds
from aldsurv.benchmark.paper.ledger import (
    AGREES_WITHIN,
    LedgerRow,
    count_agreeing,
    ledger,
    published_distance,
    switch_effects,
)
from aldsurv.benchmark.paper.published import (
    count_agreement,
    published_counts,
    published_results,
    recomputed_verdicts,
)
from aldsurv.benchmark.paper.published_evaluation import DEVIATIONS, SWITCHES, exchanged_metric
from aldsurv.benchmark.paper.published_values import as_published
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.ranking import rank_models
from aldsurv.benchmark.results import PAPER_METRICS, Result, Results, Series, published_point
from aldsurv.benchmark.verdicts import Counts, count_verdicts, verdicts
from aldsurv.datasets import describe, names
from bench.pages.markdown import table
from bench.pages.paper_results import PAPER_FILE, benchmark_results
from bench.pages.results import origins, read_section

__all__ = ["values"]

_EVIDENCE = "paper_evidence.json"
_OTHERS = tuple(model for model in PAPER_MODELS if model != "ald")
_REAL = tuple(name for name in names(paper=True) if describe(name).kind != "synthetic")
# What the paper says ALD excels on, with much censoring.
_HEAVY = ("norm_heavy", "norm_med", "lognorm_heavy", "lognorm_med")
_CLASSICAL = ("cox", "weibull_aft")
# Fields of a row of the ledger.
_WAYS = {"definition": "definition", "published_way": "published way"}


def values() -> dict[str, str]:
    """By name."""
    results = benchmark_results(PAPER_FILE)
    compared = results.where(model=PAPER_MODELS, definition=("released", "real"), variant="row")
    rows = ledger(compared)
    return {
        **_counts(rows),
        **_agreement(rows),
        **_distances(rows),
        **_concordance(rows),
        **_truth(),
        **_verdicts(compared),
        **_schedule(compared),
        **_ranks(compared),
        **_calibration_columns(rows),
        **_support(compared, rows),
        **_baselines(rows),
        "deviations": _deviations(compared),
        "remaining": _remaining(rows),
        "whas": _whas(results),
        "date": origins(PAPER_FILE)[""].date,
    }


# ---- the ledger


def _counts(rows: Sequence[LedgerRow]) -> dict[str, str]:
    counts = count_agreeing(rows)
    texts = {f"{name}, all": str(counts[name]) for name in ("definition", "published way", "unexplained", "agrees")}
    texts["numbers"] = str(len(rows))
    texts["not agreeing"] = str(len(rows) - counts["agrees"])
    for model in PAPER_MODELS:
        own = [row for row in rows if row.model == model]
        texts[f"agrees, {model}"] = str(sum(row.agrees for row in own))
        texts[f"definition, {model}"] = str(sum(row.status == "definition" for row in own))
    for metric in PAPER_METRICS:
        own = [row for row in rows if row.metric == metric]
        texts[f"agrees, {metric}"] = str(sum(row.agrees for row in own))
        texts[f"definition, {metric}"] = str(sum(row.status == "definition" for row in own))
    return texts


def _agreement(rows: Sequence[LedgerRow]) -> dict[str, str]:
    def line(title: str, own: Sequence[LedgerRow]) -> list[str]:
        by_definition, either = sum(row.status == "definition" for row in own), sum(row.agrees for row in own)
        return [title, str(by_definition), str(either), str(len(own))]

    head = ["", "by the definition", "the published way", "of"]
    by_metric = [line(metric_title(name), [row for row in rows if row.metric == name]) for name in PAPER_METRICS]
    by_model = [line(model_title(name), [row for row in rows if row.model == name]) for name in PAPER_MODELS]
    return {
        "agreement by metric": table(["agree", *head[1:]], [*by_metric, line("all", rows)]),
        "agreement by model": table(["agree", *head[1:]], by_model),
    }


def _distances(rows: Sequence[LedgerRow]) -> dict[str, str]:
    """Mean distance of IBS and C from the published values, by model."""
    texts, lines = {}, []
    for model in PAPER_MODELS:
        line = [model_title(model)]
        for metric in ("ibs", "harrell_c"):
            own = [row for row in rows if row.model == model and row.metric == metric]
            for way in _WAYS:
                gaps = [abs(getattr(row, way).mean - row.published.mean) for row in own]
                line.append(f"{np.mean(gaps):.3f}")
                texts[f"{metric} distance, {_WAYS[way]}, {model}"] = line[-1]
        lines.append(line)
    head = ["mean distance from the published", "IBS", "IBS, published way", "C", "C, published way"]
    return {**texts, "distances": table(head, lines)}


def _concordance(rows: Sequence[LedgerRow]) -> dict[str, str]:
    """C under heavy censoring, both ways and as published."""
    by_key = {(row.dataset, row.model): row for row in rows if row.metric == "harrell_c"}
    lines, texts = [], {}
    for dataset in (*_HEAVY, "whas", "gbsg"):
        for way, title in (("definition", "by the definition"), ("published_way", "published way"), ("", "published")):
            means = [
                (getattr(by_key[dataset, m], way) if way else by_key[dataset, m].published).mean for m in PAPER_MODELS
            ]
            lines.append([dataset_title(dataset) if way == "definition" else "", title, *(f"{c:.3f}" for c in means)])
            if way == "definition":
                texts[f"least C, {dataset}"], texts[f"largest C, {dataset}"] = f"{min(means):.3f}", f"{max(means):.3f}"
    for model, dataset in (("deepsurv", "norm_heavy"), ("deepsurv", "lognorm_heavy"), ("lognormal", "norm_heavy")):
        row = by_key[dataset, model]
        for way, mean in (
            ("definition", row.definition.mean),
            ("published way", row.published_way.mean),
            ("published", row.published.mean),
        ):
            texts[f"C, {model}, {dataset}, {way}"] = f"{mean:.3f}"
    texts["heavy"] = table(["C", "", *(model_title(model) for model in PAPER_MODELS)], lines, left=2)
    return texts


def _remaining(rows: Sequence[LedgerRow]) -> str:
    """The numbers that the published way does not give back, by reason."""
    by_reason: dict[str, list[LedgerRow]] = {}
    for row in rows:
        if not row.agrees:
            by_reason.setdefault(row.reason, []).append(row)
    lines = []
    for reason, own in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
        where = Counter(f"{model_title(row.model)}, {dataset_title(row.dataset)}" for row in own)
        named = "; ".join(f"{place} ({count})" if count > 1 else place for place, count in where.items())
        lines.append([reason, named, str(len(own))])
    return table(["why", "which (how many metrics)", "numbers"], lines, left=2)


def _deviations(results: Results) -> str:
    effects = switch_effects(results)
    total = {on: sum(counts.values()) for on, counts in effects.items()}
    lines = [
        [
            f"`{one.name}`",
            one.meaning.replace("|", "\\|"),
            str(total[one.name,] - total[()]),
            str(total[SWITCHES] - total[tuple(name for name in SWITCHES if name != one.name)]),
        ]
        for one in DEVIATIONS
    ]
    return table(["switch", "in place of the definition", "gained alone", "gained last"], lines, left=2)


# ---- evidence beside the benchmark


def _truth() -> dict[str, str]:
    scores = read_section(_EVIDENCE, "truth")
    printed = published_results()
    head = ["IBS", "definition", "G of events", "ALD, published", "and F for S", "DeepSurv, published"]
    lines = [
        [
            dataset_title(name),
            f"{ways['definition']:.3f}",
            f"{ways['G of events']:.3f}",
            f"{printed[name, 'ald', 'ibs'].mean:.3f}",
            f"{ways['G of events, F for S']:.3f}",
            f"{printed[name, 'deepsurv', 'ibs'].mean:.3f}",
        ]
        for name, ways in scores.items()
    ]
    return {"truth": table(head, lines)}


def _schedule(results: Results) -> dict[str, str]:
    """CQRNN with a constant learning rate beside the steps of its recipe."""
    constant = read_section(_EVIDENCE, "schedule")
    printed = published_results()
    lines: list[list[str]] = []
    agreeing = {"constant": 0, "steps": 0}
    for dataset in names(paper=True):
        steps = results.summary(_series(dataset, "cqrnn"), "cens_dcal").mean
        means = {"constant": float(np.mean(constant[dataset]["cens_dcal"])), "steps": steps}
        published = printed[dataset, "cqrnn", "cens_dcal"]
        for name, mean in means.items():
            agreeing[name] += published_distance(mean, published) <= AGREES_WITHIN
        texts = [*(f"{mean:.3f}" for mean in means.values()), f"{published.mean:.3f} ± {published.sd:.3f}"]
        lines.append([dataset_title(dataset), *texts])
    rows = [row for row in results if row.series.model != "cqrnn"]
    point = published_point("cqrnn")
    for dataset, by_metric in constant.items():
        for metric, scores in by_metric.items():
            own = point if metric in ("mae", "harrell_c", "uno_c") else ""
            rows += [Result(_series(dataset, "cqrnn"), seed, own, metric, one) for seed, one in enumerate(scores)]
    totals = _totals(count_verdicts(verdicts(Results(rows))))
    return {
        "schedule": table(["CQRNN's CensDcal", "constant", "steps", "published"], lines),
        "constant, cqrnn": _better_worse(totals["cqrnn"]),
        **{f"CensDcal agreeing, {name}": str(count) for name, count in agreeing.items()},
    }


# ---- comparisons of models


def _verdicts(results: Results) -> dict[str, str]:
    by_definition = verdicts(results)
    sources: dict[str, Mapping[tuple[str, str], Counts]] = {
        "by the definition": count_verdicts(by_definition),
        "by the definition, corrected test": count_verdicts(by_definition, corrected=True),
        "the published way": count_verdicts(verdicts(as_published(results))),
        **{
            f"without `{name}`": count_verdicts(
                verdicts(as_published(results, [one for one in SWITCHES if one != name]))
            )
            for name in SWITCHES
            if name != "exchanged_columns"
        },
        "published": published_counts(),
    }
    totals = {source: _totals(counts) for source, counts in sources.items()}
    head = ["ALD better : worse, of 189", *(model_title(other) for other in _OTHERS)]
    lines = [[source, *(_better_worse(by_other[other]) for other in _OTHERS)] for source, by_other in totals.items()]
    texts = {"verdicts": table(head, lines)}
    for source, by_other in totals.items():
        for other in _OTHERS:
            texts[f"{source}, {other}"] = _better_worse(by_other[other])
    for metric in ("ibs", "harrell_c", "uno_c", "cens_dcal"):
        own = [
            [source, *(_better_worse(sources[source][metric, other]) for other in _OTHERS)]
            for source in ("by the definition", "the published way", "published")
        ]
        texts[f"verdicts, {metric}"] = table([metric_title(metric), *(model_title(other) for other in _OTHERS)], own)
        for source in ("by the definition", "published"):
            for other in _OTHERS:
                texts[f"{metric}, {source}, {other}"] = _better_worse(sources[source][metric, other])
    agreement = count_agreement(count_verdicts(recomputed_verdicts()))
    texts["recomputed rows"], texts["rows"] = str(agreement.rows_equal), str(agreement.rows)
    texts["recomputed verdicts"], texts["all verdicts"] = str(agreement.different_at_least), str(agreement.verdicts)
    return texts


def _totals(counts: Mapping[tuple[str, str], Counts]) -> dict[str, Counts]:
    totals: dict[str, Counts] = {}
    for (_, other), one in counts.items():
        before = totals.get(other, Counts(0, 0, 0))
        totals[other] = Counts(*(a + b for a, b in zip(before, one, strict=True)))
    return totals


def _better_worse(counts: Counts) -> str:
    # Spaces that do not break: the two numbers stay on one line.
    return f"{counts.better}\u00a0:\u00a0{counts.worse}"


def _ranks(results: Results) -> dict[str, str]:
    rankings = [rank_models(results, metric) for metric in PAPER_METRICS]
    lines = []
    for metric, ranking in zip(PAPER_METRICS, rankings, strict=True):
        ranks = dict(zip(ranking.models, ranking.mean_ranks, strict=True))
        best = min(ranks.values())
        shown = [f"**{ranks[m]:.2f}**" if ranks[m] == best else f"{ranks[m]:.2f}" for m in PAPER_MODELS]
        lines.append([metric_title(metric), *shown])
    firsts = Counter(ranking.models[0] for ranking in rankings)
    texts = {"ranks": table(["mean rank", *(model_title(model) for model in PAPER_MODELS)], lines)}
    texts["critical difference"] = f"{rankings[0].critical_difference:.2f}"
    texts |= {f"first, {model}": str(firsts[model]) for model in PAPER_MODELS}
    return texts


# ---- single findings


def _calibration_columns(rows: Sequence[LedgerRow]) -> dict[str, str]:
    columns = [row for row in rows if row.metric.startswith("cal_")]
    means = {(row.dataset, row.model, row.metric): row.definition.mean for row in rows}
    exchanged = sum(
        abs(means[row.dataset, row.model, exchanged_metric(row.metric)] - row.published.mean) <= 2 * row.published.sd
        for row in columns
    )
    bounds = Counter(bound.column for bound in calibration_bounds() if bound.ratio > 1)
    return {
        "columns": str(len(columns)),
        "columns as printed": str(sum(row.status == "definition" for row in columns)),
        "columns exchanged": str(exchanged),
        "columns published way": str(sum(row.agrees for row in columns)),
        "bounds, cal_s": str(bounds["cal_s"]),
        "bounds, cal_f": str(bounds["cal_f"]),
    }


def _support(results: Results, rows: Iterable[LedgerRow]) -> dict[str, str]:
    own = {row.metric: row for row in rows if row.model == "ald" and row.dataset == "support"}
    at_zero = {name: results.summary(_series(name, "ald"), "f0_p50").mean for name in names(paper=True)}
    return {
        "support, C": f"{own['harrell_c'].definition.mean:.3f}",
        "support, C, published": f"{own['harrell_c'].published.mean:.3f}",
        "support, CensDcal": f"{own['cens_dcal'].definition.mean:.1f}",
        "support, CensDcal, published": f"{own['cens_dcal'].published.mean:.1f}",
        "support, F(0)": f"{at_zero['support']:.3f}",
        "small F(0)": str(sum(share < 0.01 for share in at_zero.values())),
        "largest F(0)": f"{max(at_zero.values()):.2f}",
        "largest F(0), dataset": dataset_title(max(at_zero, key=at_zero.__getitem__)),
    }


def _baselines(rows: Sequence[LedgerRow]) -> dict[str, str]:
    texts = {}
    for model in ("lognormal", "deepsurv"):
        for metric, digits in (("harrell_c", 3), ("cens_dcal", 2)):
            own = [row for row in rows if row.model == model and row.metric == metric]
            for name, means in (
                ("definition", [row.definition.mean for row in own]),
                ("published way", [row.published_way.mean for row in own]),
                ("published", [row.published.mean for row in own]),
            ):
                texts[f"median {metric}, {model}, {name}"] = f"{np.median(means):.{digits}f}"
    return texts


def _whas(results: Results) -> str:
    variants = ("row", "group", "group, without case")
    titles = ("by row", "by patient", "by patient, without `case`")
    lines = []
    for model in (*PAPER_MODELS, *_CLASSICAL):
        recipe = "-" if model in _CLASSICAL else "paper"
        series = [Series("whas", "real", variant, model, recipe) for variant in variants]
        cells = [results.summary(one, metric).mean for metric in ("harrell_c", "ibs") for one in series]
        lines.append([model_title(model), *(f"{value:.3f}" for value in cells)])
    head = [f"{metric}, {title}" for metric in ("C", "IBS") for title in titles]
    return table(["WHAS", *head], lines)


def _series(dataset: str, model: str) -> Series:
    return Series(dataset, "real" if dataset in _REAL else "released", "row", model, "paper")
