"""Values of docs/ald.md: limits between members, and the paper's recipe beside the paper's numbers."""

from __future__ import annotations

from aldsurv.benchmark.paper.ledger import AGREES_WITHIN, LedgerRow, ledger
from aldsurv.benchmark.statistics import as_loss
from bench.pages.markdown import in_words, table
from bench.pages.paper_results import PAPER_FILE, benchmark_results
from bench.pages.results import read_section

__all__ = ["values"]

_FILE = "own_choices.json"


def values() -> dict[str, str]:
    """By name."""
    scales = read_section(_FILE, "time_scales")
    texts = {"bands": _bands(read_section(_FILE, "bands"))}
    seeds = read_section(_FILE, "seeds")
    texts |= {
        "seeds": _seeds(seeds["recipes"]),
        "rows of seeds": str(seeds["rows"]),
        "fits of seeds": str(seeds["fits"]),
    }
    texts |= {f"CensDcal by standard deviations, {name}": f"{scores['std']:.1f}" for name, scores in scales.items()}
    rows = [row for row in ledger(benchmark_results(PAPER_FILE)) if row.model == "ald"]
    concordance, calibration = ([row for row in rows if row.metric == name] for name in ("harrell_c", "cens_dcal"))
    texts["paper"] = _paper(concordance, calibration)
    for name, own in (("C", concordance), ("CensDcal", calibration)):
        worse = [f"`{row.dataset}`" for row in own if _is_worse(row)]
        texts[f"{name} as published"] = str(len(own) - len(worse))
        texts[f"{name} worse than published"] = in_words(worse)
    texts["datasets"] = str(len(concordance))
    return texts


def _bands(shares: dict[str, dict[str, float]]) -> str:
    rows = [
        [name, str(share["rows"]), f"{share['survival']:.2f}", f"{share['median']:.2f}"]
        for name, share in shares.items()
    ]
    return table(["90 % limits", "rows", "survival", "median"], rows)


def _seeds(recipes: dict[str, dict[str, float]]) -> str:
    head = ["standard deviation over seeds", "survival, mean", "survival, largest", "median", "seconds per fit"]
    rows = [
        [
            f"`{recipe}`",
            f"{line['survival']:.3f}",
            f"{line['largest']:.3f}",
            f"{100 * line['median']:.1f} %",
            f"{line['seconds']:.1f}",
        ]
        for recipe, line in recipes.items()
    ]
    return table(head, rows)


def _paper(concordance: list[LedgerRow], calibration: list[LedgerRow]) -> str:
    rows = [
        [first.dataset, *(text for row in (first, second) for text in _three(row))]
        for first, second in zip(concordance, calibration, strict=True)
    ]
    return table(["dataset", "C", "sd", "published", "CensDcal", "sd", "published"], rows)


def _three(row: LedgerRow) -> list[str]:
    ours, published = row.definition, row.published
    return [f"{ours.mean:.3f}", f"{ours.sd:.3f}", f"{published.mean:.3f} ±{published.sd:.3f}"]


def _is_worse(row: LedgerRow) -> bool:
    """Whether our mean is beyond two published standard deviations on the wrong side."""
    ours, published = (float(as_loss(row.metric, one.mean)) for one in (row.definition, row.published))
    return ours > published + AGREES_WITHIN * row.published.sd
