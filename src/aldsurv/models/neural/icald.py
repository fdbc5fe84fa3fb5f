"""The individually calibrated model: a randomised forecaster, and as its prediction the mixture over the randomness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import ParameterError
from aldsurv.models.neural.fitting.preparation import with_log_times
from aldsurv.models.neural.level_settings import check_level_settings
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.networks import Architecture
from aldsurv.networks.level_grid import level_nodes

if TYPE_CHECKING:
    from aldsurv.losses.objective import Objective

__all__ = ["ICALDSurvival"]

_FAMILIES = {
    "real": "asymmetric_laplace",
    "positive": "positive_asymmetric_laplace",
    "log": "log_asymmetric_laplace",
}
# Beyond e^80 nothing is known any more, and squares must stay finite.
_LARGEST_LOG = 80.0
_PAPER: dict[str, Any] = {
    "likelihood_share": 0.1,
    "target": "cdf",
    "nodes": 32,
    "level_units": (8, 4),
    "support": "real",
    "theta_link": "identity",
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
    # As for the model without a level: outputs that start near e⁰ suit times around 1.
    "time_scale": "median",
    "clip_features": 5.0,
    "point": "mean",
}
_DEFAULT: dict[str, Any] = {
    **_PAPER,
    # With a tenth, distributions are far too wide: docs/icald.md.
    "likelihood_share": 0.5,
    "support": "log",
    "theta_link": "auto",
    "activation": "silu",
    "members": 5,
    "optimizer": "adamw",
    "learning_rate": 0.003,
    "batch_size": "auto",
    "patience": 15,
    "weight_decay": 0.1,
    "clip_norm": 1.0,
    "start": "marginal",
    "point": "median",
}


@final
class ICALDSurvival(NeuralSurvival):
    """Individual survival distributions by an asymmetric Laplace distribution that a random level moves.

    The network is given a level q beside the covariates, a fresh one for each row and step, and is trained to call the
    event of the row so probable: ``F(y|x, q)`` is to be q. The loss is a mean over rows of
    ``w·(-log-likelihood) + (1 - w)·|F(y|x, q) - q|``; of a right-censored row only ``F(c|x, q) > q`` is a fault. The
    prediction is the mixture over q, by quadrature. Left- and interval-censored rows, delayed entry and weights are
    heeded.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``.

    Parameters
    ----------
    recipe
        ``"default"``, or ``"paper"`` for network, loss and training as close to the published ones as is known.
    likelihood_share
        w, above 0 and up to 1: with less, levels come nearer to what they should be and distributions get wider.
    target
        What goes with the likelihood: ``"cdf"`` for ``|F(y|x, q) - q|``, or ``"pinball"`` for the pinball loss
        ``ρ_q(y - θ(x, q))`` in the unit inside (``time_scale``; with support log, of log time).
    nodes
        Levels whose distributions make up the prediction of each member, nodes of Gauss-Legendre quadrature.
    level_units
        Sizes of the layers that embed the level; each head and its output see the last of them.
    support
        ``"real"`` (the paper's: some mass below 0), ``"positive"`` (the same cut off at 0) or ``"log"`` (the
        logarithm of time has the asymmetric Laplace distribution).
    theta_link
        How θ comes from its output: ``"exp"``, ``"identity"``, or ``"auto"``: exp with support positive, where θ
        would otherwise run below 0, else identity.
    hidden, head_hidden
        Sizes of the layers that θ, σ and κ share, and of those that each has for itself.
    activation, residual, batch_norm, dropout
        Kind of the units, whether shared layers pass on a projection of their input, normalisation, share dropped.
    encoder
        A torch module, or a function that makes one, in place of the shared layers, as for `ALDSurvival`.
    members
        Networks of the ensemble; the prediction is the mixture of theirs. Each has validation rows of its own.
    optimizer, learning_rate, schedule, warmup, batch_size, max_epochs, patience, weight_decay, clip_norm
        As in `aldsurv.training.TrainingSettings`; 0 switches patience, decay or clipping off.
    validation
        Share of the rows that decides when to stop, at fixed levels; 0 for none. Under ten rows none are held out.
    start
        ``"marginal"``: begin at the best distribution without covariates and level; ``"random"``.
    time_scale
        What is one unit of time inside: ``"median"`` or ``"std"`` of the times, ``"none"`` or a number.
        Answers are in the unit of the data in any case.
    clip_features
        Largest absolute value of a standardised column; 0 for no limit.
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
        Every setting that was used.
    history_
        Losses of each epoch and member.
    error_point_, ranking_point_, point_scores_
        The summary that `predict_time` gives and the one that `predict` ranks by; with ``point="auto"`` what they were
        chosen by: as in `ALDSurvival`.
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
    >>> d = ICALDSurvival(random_state=0).fit(x, y).predict_distribution([[-1.0, 0.0], [1.0, 0.0]])
    >>> d
    MixedAsymmetricLaplace(n=2, components=160, support='log')
    >>> bool(d.median()[0] < d.median()[1])
    True
    """

    _RECIPES: ClassVar[dict[str, dict[str, Any]]] = {"default": _DEFAULT, "paper": _PAPER}

    likelihood_share: float | None
    target: str | None
    nodes: int | None
    level_units: Sequence[int] | None
    support: str | None
    theta_link: str | None
    time_scale: str | float | None

    def __init__(
        self,
        recipe: str = "default",
        *,
        likelihood_share: float | None = None,
        target: str | None = None,
        nodes: int | None = None,
        level_units: Sequence[int] | None = None,
        support: str | None = None,
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
        if settings["theta_link"] == "auto":
            settings["theta_link"] = "exp" if settings["support"] == "positive" else "identity"
        return settings

    def _check_settings(self, settings: dict[str, Any]) -> None:
        super()._check_settings(settings)
        check_level_settings(settings["likelihood_share"], settings["target"], settings["nodes"])
        sizes = settings["level_units"]
        if not sizes and not isinstance(sizes, (int, str)):
            raise ParameterError("level_units must be sizes of at least one layer, such as (8, 4), but are none.")
        if settings["support"] not in _FAMILIES:
            raise ParameterError(f"support must be one of {', '.join(_FAMILIES)}, but is {settings['support']!r}.")
        if settings["theta_link"] not in ("exp", "identity", "auto"):
            raise ParameterError(f"theta_link must be 'exp', 'identity' or 'auto', but is {settings['theta_link']!r}.")

    def _target(self, data: SurvivalData, settings: dict[str, Any]) -> SurvivalData:
        return with_log_times(data) if settings["support"] == "log" else data

    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Objective:
        from aldsurv.losses.level_objective import level_objective

        settings = prepared[0].settings
        return level_objective(
            SUPPORTS[settings["support"]],
            (settings["theta_link"], "exp", "exp"),
            data,
            share=settings["likelihood_share"],
            target=settings["target"],
            unit=units,
            device=device,
        )

    def _levels(self) -> NDArray[np.float64]:
        return np.array([level for level, _ in level_nodes(self.settings_["nodes"])])

    def _member_distribution(self, raw: NDArray[np.float64], member: int, X: Any) -> SurvivalDistribution:
        shares = [share for _, share in level_nodes(self.settings_["nodes"])]
        theta, log_sigma, log_kappa = np.moveaxis(raw, -1, 0)
        if self.settings_["theta_link"] == "exp":
            theta = np.exp(np.clip(theta, -_LARGEST_LOG, _LARGEST_LOG))
        sigma, kappa = (np.exp(np.clip(column, -_LARGEST_LOG, _LARGEST_LOG)) for column in (log_sigma, log_kappa))
        return MixedAsymmetricLaplace(theta, sigma, kappa, shares, support=self.settings_["support"])

    def _combined(self, parts: list[SurvivalDistribution]) -> SurvivalDistribution:
        return MixedAsymmetricLaplace.joined([part for part in parts if isinstance(part, MixedAsymmetricLaplace)])

    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        if network.outputs != 3 or network.constants or not network.level_units:
            raise ParameterError("the network must take a level and have three outputs.")
        if learned:
            raise ParameterError(f"there is nothing to know beside the network, but there is {sorted(learned)[0]}.")

    def _kind(self) -> str:
        kind = _FAMILIES[self.settings_["support"]].replace("_", " ")
        return f"individually calibrated {kind} ({self.settings_['nodes']} levels)"
