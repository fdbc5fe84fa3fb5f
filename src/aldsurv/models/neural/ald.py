"""The model of the paper: a network gives every individual an asymmetric Laplace distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.errors import ParameterError
from aldsurv.models.neural.fitting.preparation import base_seed, with_log_times
from aldsurv.models.neural.mixture_survival import MixtureSurvival
from aldsurv.models.neural.network_space import NETWORK_ENTRIES
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.models.search_space import OneOf, SearchSpace
from aldsurv.networks import Architecture

if TYPE_CHECKING:
    from aldsurv.losses.objective import Objective

__all__ = ["ALDSurvival"]

_FAMILIES = {
    "real": "asymmetric_laplace",
    "positive": "positive_asymmetric_laplace",
    "log": "log_asymmetric_laplace",
}
# In the order in which they are tried; the first is taken if nothing can be compared.
_TRIED = ("log", "positive", "real")
# Settings that earlier files do not have, as they were then; those of one group came together.
_CAME_LATER: tuple[dict[str, Any], ...] = (
    {"components": 1, "shapes": "tied"},
    {"bins": 0, "calibration": 0.0, "crps": 0.0},
)
_PAPER: dict[str, Any] = {
    "support": "real",
    "components": 1,
    "shapes": "tied",
    "theta_link": "exp",
    "hidden": (32,),
    "head_hidden": (32,),
    "activation": "relu",
    "residual": True,
    "batch_norm": False,
    "dropout": 0.1,
    "members": 1,
    "optimizer": "adam",
    "learning_rate": 0.01,
    "schedule": "constant",
    "warmup": 0,
    "batch_size": 128,
    "max_epochs": 200,
    "patience": 10,
    "weight_decay": 0.0,
    "clip_norm": 0.0,
    "validation": 0.2,
    "start": "random",
    # The paper does not say in which unit time enters the network; outputs that start near e⁰ suit times around 1.
    "time_scale": "median",
    "clip_features": 5.0,
    "bins": 0,
    "calibration": 0.0,
    "crps": 0.0,
    "point": "mean",
}
_DEFAULT: dict[str, Any] = {
    **_PAPER,
    "support": "log",
    "components": 5,
    "theta_link": "auto",
    "head_hidden": (),
    "activation": "silu",
    "members": 5,
    "optimizer": "adamw",
    "learning_rate": 0.01,
    "batch_size": "auto",
    "weight_decay": "auto",
    "clip_norm": 1.0,
    "start": "marginal",
    "bins": "auto",
    "point": "median",
}


@final
class ALDSurvival(MixtureSurvival):
    """Individual survival distributions by an asymmetric Laplace distribution whose parameters a network gives.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``.

    Parameters
    ----------
    recipe
        ``"default"``, or ``"paper"`` for the network and training of Sheng & Henao (2025).
    support
        ``"real"`` (the paper's: some mass below 0), ``"positive"`` (the same cut off at 0), ``"log"`` (the logarithm
        of time has the asymmetric Laplace distribution), or ``"auto"``: all three are trained, and the one with the
        highest log-likelihood on the members' validation rows is kept; log if under ten events are held out.
    components
        Asymmetric Laplace components of each row's distribution; 1 is the paper's model, more make it a mixture.
    shapes
        Of several components: ``"free"``, each parameter a function of the covariates, or ``"tied"``: covariates move
        one location, one scale and the weights, and the places of the components around them are the same for all.
    theta_link
        How θ comes from its output: ``"exp"``, ``"identity"``, or ``"auto"``: exp with support positive, where θ
        would otherwise run below 0, else identity.
    hidden, head_hidden
        Sizes of the layers that θ, σ and κ share, and of those that each has for itself.
    activation, residual, batch_norm, dropout
        Kind of the units, whether shared layers pass on a projection of their input, normalisation, share dropped.
    encoder
        A torch module, or a function that makes one, in place of the shared layers: it gets X as it is, of any
        shape ``(n, ...)``, and gives ``(n, numbers)``. A module's weights are where every member starts.
    members
        Networks of the ensemble; the prediction is the mixture of theirs. Each has validation rows of its own.
    optimizer, learning_rate, schedule, warmup, batch_size, max_epochs, patience, weight_decay, clip_norm
        As in `aldsurv.training.TrainingSettings`; 0 switches patience, decay or clipping off.
    validation
        Share of the rows that decides when to stop; 0 for none. Under ten rows none are held out.
    start
        ``"marginal"``: begin at the best distribution without covariates; ``"random"``.
    time_scale
        What is one unit of time inside: ``"median"`` or ``"std"`` of the times, ``"none"`` or a number.
        Answers are in the unit of the data in any case.
    clip_features
        Largest absolute value of a standardised column; 0 for no limit.
    bins
        Pieces into which the quantiles of a column of numbers divide it; how far each row has come through each piece
        stands beside the column. 0 for none; ``"auto"``: 8 up to 100,000 rows and 250 columns, and none beyond, where
        the network sees enough rows to bend by itself, or too few for so many pieces.
    calibration
        Weight of X-CAL, a smooth CensDcal of each batch, in the loss; 0 for none.
    crps
        Share, from 0 to 1, that the survival-CRPS up to the last training time takes of the loss in place of the
        likelihood, with time in the unit inside.
    point
        Summary that is the predicted time, and by which rows are ranked: ``"median"``, ``"mean"``, ``"mode"``,
        ``"restricted_mean"``, or ``"auto"``: one for each use, by the members' validation rows.
    categorical
        Columns, by name or number, whose numbers are categories.
    unit
        Name of the unit of time, such as ``"months"``; kept with the model, for people who read it.
    device
        ``"auto"`` (a CUDA device if there is one), ``"cpu"``, …
    random_state
        Seed: the same seed gives the same bits on the same machine.
    progress
        Whether to show a progress bar; ``"auto"``: in a terminal.
    callbacks
        Functions that are called with an `EpochReport` after each epoch; True ends training.
    checkpoint
        A file from which a killed fit goes on.

    Attributes
    ----------
    settings_
        Every setting that was used; of the supports the one that was chosen.
    support_scores_
        With ``support="auto"`` the mean log-likelihood of the held-out rows by support, in the unit of the data; empty
        if the support was given, or too little was held out.
    error_point_, ranking_point_
        The summary that `predict_time` gives, and the one by which `predict` and `score` rank: `point`, or the chosen.
    point_scores_
        With ``point="auto"`` for ``"error"`` and ``"ranking"`` by summary the score and the standard error of its
        distance to the median's; else empty.
    history_
        Losses of each epoch and member, as mean negative log-likelihood in the unit of the data; with `calibration` or
        `crps` with those terms, which are then also in what decides when to stop.
    features_
        How columns become numbers.
    trained_on_
        Rows, events, range of time, fingerprint of the data, versions.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> event_time, censoring = np.exp(x[:, 0] + rng.normal(size=300) / 2), rng.exponential(5, 300)
    >>> y = np.minimum(event_time, censoring), event_time <= censoring
    >>> model = ALDSurvival(random_state=0).fit(x, y)
    >>> d = model.predict_distribution([[-1.0, 0.0], [1.0, 0.0]])
    >>> bool(d.median()[0] < d.median()[1]), d.survival([1.0, 2.0, 4.0]).shape
    (True, (2, 3))
    """

    support_scores_: dict[str, float]

    _RECIPES: ClassVar[dict[str, dict[str, Any]]] = {"default": _DEFAULT, "paper": _PAPER}

    support: str | None
    components: int | None
    shapes: str | None
    theta_link: str | None
    time_scale: str | float | None
    bins: int | str | None
    calibration: float | None
    crps: float | None

    def __init__(
        self,
        recipe: str = "default",
        *,
        support: str | None = None,
        components: int | None = None,
        shapes: str | None = None,
        theta_link: str | None = None,
        hidden: Sequence[int] | None = None,
        head_hidden: Sequence[int] | None = None,
        activation: str | None = None,
        residual: bool | None = None,
        batch_norm: bool | None = None,
        dropout: float | None = None,
        encoder: Any = None,
        members: int | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        warmup: int | None = None,
        batch_size: int | str | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        weight_decay: float | str | None = None,
        clip_norm: float | None = None,
        validation: float | None = None,
        start: str | None = None,
        time_scale: str | float | None = None,
        clip_features: float | None = None,
        bins: int | str | None = None,
        calibration: float | None = None,
        crps: float | None = None,
        point: str | None = None,
        categorical: Sequence[str | int] | None = None,
        unit: str | None = None,
        device: str = "auto",
        random_state: Any = None,
        progress: bool | str = "auto",
        callbacks: Sequence[Any] | None = None,
        checkpoint: Any = None,
    ) -> None:
        self._keep(locals())

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if settings["theta_link"] == "auto" and settings["support"] != "auto":
            settings["theta_link"] = "exp" if settings["support"] == "positive" else "identity"
        return settings

    def _candidates(self) -> list[NeuralSurvival]:
        if self._settings()["support"] != "auto":
            return [self]
        # The same seed for all: what is kept is what a fit with that support alone would be.
        given = {**self.get_params(), "random_state": base_seed(self.random_state)}
        found: list[NeuralSurvival] = []
        for support in _TRIED:
            own = {} if self.checkpoint is None else {"checkpoint": f"{self.checkpoint}.{support}"}
            found.append(ALDSurvival(**{**given, "support": support, **own}))
        return found

    def _keep_best(self, candidates: Sequence[NeuralSurvival], prepared: Sequence[Prepared]) -> int:
        scores = [_held_out_score(model, own) for model, own in zip(candidates, prepared, strict=True)]
        best = int(np.argmax(scores))
        self._become(candidates[best])
        compared = {str(model.settings_["support"]): score for model, score in zip(candidates, scores, strict=True)}
        self.support_scores_ = compared if len(compared) > 1 else {}
        return best

    def _remember(self, *arguments: Any) -> None:
        super()._remember(*arguments)
        self.support_scores_ = {}

    def _choices(self) -> dict[str, Any]:
        found = super()._choices()
        return {**found, "support_scores": self.support_scores_} if self.support_scores_ else found

    def _restore_choices(self, found: dict[str, Any]) -> None:
        self.support_scores_ = {
            support: float(score) for support, score in found.pop("support_scores", {}).items() if support in _FAMILIES
        }
        super()._restore_choices(found)

    def _told_choices(self) -> dict[str, str]:
        found = super()._told_choices()
        if not self.support_scores_:
            return found
        told = ", ".join(f"{name} {score:.4f}" for name, score in self.support_scores_.items())
        return {"support": f"{self.settings_['support']}, by the log-likelihood: {told}", **found}

    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        if settings["support"] not in _FAMILIES:
            raise ParameterError(f"a fitted model has one support, but this has {settings['support']!r}.")
        super()._check_learned(settings, network, members, learned)

    def _family(self, settings: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return _FAMILIES[settings["support"]], (settings["theta_link"], "exp", "exp")

    def _check_settings(self, settings: dict[str, Any]) -> None:
        super()._check_settings(settings)
        if settings["support"] not in (*_FAMILIES, "auto"):
            allowed = ", ".join((*_FAMILIES, "auto"))
            raise ParameterError(f"support must be one of {allowed}, but is {settings['support']!r}.")
        if settings["theta_link"] not in ("exp", "identity", "auto"):
            raise ParameterError(f"theta_link must be 'exp', 'identity' or 'auto', but is {settings['theta_link']!r}.")

        for name, most, allowed in (("calibration", math.inf, "a finite number from 0"), ("crps", 1.0, "from 0 to 1")):
            value = settings[name]
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 <= value <= most or value == math.inf:
                raise ParameterError(f"{name} must be {allowed} (0: not used), but is {value!r}.")

    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Objective:
        return self._with_terms(super()._objective(prepared, data, units, device), prepared, data, device)

    def _told_loss(self, loss: float) -> tuple[str, str]:
        settings = self.settings_
        # With terms beside it the loss is no log-likelihood.
        return ("loss", f"{loss:.4f}") if settings["calibration"] or settings["crps"] else super()._told_loss(loss)

    def _target(self, data: SurvivalData, settings: dict[str, Any]) -> SurvivalData:
        return with_log_times(data) if settings["support"] == "log" else data

    @classmethod
    def _from_file(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None
    ) -> NeuralSurvival:
        parameters, settings = document.get("parameters"), document.get("settings")
        if isinstance(parameters, dict) and isinstance(settings, dict):
            for group in _CAME_LATER:
                # Written before there was such a thing if there is no trace of it; half a trace is damage.
                earlier = {} if set(group) & {*parameters, *settings} else group
                parameters, settings = {**dict.fromkeys(earlier), **parameters}, {**earlier, **settings}
            document = {**document, "parameters": parameters, "settings": settings}
        return super()._from_file(document, arrays, encoder)

    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(
        {**NETWORK_ENTRIES, "support": OneOf(("log", "positive", "real")), "components": OneOf((1, 2, 3, 5))},
        "log_likelihood",
    )


def _held_out_score(model: NeuralSurvival, prepared: Prepared) -> float:
    """Mean log-likelihood of what each member says of its own validation rows; a density of time in any support."""
    if prepared.rows.validation is None:
        return 0.0
    data, total, weight = with_zero_as_early(prepared.observed), 0.0, 0.0
    for part in model._held_out(prepared):
        rows = data[part.numbers]
        total += float(np.sum(part.predicted.log_likelihood(rows)))
        weight += rows.total_weight
    return total / weight
