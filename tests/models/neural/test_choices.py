"""``support="auto"`` and ``point="auto"``: what they choose, by which rows, and that all else stays as it is."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import aldsurv
from aldsurv import CQRNN, ALDSurvival, DeepHit, DeepSurv, LogNormalSurvival, RecalibratedSurvival, SurvivalData
from aldsurv.distributions import LogNormal
from aldsurv.errors import DataError, ModelFileError, ParameterError, TrainingError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models import ICALDCalibrated, ICALDSurvival, fit_together
from aldsurv.models.neural.fitting import train as train_module
from aldsurv.models.neural.fitting.point_choice import HeldRows, PointChoice, chosen_points
from aldsurv.models.neural.fitting.prepare import prepare_alternative
from aldsurv.models.neural.fitting.train import run_loop, train
from models.rows import data, draw, quick, same_bits

X, TIME, EVENT = draw(150)
Y = SurvivalData.right(TIME, EVENT)
SUPPORTS = ("log", "positive", "real")


def auto(**settings):
    return quick(**{"support": "auto", "members": 3, "validation": 0.3, **settings})


def held_out_score(model, x, y, weight=None):
    """Mean log-likelihood of each member on rows that it held out, from its own prediction."""
    prepared = model.prepare(x, y, weight)
    total = count = 0.0
    for one, rows in zip(model.predict_members(x), prepared.rows.validation, strict=True):
        own = SurvivalData.of(y)[rows]
        own = own if weight is None else own.with_weight(weight[rows])
        event, time = own.event, own.time[:, None]
        likelihood = np.where(event, one[rows].log_density(time)[:, 0], one[rows].log_survival(time)[:, 0])
        total += own.weights @ likelihood
        count += own.weights.sum()
    return total / count


@pytest.mark.parametrize("components", [1, 2])
def test_the_support_with_the_highest_likelihood_of_held_out_rows(components):
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    chosen = auto(components=components).fit(X, Y, weight)
    alone = {support: auto(support=support, components=components).fit(X, Y, weight) for support in SUPPORTS}
    scores = {support: held_out_score(model, X, Y, weight) for support, model in alone.items()}
    assert chosen.support_scores_ == pytest.approx(scores, rel=1e-9)
    best = max(scores, key=scores.get)
    assert chosen.settings_.support == best
    assert chosen.support == "auto"
    # What is kept is what a fit with that support alone is.
    assert same_bits(chosen, alone[best])
    assert chosen.settings_ == alone[best].settings_
    assert alone[best].support_scores_ == {}
    assert f"chosen          {best}, by the log-likelihood" in chosen.summary()


def test_supports_that_must_be_chosen():
    rng = np.random.default_rng(1)
    # One component: a mixture can follow what another support has in its tails.
    settings = {"members": 2, "max_epochs": 25, "components": 1}
    x = rng.uniform(0, 1, (400, 1))
    # Every seventh time is below 0; of whatever is below 1/2 no more is known.
    time = 2.0 + x[:, 0] + 2 * rng.laplace(size=400)
    early = time < 0.5
    below = SurvivalData.interval(np.where(early, -np.inf, time), np.where(early, 0.5, time))
    real = auto(**settings).fit(x, below)
    assert real.settings_.support == "real"
    # A tail so heavy that most of time is in it.
    heavy = np.exp(1 + x[:, 0] + 2 * rng.laplace(size=400))
    log = auto(**settings).fit(x, (heavy, np.ones(400)))
    assert log.settings_.support == "log"


def test_events_at_zero_are_the_same_rows_for_all():
    time = TIME.copy()
    time[np.flatnonzero(EVENT)[:12]] = 0.0
    y = SurvivalData.right(time, EVENT)
    model = auto(max_epochs=6).fit(X, y)
    first = auto(support="log", max_epochs=6).prepare(X, y)
    smallest = time[time > 0].min()
    for support in SUPPORTS:
        alone = auto(support=support, max_epochs=6)
        alone.adopt(train([prepare_alternative(first, alone.settings(X.shape), first.options)])[0])
        total = count = 0.0
        for one, rows in zip(alone.predict_members(X), first.rows.validation, strict=True):
            t, e = time[rows][:, None], EVENT[rows]
            with np.errstate(divide="ignore"):
                exact, censored = one[rows].log_density(np.maximum(t, 1e-9))[:, 0], one[rows].log_survival(t)[:, 0]
            early = np.log(one[rows].cdf(smallest))
            total += np.where(t[:, 0] == 0, early, np.where(e, exact, censored)).sum()
            count += len(rows)
        assert model.support_scores_[support] == pytest.approx(total / count, rel=1e-9)


@pytest.mark.parametrize("settings", [{"validation": 0.0}, {}], ids=["no validation rows", "few rows"])
def test_without_enough_held_out_events_it_is_log(settings):
    n = 150 if settings else 12
    model = auto(**settings).fit(X[:n], Y[:n])
    assert model.settings_.support == "log"
    assert model.support_scores_ == {}
    assert same_bits(model, auto(support="log", **settings).fit(X[:n], Y[:n]))


def test_seeds_generators_and_fits_that_share_a_loop():
    sets = [data(100, seed=seed) for seed in range(2)]
    together = fit_together([auto(random_state=seed) for seed in range(2)], sets)
    for seed, (model, given) in enumerate(zip(together, sets, strict=True)):
        alone = auto(random_state=seed).fit(*given)
        assert same_bits(model, alone)
        assert model.support_scores_ == alone.support_scores_
    first, second = (auto(random_state=np.random.default_rng(5)).fit(X, Y) for _ in range(2))
    assert same_bits(first, second)
    known = auto(random_state=np.random.default_rng(5), support=first.settings_.support).fit(X, Y)
    assert same_bits(first, known)


def test_a_support_that_cannot_be_trained_is_left_out(monkeypatch):
    def fails(tasks):
        if tasks[0].model.support in broken:
            raise TrainingError("the loss is no longer a finite number")
        return run_loop(tasks)

    monkeypatch.setattr(train_module, "run_loop", fails)
    broken = {"real", "log"}
    models = fit_together([auto(random_state=seed) for seed in range(2)], [(X, Y)] * 2)
    assert [model.settings_.support for model in models] == ["positive"] * 2
    broken = set(SUPPORTS)
    with pytest.raises(TrainingError):
        auto().fit(X, Y)


def test_a_killed_fit_goes_on(tmp_path, monkeypatch):
    path, trained = tmp_path / "part", []

    def watched(tasks):
        support = tasks[0].model.support
        if support == killed:
            raise MemoryError
        trained.append(support)
        return run_loop(tasks)

    monkeypatch.setattr(train_module, "run_loop", watched)
    killed = "real"
    with pytest.raises(MemoryError):
        auto(checkpoint=path).fit(X, Y)
    killed = None
    with pytest.raises(DataError, match="not a checkpoint of this run"):
        auto(checkpoint=path).fit(X, Y.scaled(2.0))
    trained.clear()
    model = auto(checkpoint=path).fit(X, Y)
    # Those that were trained to the end are not trained again.
    assert trained == ["real"]
    assert list(tmp_path.iterdir()) == []
    whole = auto().fit(X, Y)
    assert same_bits(model, whole)
    assert model.support_scores_ == whole.support_scores_


@pytest.mark.filterwarnings("ignore:training was interrupted")
def test_interrupted_by_hand():
    def stop(report):
        raise KeyboardInterrupt

    model = auto(callbacks=[stop]).fit(X, Y)
    assert (model.settings_.support, model.history_.stopped_by, model.support_scores_) == ("log", "interrupt", {})


# ---- summaries


def point_scores(model, x, y):
    """Both scores of each summary from their definitions, in loops over rows and pairs."""
    prepared, members = model.prepare(x, y), model.predict_members(x)
    time, event, last = y.time, y.event, float(np.unique(y.time)[-1])
    horizons = {"restricted_mean": last, "follow_up": np.sort(time)[int(np.ceil(0.8 * len(time))) - 1]}
    end = np.quantile(time, 0.9)

    def uncensored_before(t):
        chance = 1.0
        for s in np.unique(time[~event]):
            if s < t:
                chance *= 1 - (~event & (time == s)).sum() / ((time > s).sum() + (~event & (time == s)).sum())
        return chance

    error, ranking = {}, {}
    for point in ("mean", "median", "mode", "restricted_mean", "follow_up"):
        above = below = 0.0
        shares = []
        for one, rows in zip(members, prepared.rows.validation, strict=True):
            d = one[rows]
            guess = d.restricted_mean(horizons[point]) if point in horizons else getattr(d, point)()
            right = pairs = 0.0
            for i, row in enumerate(rows):
                cut = min(time[row], end)
                if event[row] or time[row] >= end:
                    weight = 1 / uncensored_before(cut)
                    above, below = above + weight * abs(min(guess[i], end) - cut), below + weight
                for j, other in enumerate(rows):
                    if event[row] and (time[other] > time[row] or (time[other] == time[row] and not event[other])):
                        pairs += 1
                        right += 1.0 if guess[j] > guess[i] else 0.5 * (guess[j] == guess[i])
            shares.append(right / pairs)
        error[point], ranking[point] = above / below, np.mean(shares)
    # It ranks, but is no time of an event.
    del error["follow_up"]
    return error, ranking


def test_scores_are_those_of_their_definitions():
    x, y = X[:90], Y[:90]
    model = quick(point="auto", members=2, validation=0.4, max_epochs=15).fit(x, y)
    error, ranking = point_scores(model, x, y)
    found = {use: {name: score for name, (score, _) in own.items()} for use, own in model.point_scores_.items()}
    assert found["error"] == pytest.approx(error, rel=1e-9)
    assert found["ranking"] == pytest.approx(ranking, rel=1e-9)


def exactly(n=2000, seed=0, spread=1.0):
    """True distributions of log-normal times, half of them censored."""
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(size=n), np.full(n, spread)
    time, lost = np.exp(mu + sigma * rng.normal(size=n)), np.exp(mu.mean() + rng.normal(size=n))
    return LogNormal(mu, sigma), SurvivalData.right(np.minimum(time, lost), time <= lost), time


@pytest.mark.parametrize("seed", range(3))
def test_of_the_truth_the_median_has_the_least_error(seed):
    # Uncensored rows alone would have the mode: the early times are those that are seen.
    d, y, time = exactly(seed=seed)
    events = {name: np.abs(getattr(d, name)() - y.time)[y.event].mean() for name in ("median", "mode")}
    assert events["mode"] < events["median"]
    found = chosen_points([HeldRows(d, y, np.arange(len(y)))], y, y.time.max())
    assert found.error == "median"
    truth = {name: np.abs(getattr(d, name)() - time).mean() for name in ("median", "mode")}
    assert truth["median"] < truth["mode"]
    # All summaries rank alike here: equal scores are no reason to leave follow-up.
    assert found.ranking == "follow_up"


def test_another_summary_must_be_clearly_better():
    _, y, time = exactly(400)
    rows = np.arange(400)
    # The median is noise, the mean knows the time; of 400 rows that is beyond doubt, of twelve it may be chance.
    rng = np.random.default_rng(3)
    mu = np.log(time)
    sigma = np.exp(rng.normal(size=400))
    blurred = LogNormal(mu - sigma**2 / 2, sigma)
    found = chosen_points([HeldRows(blurred, y, rows)], y, 1e9)
    assert (found.error, found.ranking) == ("mean", "mean")
    for use, sign, usual in (("error", -1, "median"), ("ranking", 1, "follow_up")):
        scores = found.scores[use]
        score, error = scores["mean"]
        assert sign * (score - scores[usual][0]) > error > 0
        assert scores[usual][1] == 0
    few = y[:12]
    assert few.n_events < 10
    assert chosen_points([HeldRows(blurred[:12], few, rows[:12])], few, 1e9) == PointChoice("median", "follow_up", {})


def test_standard_errors_by_drawing_rows_again():
    d, y, _ = exactly(150)
    d = LogNormal(d.mu[:, 0], np.random.default_rng(1).uniform(0.3, 1.5, 150))
    rows = np.arange(150)
    found = chosen_points([HeldRows(d, y, rows)], y, y.time.max())
    rng, drawn = np.random.default_rng(2), {"error": [], "ranking": []}
    for _ in range(100):
        some = rng.integers(150, size=150)
        again = chosen_points([HeldRows(d[some], y[some], rows)], y, y.time.max())
        for use in drawn:
            usual = "median" if use == "error" else "follow_up"
            drawn[use].append(again.scores[use]["mean"][0] - again.scores[use][usual][0])
    for use, values in drawn.items():
        assert found.scores[use]["mean"][1] == pytest.approx(np.std(values), rel=0.25)


@pytest.mark.parametrize("kind", [ALDSurvival, ICALDSurvival, LogNormalSurvival, CQRNN, DeepHit])
def test_two_summaries_for_two_uses(kind, tmp_path):
    settings = {"members": 2, "max_epochs": 3, "random_state": 0, "validation": 0.4}
    model = kind(point="auto", **settings).fit(X, Y)
    assert set(model.point_scores_) == {"error", "ranking"}
    plain = kind(point="median", **settings).fit(X, Y)
    assert same_bits(model, plain)
    assert (plain.error_point_, plain.ranking_point_, plain.point_scores_) == ("median", "median", {})
    # Whatever was chosen, each use has its own.
    points = replace(model.fitted_.points, error="restricted_mean", ranking="mode")
    model.adopt(replace(model.fitted_, points=points))
    d = model.predict_distribution(X)
    np.testing.assert_array_equal(model.predict_time(X), d.restricted_mean(model.unique_times_[-1]))
    np.testing.assert_array_equal(model.predict(X), -d.mode())
    assert "restricted mean for the time, mode for the ranking" in model.summary()
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert (loaded.error_point_, loaded.ranking_point_) == ("restricted_mean", "mode")
    assert loaded.point_scores_ == model.point_scores_
    assert loaded.summary() == model.summary()
    assert loaded.save(tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_rows_of_other_kinds_are_left_out():
    delayed = SurvivalData.right(TIME, EVENT, entry=np.where(np.arange(150) % 3 == 0, TIME / 3, -np.inf))
    upper = np.where(EVENT, 1.2 * TIME, np.inf)
    for y in (delayed, SurvivalData.interval(0.9 * TIME, upper)):
        model = quick(point="auto", members=2, validation=0.4).fit(X, y)
        assert model.error_point_ in {"mean", "median", "mode", "restricted_mean"}
        assert model.ranking_point_ in {"follow_up", "mean", "median", "mode", "restricted_mean"}
    # Nothing but intervals: no time to compare with.
    assert (model.error_point_, model.ranking_point_, model.point_scores_) == ("median", "follow_up", {})
    assert quick(point="auto", validation=0.0).fit(X, Y).error_point_ == "median"


@pytest.mark.parametrize("kind", [RecalibratedSurvival, ICALDCalibrated])
def test_around_another_model(kind):
    model = kind(quick(point="auto", members=2, validation=0.4), validation=0.3, random_state=0)
    model.fit(X, Y)
    inner = model.estimator_
    inner.adopt(replace(inner.fitted_, points=replace(inner.fitted_.points, error="mean", ranking="mode")))
    # Moments of what is recalibrated are integrals: a few rows will do.
    d = model.predict_distribution(X[:12])
    np.testing.assert_array_equal(model.predict_time(X[:12]), d.mean())
    np.testing.assert_array_equal(model.predict(X[:12]), -d.mode())


ALONE = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "sklearn", "scipy", "pandas"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refused())
import numpy as np, aldsurv
model = aldsurv.load(sys.argv[1])
rows = np.random.default_rng(0).normal(size=(5, 3))
assert model.settings_.support in model.support_scores_
answers = [model.predict(rows), model.predict_time(rows), *model.predict_time_band(rows), *model.predict_spread(rows)]
answers += [*model.predict_survival_band(rows, [1.0, 9.0]), *model.predict_spread(rows, horizon=20.0)]
sys.stdout.buffer.write(b"".join(np.ascontiguousarray(answer).tobytes() for answer in answers))
"""


