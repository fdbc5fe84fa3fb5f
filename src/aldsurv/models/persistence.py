"""A fitted model as one file, and back: data only, read with numpy and safetensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aldsurv import __version__
from aldsurv.errors import AldsurvError, ModelFileError
from aldsurv.files.model_file import content_digest, read_model_file, write_model_file
from aldsurv.models.file_entries import FileContent, require, text
from aldsurv.registry import saved_model_class, saved_model_name

__all__ = ["load", "model_digest", "save"]

_KIND = "fitted model"


def save(model: Any, path: Any) -> Path:
    """Write a fitted model; the file is replaced as a whole."""
    return write_model_file(path, *_content(model))


def model_digest(model: Any) -> str:
    """The SHA-256 that the file of a fitted model has."""
    return content_digest(*_content(model))


def _content(model: Any) -> FileContent:
    document, arrays = model._to_file()
    name = saved_model_name(type(model))
    return {"kind": _KIND, "model": name, "version": __version__, **document}, arrays


def load(path: Any, *, encoder: object = None) -> Any:
    """Read a model that was saved; predicting with it needs numpy and safetensors.

    Parameters
    ----------
    path
        The file.
    encoder
        If the model was trained with an encoder: the module, or the function that makes it, again. Its weights come
        from the file.

    Returns
    -------
    SurvivalEstimator
        The estimator, fitted; its predictions are the same bits as those of the one that was saved.
    """
    document, arrays = read_model_file(path)
    try:
        require(document.get("kind") == _KIND, f"it is a {document.get('kind')!r}, not a {_KIND}")
        kind = saved_model_class(text(document.get("model"), "model"))
        text(document.get("version"), "version")
        entries = {name: value for name, value in document.items() if name not in ("kind", "model", "version")}
        model = kind._from_file(entries, arrays, encoder)
        if model.ranking_point_ == "follow_up":
            known = model.trained_on_ is not None and model.trained_on_.follow_up is not None
            require(known, "the end of follow-up, by which it ranks, is missing")
        return model
    except ModelFileError as error:
        raise ModelFileError(f"{str(path)!r}: {error}") from None
    except (AldsurvError, KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ModelFileError(
            f"{str(path)!r} does not hold a model that can be used: {reason or type(error).__name__}"
        ) from None
