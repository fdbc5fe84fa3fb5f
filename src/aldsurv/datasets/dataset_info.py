"""The record of a dataset: what is said of it before it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Literal, final

from aldsurv.registry import Record

__all__ = ["DatasetInfo"]

_WIDTH = 110


@final
@dataclass(frozen=True)
class DatasetInfo(Record):
    """The record of a dataset: its size, its unit of time, and where it comes from.

    Parameters
    ----------
    name
        By which `aldsurv.datasets.load` takes it.
    location
        ``"module:function"``. The function is called with this record and returns a `Dataset`; that of a synthetic
        dataset also takes ``seed``, ``n_train`` and ``n_test``.
    title
        How it is called in tables, plots and reports.
    purpose
        What it is: its name in full, or its distributions.
    kind
        ``"synthetic"``: drawn from stated distributions; ``"clinical"``: real patients.
    n_train, n_test
        Rows of the two parts of the paper's split.
    feature_names
        Names of the columns of ``x``, in order.
    censored
        Share of censored rows: of the table, or of a synthetic dataset's distribution.
    unit
        Unit of time.
    source, licence, citation
        Who published the data, on what terms, and what to cite.
    censored_in_paper
        The share of censored rows as the paper prints it; None for a dataset that the paper does not have.
    definition
        Of a synthetic dataset, whose distributions: ``"printed"`` in the paper, or in the code ``"released"`` with it.
    file, sha256
        Name and digest of the publisher's file, None where no file is needed.
    url, page
        Where that file can be fetched; where it has no lasting address of its own, the page that offers it.
    how
        How to get a file that has no address.
    packaged
        Whether the data come with aldsurv, so that the file is not needed.
    time_step
        Step in which times were recorded, for tables that have times at 0; see `Dataset.with_positive_times`.
    """

    kind: Literal["synthetic", "clinical"]
    n_train: int
    n_test: int
    feature_names: tuple[str, ...]
    censored: float
    unit: str
    source: str
    licence: str
    citation: str
    censored_in_paper: float | None = None
    definition: Literal["printed", "released"] | None = None
    file: str | None = None
    sha256: str | None = None
    url: str | None = None
    page: str | None = None
    how: str | None = None
    packaged: bool = False
    time_step: float | None = None

    @property
    def rows(self) -> int:
        """Rows of the whole dataset."""
        return self.n_train + self.n_test

    @property
    def n_features(self) -> int:
        """Columns of ``x``."""
        return len(self.feature_names)

    def __str__(self) -> str:
        """Some lines of text for a reader."""
        split = f"{self.n_train} for training, {self.n_test} for testing"
        lines = [
            f"{self.name}: {self.purpose} ({self.kind if self.definition is None else f'as {self.definition}'})",
            f"rows      {self.rows} ({split}), {100 * self.censored:.1f} % censored",
            f"features  {self.n_features}: {', '.join(self.feature_names)}",
            f"time      {self.unit}",
            f"source    {self.source}",
            f"licence   {self.licence}",
            f"cite      {self.citation}",
        ]
        if self.file is not None and not self.packaged:
            lines.append(f"file      {self.file}{'' if self.how is None else f'. {self.how}'}")
        return "\n".join(fill(line, _WIDTH, subsequent_indent=" " * 10, break_long_words=False) for line in lines)