def test_files(tmp_path):
    model = auto(point="auto").fit(X, Y)
    path = model.save(tmp_path / "model")
    loaded = aldsurv.load(path)
    assert loaded.support_scores_ == model.support_scores_
    assert loaded.settings_ == model.settings_
    assert loaded.support == "auto"
    rows = np.random.default_rng(0).normal(size=(5, 3))
    answers = [model.predict(rows), model.predict_time(rows), *model.predict_time_band(rows)]
    answers += [*model.predict_spread(rows), *model.predict_survival_band(rows, [1.0, 9.0])]
    answers += model.predict_spread(rows, horizon=20.0)
    told = subprocess.run([sys.executable, "-c", ALONE, str(path)], capture_output=True, check=True).stdout
    assert told == b"".join(np.ascontiguousarray(answer).tobytes() for answer in answers)
    # A model to which all was given has no such entry, as in files from before.
    assert "choices" not in read_model_file(quick().fit(X, Y).save(tmp_path / "plain"))[0]
    document, arrays = read_model_file(path)
    for odd in ({"error_point": "std"}, {"ranking_point": "auto"}, {"colour": "red"}, {"point_scores": {"error": 3}}):
        damaged = {**document, "choices": {**document["choices"], **odd}}
        write_model_file(tmp_path / "odd", damaged, arrays)
        with pytest.raises(ModelFileError):
            aldsurv.load(tmp_path / "odd")
    document["settings"]["support"] = "auto"
    write_model_file(tmp_path / "odd", document, arrays)
    with pytest.raises(ModelFileError):
        aldsurv.load(tmp_path / "odd")


def test_what_is_refused():
    with pytest.raises(ParameterError, match="support must be one of 'real', 'positive', 'log', 'auto', but is 'any'"):
        quick(support="any").fit(X, Y)
    with pytest.raises(ParameterError, match=r"point must be one of .*'restricted_mean', 'auto', but"):
        quick(point="best").fit(X, Y)
    # It ranks by its log risk.
    with pytest.raises(ParameterError, match=r"point must be one of .*'restricted_mean', but is 'auto'"):
        DeepSurv(point="auto").fit(X, Y)
    assert ALDSurvival("paper").settings().support == "real"
