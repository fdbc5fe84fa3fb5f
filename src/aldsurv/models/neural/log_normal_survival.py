"""A network gives every individual a log-normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.neural.fitting.preparation import with_log_times
from aldsurv.models.neural.network_space import NETWORK_ENTRIES
from aldsurv.models.neural.parametric_survival import ParametricSurvival
from aldsurv.models.search_space import SearchSpace

__all__ = ["LogNormalSurvival"]

_PAPER: dict[str, Any] = {
    "hidden": (100, 100),
    "head_hidden": (),
    "activation": "relu",
    "residual": False,
    "batch_norm": False,
    # Epochs and dropout are the dataset's: aldsurv.models.paper_settings.
    "dropout": 0.0,
    "members": 1,
    "optimizer": "adam",
    "learning_rate": 0.01,
    "schedule": "constant",
    "warmup": 0,
    "batch_size": 128,
    "max_epochs": 100,
    "patience": 0,
    "weight_decay": 0.0,
    "clip_norm": 0.0,
    "validation": 0.0,
    "start": "random",
    # Outputs that start near 0 suit times around 1.
    "time_scale": "median",
    "clip_features": 5.0,
    "point": "mean",
}
_DEFAULT: dict[str, Any] = {
    **_PAPER,
    "hidden": (32,),
    "head_hidden": (32,),
    "activation": "silu",
    "residual": True,
    "dropout": 0.1,
    "members": 5,
    "optimizer": "adamw",
    "learning_rate": 0.003,
    "batch_size": "auto",
    "max_epochs": 200,
    "patience": 15,
    "weight_decay": 0.1,
    "clip_norm": 1.0,
    "validation": 0.2,
    "start": "marginal",
    "point": "median",
}


@final
class LogNormalSurvival(ParametricSurvival):
    """Individual survival distributions by a log-normal whose parameters a network gives.

    The logarithm of the time is normal with mean μ and standard deviation η; the network's two outputs are μ and,
    through softplus, η. Training maximises the likelihood under every kind of censoring. An event at time 0 is taken
    as one at or before the first later time.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``.

    Parameters
    ----------
    recipe
        ``"default"``, or ``"paper"`` for the network and training of the baseline LogNorm in Sheng & Henao (2025),
        whose epochs and dropout differ by dataset: see `aldsurv.models.paper_settings`.
    hidden, head_hidden
        Sizes of the layers that μ and η share, and of those that each has for itself.
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
    error_point_, ranking_point_, point_scores_
        The summary that `predict_time` gives and the one that `predict` ranks by; with ``point="auto"`` what they were
        chosen by: as in `ALDSurvival`.
    history_
        Losses of each epoch and member, as mean negative log-likelihood in the unit of the data.
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
    >>> model = LogNormalSurvival(random_state=0).fit(x, y)
    >>> d = model.predict_distribution([[-1.0, 0.0], [1.0, 0.0]])
    >>> bool(d.median()[0] < d.median()[1]), d.survival([1.0, 2.0, 4.0]).shape
    (True, (2, 3))
    """

    _RECIPES: ClassVar[dict[str, dict[str, Any]]] = {"default": _DEFAULT, "paper": _PAPER}

    time_scale: str | float | None

    def __init__(
        self,
        recipe: str = "default",
        *,
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

    def _family(self, settings: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        return "log_normal", ("identity", "softplus")

    def _target(self, data: SurvivalData, settings: dict[str, Any]) -> SurvivalData:
        return with_log_times(data)

    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(NETWORK_ENTRIES, "log_likelihood")
