"""Training: time beside a plain PyTorch loop, time and likelihood beside peers, memory on a million rows.

``python -m bench fit`` runs all, ``python -m bench.fit epochs peers models censoring memory`` those named. Seconds are
those of the processor on one thread: what else runs on the machine counts little.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import LogNormal, ProportionalHazards, Step
from aldsurv.models import ALDSurvival
from bench.fit_models import models
from bench.pages.results import PERFORMANCE, store_section, today
from bench.paper_data import Table, available, split

EPOCHS, BATCH, REPEATS = 30, 128, 5
MEMBERS = 10
SQRT2 = math.sqrt(2.0)
BIG_ROWS, BIG_COLUMNS = 1_000_000, 20


class PlainNetwork(nn.Module):
    """The paper's network as most people would write it."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.shared = nn.Linear(inputs, 32)
        self.projection = nn.Linear(inputs, 32, bias=False)
        self.dropout = nn.Dropout(0.1)
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1)) for _ in range(3)
        )

    def forward(self, x: Tensor) -> list[Tensor]:
        """Location, scale and asymmetry."""
        h = self.dropout(torch.relu(self.shared(x)) + self.projection(x))
        return [torch.exp(head(h)).squeeze(-1) for head in self.heads]


def plain_loss(parameters: list[Tensor], y: Tensor, event: Tensor) -> Tensor:
    theta, sigma, kappa = parameters
    z = y - theta
    above = torch.exp(-SQRT2 * kappa / sigma * z.clamp(min=0)) / (1 + kappa**2)
    below = 1 - kappa**2 / (1 + kappa**2) * torch.exp(SQRT2 / (sigma * kappa) * z.clamp(max=0))
    slope = torch.where(z >= 0, -SQRT2 * kappa / sigma, SQRT2 / (sigma * kappa))
    log_density = torch.log(SQRT2 / sigma * kappa / (1 + kappa**2)) + slope * z
    log_survival = torch.log(torch.where(z >= 0, above, below) + 1e-8)
    return -(event * log_density + (1 - event) * log_survival).mean()


def plain_fit(table: Table) -> None:
    """Autograd loss, default Adam, DataLoader; a validation loss after each epoch."""
    torch.manual_seed(0)
    x = (table.x - table.x.mean(0)) / table.x.std(0)
    columns = (x, table.time / table.time.std(), table.event)
    tensors = [torch.tensor(column, dtype=torch.float32) for column in columns]
    n = round(0.8 * len(table.time))
    loader = DataLoader(TensorDataset(*(t[:n] for t in tensors)), batch_size=BATCH, shuffle=True)
    network = PlainNetwork(x.shape[1])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(EPOCHS):
        network.train()
        for xb, yb, eb in loader:
            optimizer.zero_grad()
            loss = plain_loss(network(xb), yb, eb)
            loss.backward()
            optimizer.step()
        network.eval()
        with torch.no_grad():
            plain_loss(network(tensors[0][n:]), tensors[1][n:], tensors[2][n:]).item()


def our_fit(table: Table, members: int, recipe: str = "paper") -> None:
    """Everything that ``fit`` does, the preparation of columns among it."""
    model = ALDSurvival(recipe, members=members, batch_size=BATCH, max_epochs=EPOCHS, patience=0, random_state=0)
    model.fit(table.x, (table.time, table.event))


def epochs() -> None:
    print(f"milliseconds of the processor per epoch, batch {BATCH}, best of {REPEATS} taken in turn; whole fits")
    print(f"{'rows':>6} {'columns':>8} {'plain loop':>11} {'1 member':>9} {'ratio':>6}", end=" ")
    print(f"{f'{MEMBERS} members':>11} {'a member':>9} {'ratio':>6}")
    lines: list[dict[str, float]] = []
    for name in ("exponential", "norm_med", "lognorm_med"):
        table, _ = split(name, 0)
        n = len(table.time)
        actions: dict[str, Callable[[], None]] = {
            "plain": lambda table=table: plain_fit(table),
            "one": lambda table=table: our_fit(table, 1),
            "ten": lambda table=table: our_fit(table, MEMBERS),
        }
        best = dict.fromkeys(actions, math.inf)
        for _ in range(REPEATS):
            for key, action in actions.items():
                start = time.process_time()
                action()
                best[key] = min(best[key], (time.process_time() - start) / EPOCHS * 1000)
        each = best["ten"] / MEMBERS
        lines.append({"rows": n, "columns": table.x.shape[1], **{key: round(value, 3) for key, value in best.items()}})
        ratios = best["plain"] / best["one"], best["plain"] / each
        print(
            f"{n:>6} {table.x.shape[1]:>8} {best['plain']:>11.2f} {best['one']:>9.2f} {ratios[0]:>6.1f}"
            f" {best['ten']:>11.2f} {each:>9.2f} {ratios[1]:>6.1f}"
        )
    store_section(PERFORMANCE, "epochs", lines, today("python -m bench.fit epochs", ["ald/paper"]))


