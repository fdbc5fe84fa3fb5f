"""Files that are written whole or not at all, and the model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aldsurv.files.writing import whole_file, write_text

if TYPE_CHECKING:
    from aldsurv.files.model_file import ModelFile, file_digest, read_model_file, write_model_file

__all__ = ["ModelFile", "file_digest", "read_model_file", "whole_file", "write_model_file", "write_text"]

_OF_MODEL_FILE = ("ModelFile", "file_digest", "read_model_file", "write_model_file")


def __getattr__(name: str) -> Any:
    if name not in _OF_MODEL_FILE:
        raise AttributeError(f"module 'aldsurv.files' has no attribute {name!r}")
    # Only model files need numpy: text is written without it.
    from aldsurv.files import model_file

    return getattr(model_file, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
