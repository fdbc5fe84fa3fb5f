"""Values of docs/performance.md, a function per section of docs/results/performance.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.pages.markdown import in_words, number, table
from bench.pages.results import PERFORMANCE, origins, read_section

__all__ = ["values"]

_NAMES = {"aldsurv": "`datasets.read_table`"}
_METRICS = {
    "Harrell's C": "Harrell's C",
    "with ties": "ties in times and predictions",
    "with weights": "weights",
    "Uno's C": "Uno's C",
    "CensDcal": "CensDcal",
    "IBS": "IBS at 100 times",
}
_MOST_ROWS = "1000000"


def values() -> dict[str, str]:
    """By name."""
    texts = {f"date of {name}": origin.date for name, origin in origins(PERFORMANCE).items()}
    for section, text in _SECTIONS.items():
        texts |= text(read_section(PERFORMANCE, section))
    return texts


def _epochs(lines: Sequence[Mapping[str, float]]) -> dict[str, str]:
    rows = []
    for line in lines:
        plain, one, ten = line["plain"], line["one"], line["ten"]
        milliseconds = [number(plain, 3), number(one, 3), f"{plain / one:.1f}", number(ten, 3), number(ten / 10, 2)]
        rows.append([f"{line['rows']:.0f}", f"{line['columns']:.0f}", *milliseconds, f"{plain / (ten / 10):.1f}"])
    head = ["rows", "columns", "plain loop", "1 member", "ratio", "10 members", "per member", "ratio"]
    return {"epochs": table(head, rows)}


def _closed_forms(values: Mapping[str, Any]) -> dict[str, str]:
    rows = [
        [
            f"{fit['model']}, {fit['recipe']}",
            f"`{fit['slopes']}`",
            *(f"{fit[name]:.2f}" for name in ("seconds", "network", "loss", "both")),
            f"{fit['apart']:.0e}",
        ]
        for fit in values["fits"]
    ]
    head = ["model", "slopes", "seconds", "network by torch", "loss by torch", "both by torch", "largest difference"]
    return {
        "closed forms": table(head, rows, left=2),
        "rounds of closed forms": str(values["rounds"]),
        "seconds of a default fit": rows[0][2],
    }


def _peers(lines: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    rows = []
    for place, line in enumerate(lines):
        first = place == 0 or line["dataset"] != lines[place - 1]["dataset"]
        model = f"`{line['model']}`" if line["model"].startswith("ALD") else line["model"]
        scores = [f"{float(line[name]):.3f}" for name in ("log-likelihood", "IBS", "C")]
        rows.append([line["dataset"] if first else "", model, f"{line['seconds']:.2f}", *scores])
    return {"peers": table(["dataset", "model", "seconds", "log-likelihood", "IBS", "C"], rows, left=2)}


def _censoring(seconds: Mapping[str, float]) -> dict[str, str]:
    right, interval = seconds["right-censored"], seconds["interval-censored"]
    return {
        "seconds of right-censored rows": number(right, 2),
        "seconds of interval-censored rows": number(interval, 2),
        "interval over right": f"{interval / right:.1f}",
    }


def _models(values: Mapping[str, Any]) -> dict[str, str]:
    kinds = ("paper", "default", "pycox")
    rows = [
        [model, *(f"{seconds[kind]:.2f}" if kind in seconds else "" for kind in kinds)]
        for model, seconds in values["seconds"].items()
    ]
    return {"models": table(["", *kinds], rows)}


def _memory(values: Mapping[str, Any]) -> dict[str, str]:
    texts = {"memory of the data": str(values["fits"][0]["data MB"])}
    for fit in values["fits"]:
        name = f"memory of {fit['recipe']}, {fit['members']}"
        texts[name] = str(fit["MB"])
        texts[f"{name}, times the data"] = f"{fit['MB'] / fit['data MB']:.2f}"
    return texts


def _whole_benchmark(values: Mapping[str, Any]) -> dict[str, str]:
    largest = max(values["shares"], key=lambda model: float(values["shares"][model]))
    return {
        "seconds of the benchmark": str(values["clock"]),
        "processor seconds of the benchmark": str(values["processor"]),
        "largest part of the benchmark": f"`{largest}`",
        "percent of the largest part": f"{100 * values['shares'][largest]:.0f}",
    }


def _predict(lines: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    rows = []
    for line in lines:
        microseconds = 1e6 * line["processor"] / line["rows"]
        numbers = [f"{line['rows']:,}", str(line["threads"]), number(line["clock"], 3), number(line["processor"], 3)]
        rows.append([line["model"], line["what"], *numbers, number(microseconds, 2), str(line["peak MB"])])
    head = ["model", "what", "rows", "threads", "clock, s", "processor, s", "µs per row", "peak, MB"]

    def per_row(model: str, what: str) -> float:
        fits = [line for line in lines if (line["model"], line["what"]) == (model, what)]
        return float(fits[-1]["processor"] / fits[-1]["rows"])

    members = "ALD, 5 members"
    return {
        "predict": table(head, rows, left=2),
        "quantiles over curves": f"{per_row(members, 'quantiles') / per_row(members, 'survival'):.1f}",
        "Cox over lifelines": f"{per_row('Cox', 'survival') / per_row('lifelines Cox', 'survival'):.1f}",
    }


_TASKS = ("survival", "quantiles", "restricted mean", "ranks")


def _curves(values: Mapping[str, Any]) -> dict[str, str]:
    found = {(line["model"], line["what"]): line for line in values["lines"]}
    rows = []
    for model in dict.fromkeys(model for model, _ in found):
        lines = [found[model, task] for task in _TASKS]
        rows.append([model, f"{lines[0]['rows']:,}", *map(_seconds_and_memory, lines)])
    ours, theirs = (found[model, "survival"]["processor"] for model in ("Cox", "lifelines Cox"))
    titles = ("survival at 3 times", "3 quantiles", "restricted means", "ranks")
    return {
        "curves": table(["model", "rows", *titles], rows),
        "event times": f"{values['event times']:,}",
        "most MB of curves": str(values["most MB"]),
        "curves over lifelines": f"{ours / theirs:.1f}",
    }


def _seconds_and_memory(line: Mapping[str, Any]) -> str:
    if "given up" in line:
        return str(line["given up"]).replace("more than", ">")
    return f"{number(line['processor'], 2)} s, {line['MB more']:.0f} MB"


_SCORED = {
    "many rows": "100,000 rows, survival at 3 times: µs per row",
    "quantiles": "3 quantiles: µs per row",
    "peak MB": "100,000 rows: memory, MB",
    "one row": "one row, survival at 3 times: µs",
    "one row, quantiles": "one row, 3 quantiles: µs",
}
_SCORED_MODELS = {"small": "small: 20 members", "large": "large: 5 members"}


def _scoring(lines: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found = {(line["model"], line["what"]): line for line in lines}
    rows = []
    for model, title in _SCORED_MODELS.items():
        for what, text in _SCORED.items():
            before, after = (float(found[model, what][name]) for name in ("before", "after"))
            rows.append([title, text, number(before, 2), number(after, 2), f"{before / after:.1f}"])
    return {"scoring": table(["recipe", "what", "before", "after", "ratio"], rows, left=2)}


def _tables(values: Mapping[str, Any]) -> dict[str, str]:
    files = values["csv"], values["parquet"]
    rows = []
    for reader in files[0]["readers"]:
        measured = [file["readers"][reader] for file in files]
        numbers = [text for one in measured for text in (f"{one['seconds']:.1f}", f"{one['peak over arrays']:.2f}")]
        rows.append([_NAMES.get(reader, reader), *numbers])
    titles = [f"{name} ({file['MB']} MB): seconds" for name, file in zip(("CSV", "Parquet"), files, strict=True)]
    head = ["reader", titles[0], "peak / arrays", titles[1], "peak / arrays"]
    return {"tables": table(head, rows), "MB of the arrays": str(values["arrays MB"])}


def _metrics(values: Mapping[str, Any]) -> dict[str, str]:
    seconds, draws = values["seconds"], values["milliseconds of draws"]
    yardstick = seconds["numpy.argsort"]["aldsurv"]
    rows = []
    for metric, title in _METRICS.items():
        for library, taken in seconds[metric].items():
            cells = [
                _with_ratio(taken[n], yardstick[n], ratio=metric != "IBS") if n in taken else "" for n in yardstick
            ]
            rows.append([title if library == "aldsurv" else "", library, *cells])
    head = ["metric", "library", *(f"{int(n):,}" for n in yardstick)]
    few = list(next(iter(draws.values())))
    bootstrap = [[f"`{name}`", *(f"{milliseconds[n]:.0f}" for n in few)] for name, milliseconds in draws.items()]
    harrell, weighted = (seconds[name]["aldsurv"][_MOST_ROWS] for name in ("Harrell's C", "with weights"))
    return {
        "metrics": table(head, rows, left=2),
        "bootstrap": table(["what", *(f"{int(n):,} rows" for n in few)], bootstrap),
        "weights over counts": f"{weighted / harrell:.1f}",
    }


def _with_ratio(seconds: float, yardstick: float, *, ratio: bool) -> str:
    return f"{number(seconds, 2)} ({number(seconds / yardstick, 2)})" if ratio else number(seconds, 2)


def _distributions(values: Mapping[str, Any]) -> dict[str, str]:
    survival, memory, mixture = values["survival"], values["memory"], values["mixture"]
    base = survival["numpy.exp"]
    rows = [["`numpy.exp` on as many values, into a new array", f"{base:.2f}", "1"]]
    for name, seconds in survival["seconds"].items():
        call, _, rest = name.partition(", ")
        rows.append([f"`{call}`" + (f", {rest}" if rest else ""), f"{seconds:.2f}", f"{seconds / base:.2f}"])
    single = [ratio for ratios in survival["single ratios"].values() for ratio in ratios]
    families = [f"`{name}` {ratio:.1f}" for name, ratio in values["families"].items() if "Mixture" not in name]
    mixed = next(ratio for name, ratio in values["families"].items() if "Mixture" in name)
    return {
        "distributions": table(["what", "seconds", "ratio to `numpy.exp`"], rows),
        "single ratios": f"{min(single):.1f} to {max(single):.1f}",
        "MB of the answer": f"{memory['the answer']:.0f}",
        "MB all at once": f"{memory['all at once']:.0f}",
        "MB in blocks": f"{memory['blocks of 10,000']:.0f}",
        "families": in_words([*families, f"`Mixture` of five {mixed:.1f}"]),
        "mixture": in_words([f"{name} {spent:.0f}" for name, spent in mixture.items()]),
    }


def _kaplan_meier(lines: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    columns = ("argsort", "aldsurv", "scikit-survival", "lifelines")
    rows = [
        [
            f"{line['rows']:,}",
            line["times"],
            *(number(line[name], 3) if name in line else "–" for name in columns),
            f"{line['aldsurv'] / line['argsort']:.1f}",
        ]
        for line in lines
        if line["times"] != "whole numbers" or str(line["rows"]) == _MOST_ROWS
    ]
    head = ["rows", "times", "`numpy.argsort`", *columns[1:], "aldsurv / argsort"]
    return {"kaplan meier": table(head, rows, left=2)}


def _imports(seconds: Mapping[str, float]) -> dict[str, str]:
    rows = [[f"`{command}`", f"{taken:.2f}"] for command, taken in seconds.items()]
    return {"imports": table(["command", "seconds"], rows)}


_SECTIONS: dict[str, Callable[[Any], dict[str, str]]] = {
    "epochs": _epochs,
    "closed_forms": _closed_forms,
    "peers": _peers,
    "censoring": _censoring,
    "models": _models,
    "memory": _memory,
    "whole_benchmark": _whole_benchmark,
    "predict": _predict,
    "curves": _curves,
    "scoring": _scoring,
    "tables": _tables,
    "metrics": _metrics,
    "distributions": _distributions,
    "kaplan_meier": _kaplan_meier,
    "imports": _imports,
}
