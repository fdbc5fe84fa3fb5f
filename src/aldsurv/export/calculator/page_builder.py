"""One self-contained page that computes in the browser what a fitted model predicts."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import warnings
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aldsurv
from aldsurv.columns.column_labels import ColumnLabels, warn_of_unknown_labels
from aldsurv.errors import AldsurvWarning, ParameterError
from aldsurv.export.calculator.page_times import checked_times, default_times, latest_time
from aldsurv.export.calculator.page_words import lead_text, model_facts, page_title, use_text, warning_text
from aldsurv.export.calculator.script_joining import join_modules
from aldsurv.export.times_and_levels import end_of_follow_up
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.persistence import load
from aldsurv.quoting import printable

__all__ = ["MOST_BYTES", "build_page", "page_script"]

# A page of more bytes is slow to send and to open on a phone.
MOST_BYTES = 1_000_000

_START = "calculator/script/page.js"
_FOLDERS = ("javascript", "calculator/script")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def build_page(
    model: SurvivalEstimator | str | os.PathLike[str],
    *,
    labels: object = None,
    times: Sequence[float] | None = None,
    title: str | None = None,
    event_name: str | None = None,
    unit: str | None = None,
    use: str | None = None,
) -> str:
    """The page as HTML: form, curves and tables, with the model and the program that computes from it inside.

    It needs no other file and no network, and its content security policy forbids both. What is typed stays in the
    browser. Everything in the model file is in the page: ranges, medians and levels of the columns, the number of rows
    and events, the times at which a baseline jumps; no rows.

    Parameters
    ----------
    model
        A fitted model, or the path of its file. Models with an encoder are refused.
    labels
        What columns are called: by column a label, or a mapping with ``label``, ``unit`` and ``levels``; or the path of
        such a file, as `aldsurv.reports.read_labels` takes it.
    times
        Times at which probabilities are shown at first; None: up to three round ones within follow-up.
    title
        The heading.
    event_name
        What the event is called, such as death or relapse.
    unit
        Of time, if the model has none.
    use
        Whom and what the page is for, in a sentence that is shown on it.
    """
    titles = ColumnLabels.of(labels)
    fitted: SurvivalEstimator = model if isinstance(model, SurvivalEstimator) else load(model)
    _require_columns(fitted)
    content = _file_bytes(model)
    warn_of_unknown_labels(titles, [name if isinstance(name, str) else f"x{name}" for name in fitted.columns_])
    event, unit = _line(event_name), _line(unit) or fitted.innermost.get_params().get("unit")
    latest = latest_time(float(fitted.unique_times_[-1]))
    chosen = default_times(end_of_follow_up(fitted), unit) if times is None else checked_times(times, latest)
    settings = {
        "event": event,
        "unit": unit,
        "times": chosen,
        "latest": latest,
        "main": chosen[len(chosen) // 2],
        "horizon": chosen[-1],
        "labels": _plain_labels(titles),
    }
    page = _rendered(content, fitted, settings, _line(title) or page_title(fitted, event), _line(use))
    size = len(page.encode())
    if size > MOST_BYTES:
        warnings.warn(
            f"the page has {size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:g}: {_share_text(content, size)} Fewer "
            "members or smaller networks make it smaller.",
            AldsurvWarning,
            stacklevel=2,
        )
    return page


@cache
def page_script() -> str:
    """The program of every page: what reads models and predicts, and what draws the page."""
    root = resources.files("aldsurv.export")
    texts: dict[str, str] = {}
    for folder in _FOLDERS:
        _add_modules(root.joinpath(*folder.split("/")), folder, texts)
    return join_modules(texts, _START)


def _add_modules(folder: Any, path: str, texts: dict[str, str]) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            _add_modules(entry, f"{path}/{entry.name}", texts)
        elif entry.name.endswith(".js"):
            texts[f"{path}/{entry.name}"] = entry.read_text(encoding="utf-8")


def _file_bytes(model: SurvivalEstimator | str | os.PathLike[str]) -> bytes:
    """The bytes of the model's file, or of the one that it would have."""
    if not isinstance(model, SurvivalEstimator):
        return Path(model).read_bytes()
    with TemporaryDirectory(prefix="aldsurv-", ignore_cleanup_errors=True) as folder:
        return model.save(Path(folder) / "model.aldsurv").read_bytes()


def _require_columns(model: SurvivalEstimator) -> None:
    if model.innermost.features_ is None:
        raise ParameterError(
            f"this {type(model).__name__} has an encoder, which is a program and not numbers: no page can run it",
            argument="model",
            advice="Take a model without an encoder.",
        )


def _line(text: str | None) -> str | None:
    """A text of the user in one line; None if nothing is in it."""
    return None if text is None else printable(" ".join(text.split())) or None


def _plain_labels(labels: ColumnLabels) -> dict[str, dict[str, Any]]:
    return {
        name: {"label": entry.label, "unit": entry.unit, "levels": dict(entry.levels)}
        for name, entry in labels.columns.items()
    }


def _rendered(
    content: bytes, model: SurvivalEstimator, settings: Mapping[str, Any], title: str, use: str | None
) -> str:
    script, style = page_script(), _asset("calculator.css")
    warning_title, warning = warning_text()
    unit = settings["unit"]
    facts = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in model_facts(model, unit)
    )
    parts = {
        "title": escape(title),
        "lead": escape(lead_text(model, settings["event"])),
        "warning_title": escape(warning_title),
        "warning": escape(warning),
        "about": f"<p>{escape(use_text(model, use, unit))}</p>",
        "facts": facts,
        "version": escape(aldsurv.__version__),
        "settings": _script_json(settings),
        "model": _packed(content),
        "model_size": str(len(content)),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
    }
    # In one pass: what is put in is not searched for places again.
    page = _PLACE.sub(lambda match: parts[match[1]], _asset("calculator.html"))
    # Lone surrogates, as in names that are not UTF-8, cannot be encoded.
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def _script_json(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _packed(content: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(content) + packer.flush()).decode()


def _share_text(content: bytes, size: int) -> str:
    return f"{len(_packed(content)) / size:.0%} of it is the model."


def _asset(name: str) -> str:
    return (resources.files("aldsurv.export") / "calculator" / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