def pycox_cox(train: Table, test: Table) -> Step:
    """DeepSurv of pycox as in its own examples, with its Breslow baseline."""
    import torchtuples as tt
    from pycox.models import CoxPH

    torch.manual_seed(0)
    mean, spread = train.x.mean(0), train.x.std(0)
    x = ((train.x - mean) / spread).astype("float32")
    order = np.random.default_rng(0).permutation(len(x))
    learn, held = order[: round(0.8 * len(x))], order[round(0.8 * len(x)) :]
    y = (train.time.astype("float32"), train.event.astype("float32"))
    network = tt.practical.MLPVanilla(x.shape[1], [32, 32], 1, True, 0.1, output_bias=False)
    model = CoxPH(network, tt.optim.Adam(0.01))
    model.fit(
        x[learn],
        (y[0][learn], y[1][learn]),
        256,
        512,
        [tt.callbacks.EarlyStopping()],
        verbose=False,
        val_data=(x[held], (y[0][held], y[1][held])),
        val_batch_size=256,
    )
    model.compute_baseline_hazards()
    curves = model.predict_surv_df(((test.x - mean) / spread).astype("float32"))
    later = curves.index.to_numpy(float) > 0
    return Step(curves.index.to_numpy(float)[later], curves.to_numpy(float).T[:, later])


def xgboost_aft(train: Table, test: Table) -> LogNormal:
    """Accelerated failure time by boosting, 100 rounds, all else as XGBoost has it."""
    import xgboost

    rows = xgboost.DMatrix(train.x)
    rows.set_float_info("label_lower_bound", train.time)
    rows.set_float_info("label_upper_bound", np.where(train.event, train.time, np.inf))
    scale = 1.0
    settings = {"objective": "survival:aft", "aft_loss_distribution_scale": scale, "nthread": 1, "verbosity": 0}
    model = xgboost.train(settings, rows, num_boost_round=100)
    return LogNormal(np.log(model.predict(xgboost.DMatrix(test.x))), scale)


def ours(recipe: str) -> Callable[[Table, Table], object]:
    def fitted(train: Table, test: Table) -> object:
        model = ALDSurvival(recipe, random_state=0).fit(train.x, (train.time, train.event))
        return model.predict_distribution(test.x)

    return fitted


def peers() -> None:
    print("\nseconds of the processor to fit and predict at default settings, and what it gives on held-out rows")
    print("(a step function gives an event after the last training event no density: log-likelihood -inf)")
    print(f"{'dataset':>14} {'model':>22} {'seconds':>8} {'log-likelihood':>15} {'IBS':>6} {'C':>6}")
    models: dict[str, Callable[[Table, Table], object]] = {
        "ALDSurvival()": ours("default"),
        'ALDSurvival("paper")': ours("paper"),
        "pycox CoxPH": pycox_cox,
        "XGBoost survival:aft": xgboost_aft,
    }
    names = ["lognorm_light", "norm_med"] + (["metabric", "gbsg", "support"] if available() else ["gbsg"])
    lines: list[dict[str, object]] = []
    for name in names:
        train, test = split(name, 0)
        train, test = (table.rows(np.flatnonzero(table.time > 0)) for table in (train, test))
        data = SurvivalData.right(test.time, test.event)
        for title, model in models.items():
            start = time.process_time()
            predicted = model(train, test)
            seconds = time.process_time() - start
            # A step function has no density: its linear interpolation has, up to the last event.
            smooth = predicted.smoothed() if isinstance(predicted, (ProportionalHazards, Step)) else predicted
            likelihood = metrics.log_likelihood(smooth, data)
            c = metrics.concordance_harrell(predicted, data)
            ibs = metrics.integrated_brier_score(
                predicted, data, train=(train.time, train.event), ties="scikit-survival"
            )
            print(f"{name:>14} {title:>22} {seconds:>8.2f} {likelihood:>15.3f} {ibs:>6.3f} {c:>6.3f}")
            scores = {"seconds": seconds, "log-likelihood": likelihood, "IBS": ibs, "C": c}
            # JSON has no infinite numbers.
            rounded = {key: round(value, 4) if math.isfinite(value) else str(value) for key, value in scores.items()}
            lines.append({"dataset": name, "model": title, **rounded})
    store_section(PERFORMANCE, "peers", lines, today("python -m bench.fit peers", ["ald/large", "ald/paper"]))


