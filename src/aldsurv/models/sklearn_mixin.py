"""What scikit-learn expects of an estimator, without importing it.

A saved model is loaded and used where only numpy is installed, so estimators do not derive from
``sklearn.base.BaseEstimator``; they answer its questions (parameters, tags, metadata routing), and what needs
scikit-learn's own types is imported when scikit-learn asks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from aldsurv.display.html import html_block, html_facts, html_note
from aldsurv.errors import NotFittedError, ParameterError
from aldsurv.quoting import quoted, suggest_names

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SklearnEstimatorMixin", "with_inherited_parameters"]

_UNCHANGED = "$UNCHANGED$"
_PARAMETERS = "Parameters\n----------\n"


def with_inherited_parameters(document: str | None, base: str | None) -> str | None:
    """The docstring of a class with the parameters that the one of its base documents behind its own.

    Shared parameters stand once in the source, and all of them in ``help`` and in notebooks.
    """
    if document is None or base is None:
        return document
    document, base = inspect.cleandoc(document), inspect.cleandoc(base)
    shared = base.split(_PARAMETERS)[1].split("\nAttributes\n", 1)[0].strip()
    if _PARAMETERS not in document:
        summary, examples, rest = document.partition("\nExamples\n")
        return f"{summary}\n{_PARAMETERS}{shared}\n{examples}{rest}"
    before, own = document.split(_PARAMETERS)
    ends = [own.find(f"\n{title}\n-") for title in ("Attributes", "Examples")]
    end = min((place for place in ends if place >= 0), default=len(own))
    return f"{before}{_PARAMETERS}{own[:end].rstrip()}\n{shared}\n{own[end:]}"


# Reading a signature takes longer than all else that scikit-learn asks for when it copies an estimator.
@cache
def _defaults_of(constructor: Callable[..., None]) -> Mapping[str, Any]:
    arguments = inspect.signature(constructor).parameters.values()
    return {argument.name: argument.default for argument in arguments if argument.name != "self"}


class SklearnEstimatorMixin:
    """Parameters are the arguments of the constructor, stored as given and checked in ``fit``."""

    @classmethod
    def parameter_defaults(cls) -> dict[str, Any]:
        """Names and default values of the constructor's parameters."""
        return dict(_defaults_of(cls.__init__))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and their values; `deep` makes no difference, as none is an estimator itself."""
        return {name: getattr(self, name) for name in self.parameter_defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        names = self.parameter_defaults()
        for name, value in params.items():
            if name not in names:
                hint = suggest_names(name, names, most=1)
                raise ParameterError(f"{type(self).__name__} has no parameter {quoted(name)}. {hint}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = self._changed_parameters()
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def _repr_html_(self) -> str:
        changed = self._changed_parameters()
        text = {name: quoted(value, 120) for name, value in changed.items()} or {"parameters": "default"}
        return html_block(type(self).__name__, html_facts(text), *self._html_of_fit())

    def _html_of_fit(self) -> list[str]:
        """What a notebook shows of a fitted estimator, below its parameters."""
        return [] if self.__sklearn_is_fitted__() else [html_note("not fitted")]

    def _changed_parameters(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        defaults = self.parameter_defaults()
        return {n: v for n, v in self.get_params(deep=False).items() if not _same(v, defaults[n])}

    def _require_fitted(self) -> None:
        if self.__sklearn_is_fitted__():
            return
        raise _not_fitted(f"this {type(self).__name__} instance is not fitted yet. Call fit(X, y) first.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, positive_only=True),
            input_tags=InputTags(allow_nan=True, categorical=True, string=True),
        )

    def get_metadata_routing(self) -> Any:
        """Which metadata ``fit`` and ``score`` ask for, in scikit-learn's own form."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = getattr(self, "_metadata_request", None)
        if request is None:
            request = MetadataRequest(owner=type(self).__name__)
            for method in ("fit", "score"):
                getattr(request, method).add_request(param="sample_weight", alias=None)
            # Groups that folds keep whole must stay whole within them, too.
            request.fit.add_request(param="groups", alias=True)
        return request

    def set_fit_request(
        self, *, sample_weight: bool | str | None = _UNCHANGED, groups: bool | str | None = _UNCHANGED
    ) -> Self:
        """Whether a meta-estimator passes `sample_weight` and `groups` to ``fit``: see scikit-learn's metadata routing.

        Groups are passed unless False is given.
        """
        return self._set_request("fit", sample_weight=sample_weight, groups=groups)

    def set_score_request(self, *, sample_weight: bool | str | None = _UNCHANGED) -> Self:
        """Whether a meta-estimator passes `sample_weight` to ``score``: see scikit-learn's metadata routing."""
        return self._set_request("score", sample_weight=sample_weight)

    def _set_request(self, method: str, **aliases: bool | str | None) -> Self:
        changed = {name: alias for name, alias in aliases.items() if alias != _UNCHANGED}
        if changed:
            request = self.get_metadata_routing()
            for name, alias in changed.items():
                getattr(request, method).add_request(param=name, alias=alias)
            self._metadata_request = request
        return self


def _not_fitted(message: str) -> NotFittedError:
    """An error that callers may catch as ours or as the one that scikit-learn's own estimators raise."""
    try:
        from sklearn.exceptions import NotFittedError as TheirError
    except ImportError:
        return NotFittedError(message)
    # A class made here is not found by its name: it is made again where a worker process hands it back.
    again = {"__reduce__": lambda self: (_not_fitted, self.args)}
    made: NotFittedError = type("NotFittedError", (NotFittedError, TheirError), again)(message)
    return made


def _same(value: object, default: Any) -> bool:
    return value is default or (
        type(value) is type(default) and isinstance(value, (str, int, float, tuple)) and value == default
    )
