"""How to cite the method and the software, as in CITATION.cff, which is not part of the package."""

from __future__ import annotations

import aldsurv

__all__ = ["AUTHORS", "COLLECTION", "IDENTIFIER", "TITLE", "YEAR", "bibtex", "references"]

TITLE = "Learning Survival Distributions with the Asymmetric Laplace Distribution"
AUTHORS = (("Sheng", "Deming"), ("Henao", "Ricardo"))
YEAR = 2025
COLLECTION = "International Conference on Machine Learning (ICML 2025)"
IDENTIFIER = "arXiv:2505.03712"
_SOFTWARE_AUTHOR = "The aldsurv developers"


def references() -> tuple[tuple[str, str], ...]:
    """Paper and software as entries of a list of references."""
    authors = " and ".join(f"{given} {family}" for family, given in AUTHORS)
    return (
        ("The method.", f"{authors} ({YEAR}). {TITLE}. {COLLECTION}. {IDENTIFIER}."),
        ("The software.", f"{_SOFTWARE_AUTHOR}. aldsurv, version {aldsurv.__version__}."),
    )


def bibtex() -> str:
    """The same for BibTeX."""
    authors = " and ".join(f"{family}, {given}" for family, given in AUTHORS)
    paper = {"title": f"{{{TITLE}}}", "author": authors, "booktitle": COLLECTION, "year": str(YEAR), "note": IDENTIFIER}
    software = {
        "title": "aldsurv",
        "author": f"{{{_SOFTWARE_AUTHOR}}}",
        "version": aldsurv.__version__,
    }
    return _entry("inproceedings", "sheng2025learning", paper) + "\n\n" + _entry("software", "aldsurv", software)


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    return "\n".join([f"@{kind}{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])