def censoring() -> None:
    """The same drawn times, followed until some of them are censored, or known from visits only."""
    from aldsurv.models import BoostedALD

    print("\nprocessor seconds of BoostedALD().fit on 5000 rows x 6 columns, one thread")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 6))
    event_time = 10 * np.exp(0.7 * x[:, 0] + 0.3 * x[:, 1] * x[:, 2] + 0.5 * rng.normal(size=5000))
    lost, apart = rng.exponential(30, 5000), rng.uniform(1, 6, 5000)
    before = np.floor(event_time / apart) * apart
    seen = event_time <= lost
    forms = {
        "right-censored": SurvivalData.right(np.minimum(event_time, lost), seen),
        "interval-censored": SurvivalData.interval(
            np.where(seen, np.where(before > 0, before, -np.inf), lost), np.where(seen, before + apart, np.inf)
        ),
    }
    seconds = {}
    for title, y in forms.items():
        start = time.process_time()
        model = BoostedALD(random_state=0).fit(x, y)
        seconds[title] = round(time.process_time() - start, 2)
        print(f"{title:>18} {seconds[title]:>8.2f}, rounds {model.rounds_.tolist()}")
    store_section(PERFORMANCE, "censoring", seconds, today("python -m bench.fit censoring", ["boosted_ald/default"]))


def memory() -> None:
    """Peak of a fit in a process of its own, above what the process held when it began; Linux says how much that is."""
    if not os.path.exists("/proc/self/clear_refs"):  # noqa: PTH110
        print("\nmemory of a fit: measured on Linux only")
        return
    code = (
        "import sys, numpy as np\n"
        "import torch, scipy.optimize\n"
        "from aldsurv.models import ALDSurvival\n"
        "torch.set_num_threads(1)\n"
        "rng = np.random.default_rng(0)\n"
        "def now(key):\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))\n"
        f"x = rng.normal(size=({BIG_ROWS}, {BIG_COLUMNS})); time = rng.exponential(1, len(x)); event = time < 1.5\n"
        "ALDSurvival(members=1, max_epochs=1).fit(x[:1000], (time[:1000], event[:1000]))\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"  # forget the peak so far
        "before = now('VmRSS')\n"
        "ALDSurvival(sys.argv[1], members=int(sys.argv[2]), max_epochs=2, random_state=0).fit(x, (time, event))\n"
        "print(before, now('VmHWM'), x.nbytes / 2**20)\n"
    )
    print(f"\nmemory of a fit on {BIG_ROWS} rows x {BIG_COLUMNS} columns, MB (2 epochs)")
    print(f"{'recipe':>9} {'members':>8} {'the data':>9} {'with data, before':>18} {'peak':>7} {'fit / data':>11}")
    lines = []
    for recipe, members in (("paper", 1), ("default", 1), ("default", 5)):
        done = subprocess.run(
            [sys.executable, "-c", code, recipe, str(members)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ,
        )
        before, peak, data = map(float, done.stdout.split())
        print(f"{recipe:>9} {members:>8} {data:>9.0f} {before:>18.0f} {peak:>7.0f} {(peak - before) / data:>11.2f}")
        lines.append({"recipe": recipe, "members": members, "data MB": round(data), "MB": round(peak - before)})
    values = {"rows": BIG_ROWS, "columns": BIG_COLUMNS, "fits": lines}
    store_section(PERFORMANCE, "memory", values, today("python -m bench.fit memory", ["ald/large", "ald/paper"]))


PARTS: dict[str, Callable[[], None]] = {
    "epochs": epochs,
    "peers": peers,
    "models": models,
    "censoring": censoring,
    "memory": memory,
}


def run(parts: Sequence[str] = tuple(PARTS)) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for part in parts:
                PARTS[part]()
    finally:
        torch.set_num_threads(threads)


if __name__ == "__main__":
    run(sys.argv[1:] or tuple(PARTS))
