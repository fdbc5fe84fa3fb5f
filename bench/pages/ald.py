"""Values of docs/ald.md: limits between members, and the paper's recipe beside the paper's numbers."""

from __future__ import annotations

from bench.pages.markdown import in_words, table
from bench.pages.paper_results import PaperResult, ald_beside_published
from bench.pages.results import read_section

__all__ = ["values"]

_FILE = "own_choices.json"


def values() -> dict[str, str]:
    """By name."""
    scales = read_section(_FILE, "time_scales")
    texts = {"bands": _bands(read_section(_FILE, "bands"))}
    texts |= {f"CensDcal by standard deviations, {name}": f"{scores['std']:.1f}" for name, scores in scales.items()}
    concordance = ald_beside_published("harrell_c", "mean")
    calibration = ald_beside_published("cens_dcal", "")
    texts["paper"] = _paper(concordance, calibration)
    for name, results in (("C", concordance), ("CensDcal", calibration)):
        worse = [f"`{dataset}`" for dataset, result in results.items() if result.worse]
        texts[f"{name} as published"] = str(len(results) - len(worse))
        texts[f"{name} worse than published"] = in_words(worse)
    texts["datasets"] = str(len(concordance))
    return texts


def _bands(shares: dict[str, dict[str, float]]) -> str:
    rows = [
        [name, str(share["rows"]), f"{share['survival']:.2f}", f"{share['median']:.2f}"]
        for name, share in shares.items()
    ]
    return table(["90 % limits", "rows", "survival", "median"], rows)


def _paper(concordance: dict[str, PaperResult], calibration: dict[str, PaperResult]) -> str:
    rows = [
        [name, *(text for results in (concordance, calibration) for text in _three(results[name]))]
        for name in concordance
    ]
    return table(["dataset", "C", "sd", "published", "CensDcal", "sd", "published"], rows)


def _three(result: PaperResult) -> list[str]:
    published = result.published
    return [f"{result.mean:.3f}", f"{result.sd:.3f}", f"{published.mean:.3f} ±{published.sd:.3f}"]
