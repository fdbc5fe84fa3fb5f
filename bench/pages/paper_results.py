"""Results of the paper's benchmark in docs/results/paper.csv beside the published ones."""

from __future__ import annotations

from typing import NamedTuple

from aldsurv.benchmark.paper.published import Published, published_results
from aldsurv.benchmark.statistics import as_loss
from aldsurv.datasets import describe, names
from bench.pages.results import read_rows

__all__ = ["PAPER_FILE", "PaperResult", "ald_beside_published"]

PAPER_FILE = "paper.csv"
_SDS = 2.0


class PaperResult(NamedTuple):
    """Mean and standard deviation over the seeds, and the published ones."""

    mean: float
    sd: float
    published: Published
    worse: bool


def ald_beside_published(metric: str, point: str) -> dict[str, PaperResult]:
    """By dataset; worse is more than two published standard deviations on the wrong side.

    Synthetic data are those of the authors' code, real data are split by row, as in the paper.
    """
    scores = {
        row["dataset"]: (float(row["mean"]), float(row["sd"]))
        for row in read_rows(PAPER_FILE)
        if (row["model"], row["recipe"], row["metric"], row["point"]) == ("ald", "paper", metric, point)
        and row["variant"] == "row"
        and row["definition"] == ("released" if describe(row["dataset"]).kind == "synthetic" else "real")
    }
    results = {}
    for name in names(paper=True):
        published = published_results()[name, "ald", metric]
        mean, sd = scores[name]
        loss, published_loss = (float(as_loss(metric, value)) for value in (mean, published.mean))
        results[name] = PaperResult(mean, sd, published, loss > published_loss + _SDS * published.sd)
    return results
