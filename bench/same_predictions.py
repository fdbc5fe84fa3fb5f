"""Whether this tree predicts what another tree of the library predicts, model by model.

``python -m bench.same_predictions OLD_TREE`` fits every model in two interpreters, one with OLD_TREE/src and one with
the src of this tree, and compares what they predict for the same rows; models saved by the old tree are also loaded by
this one. It exits with 1 if any difference is above 1e-6, in units of the value where that is above 1.
``python -m bench.same_predictions --freeze`` writes tests/models/frozen: the models as files, with their predictions.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import aldsurv
from aldsurv.errors import ModelFileError
from aldsurv.registry import MODELS
from bench.model_cases import (
    FROZEN_PREDICTIONS,
    LEVELS,
    TIMES,
    Case,
    Predictions,
    chosen_cases,
    encoder,
    predictions,
    samples,
)

ROOT = Path(__file__).resolve().parents[1]
FROZEN = ROOT / "tests" / "models" / "frozen"
LARGEST_DIFFERENCE = 1e-6


def _put(results: dict[str, Any], name: str, act: Callable[[], Predictions]) -> None:
    """Add what an action predicts, or the error that it ends with, and its seconds."""
    start = time.perf_counter()
    try:
        results |= {f"{name}/{key}": value for key, value in act().items()}
    except Exception as error:
        results[f"{name}/error"] = np.array(f"{type(error).__name__}: {error}")
    results[f"{name}/seconds"] = np.array(time.perf_counter() - start)


def fit_all(cases: Sequence[Case], folder: Path) -> dict[str, Any]:
    """Fit and save every case; predictions under ``fitted/case/…``."""
    data, results = samples(), dict[str, Any]()

    def fitted(case: Case) -> Predictions:
        sample = data[case.sample]
        model = case.estimator.fit(sample.x, sample.y)
        if isinstance(model, aldsurv.models.SurvivalEstimator):
            with contextlib.suppress(ModelFileError):  # Models of other libraries have no file.
                model.save(folder / case.file)
        return predictions(model, sample.predicted)

    for case in cases:
        _put(results, f"fitted/{case.name}", partial(fitted, case))
    return results


def load_all(cases: Sequence[Case], folder: Path) -> dict[str, Any]:
    """Load every file that is there; predictions under ``loaded/case/…``."""
    data, results = samples(), dict[str, Any]()

    def loaded(case: Case) -> Predictions:
        model = aldsurv.load(folder / case.file, encoder=encoder if case.encoder else None)
        return predictions(model, data[case.sample].predicted)

    for case in cases:
        if (folder / case.file).exists():
            _put(results, f"loaded/{case.name}", partial(loaded, case))
    return results


def one_quiet_thread() -> None:
    """Sums in one order, and no warnings: networks that learn for a few epochs have no skill."""
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def child(models: Sequence[str], fitted: Path, loaded: Path | None, out: Path) -> None:
    """What runs in each interpreter: fit all, save them in a folder, load what another interpreter saved."""
    one_quiet_thread()
    cases = chosen_cases(models)
    results = fit_all(cases, fitted)
    if loaded is not None:
        results |= load_all(cases, loaded)
    np.savez(out, **results)


def run_tree(tree: Path, models: Sequence[str], fitted: Path, loaded: Path | None = None) -> dict[str, NDArray[Any]]:
    """The results of `child` with the library of a tree."""
    source, out = tree.resolve() / "src", fitted / "results.npz"
    if not (source / "aldsurv").is_dir():
        raise SystemExit(f"{source} has no package aldsurv: give the folder of a tree of the library.")
    command = [sys.executable, "-m", "bench.same_predictions", "--child", str(source), str(fitted), str(loaded or "")]
    variables = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, "--models", *models], cwd=ROOT, env=variables, check=True)
    with np.load(out, allow_pickle=False) as arrays:
        return dict(arrays)


class Difference(NamedTuple):
    """How far two sets of predictions are apart: the largest of all differences, and whether all bits are equal."""

    absolute: float = 0.0
    relative: float = 0.0
    scaled: float = 0.0
    equal: bool = True


def difference(old: Mapping[str, NDArray[Any]], new: Mapping[str, NDArray[Any]]) -> Difference:
    """The largest differences of predictions with the same names; infinite where only one side is finite."""
    if old.keys() != new.keys() or any(old[name].shape != new[name].shape for name in old):
        return Difference(np.inf, np.inf, np.inf, False)
    first, second = (np.concatenate([side[name].ravel() for name in old]) for side in (old, new))
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    if same.all():
        return Difference(equal=all(old[name].tobytes() == new[name].tobytes() for name in old))
    first, second = first[~same], second[~same]
    size = np.maximum(np.abs(first), np.abs(second))
    with np.errstate(invalid="ignore"):
        apart = np.abs(first - second)
        measures = [np.nan_to_num(apart / by, nan=np.inf) for by in (1.0, size, np.maximum(size, 1.0))]
    absolute, relative, scaled = (float(measure.max()) for measure in measures)
    return Difference(absolute, relative, scaled, equal=False)


def part(results: Mapping[str, NDArray[Any]], name: str) -> tuple[dict[str, NDArray[Any]], str, float]:
    """Predictions of a case, its error if there was one, and its seconds."""
    found = {key.removeprefix(f"{name}/"): value for key, value in results.items() if key.startswith(f"{name}/")}
    seconds, error = float(found.pop("seconds", np.array(np.nan))), str(found.pop("error", np.array("")))
    return found, error, seconds


def compare(old: Mapping[str, NDArray[Any]], new: Mapping[str, NDArray[Any]]) -> tuple[list[str], bool]:
    """Lines of the table, and whether all cases agree."""
    names = sorted({key.split("/")[1] for key in old})
    wide = max(map(len, names)) + 11
    lines = [f"{'model':<{wide}} {'absolute':>9} {'relative':>9} {'bits':>6} {'old s':>6} {'new s':>6}"]
    agree = True
    for name in names:
        before, old_error, old_seconds = part(old, f"fitted/{name}")
        for kind, title in (("fitted", name), ("loaded", f"{name}, old file")):
            after, new_error, seconds = part(new, f"{kind}/{name}")
            if not after and not new_error:
                continue
            if old_error or new_error:
                # A package that is not installed is no difference between the trees.
                agree = agree and all(error.startswith("MissingDependency") for error in (old_error, new_error))
                sides = [f"{side}: {error}" for side, error in (("old", old_error), ("new", new_error)) if error]
                lines.append(f"{title:<{wide}} {'; '.join(sides)}")
                continue
            found = difference(before, after)
            agree = agree and found.scaled <= LARGEST_DIFFERENCE
            verdict = "equal" if found.equal else "near" if found.scaled <= LARGEST_DIFFERENCE else "OTHER"
            past = f"{old_seconds:>6.2f}" if kind == "fitted" else f"{'':>6}"
            numbers = f"{found.absolute:>9.1e} {found.relative:>9.1e} {verdict:>6} {past} {seconds:>6.2f}"
            lines.append(f"{title:<{wide}} {numbers}")
    return lines, agree


def freeze() -> None:
    """Write the frozen models, the rows that they predict, and their predictions."""
    one_quiet_thread()
    cases = [case for case in chosen_cases() if case.frozen]
    for path in FROZEN.glob("*.aldsurv"):
        path.unlink()
    results, files = fit_all(cases, FROZEN), {}
    kinds = set()
    for case in cases:
        found, error, _ = part(results, f"fitted/{case.name}")
        if error:
            raise SystemExit(f"{case.name}: {error}")
        kept = {name: found[name].tolist() for name in FROZEN_PREDICTIONS if name in found}
        kind = type(aldsurv.load(FROZEN / case.file, encoder=encoder if case.encoder else None))
        kinds.add(kind)
        files[case.file] = {"model": kind.__name__, "rows": case.sample, "encoder": case.encoder, **kept}
    left_out = [name for name in MODELS if MODELS.load(name) not in kinds]
    if left_out:
        raise SystemExit(f"no case fits {', '.join(left_out)}: add one to bench/model_cases.py.")
    used = {case.sample for case in cases}
    rows = {name: sample.predicted for name, sample in samples().items() if name in used}
    plain = {name: x if isinstance(x, dict) else x.tolist() for name, x in rows.items()}
    document = {"version": aldsurv.__version__, "times": TIMES, "levels": LEVELS, "rows": plain, "files": files}
    (FROZEN / "predictions.json").write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.same_predictions", description=__doc__)
    parser.add_argument("old_tree", nargs="?", type=Path, help="another tree of the library")
    parser.add_argument("--models", nargs="*", default=[], help="words of the cases to compare, such as cox; all")
    parser.add_argument("--out", type=Path, help="a file for the table")
    parser.add_argument("--freeze", action="store_true", help="write tests/models/frozen by this tree")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        source, fitted, loaded = given.child
        if not Path(aldsurv.__file__).is_relative_to(source):
            raise SystemExit(f"imported {aldsurv.__file__}, not the library in {source}.")
        child(given.models, Path(fitted), Path(loaded) if loaded else None, Path(fitted) / "results.npz")
        return 0
    if given.freeze:
        freeze()
        return 0
    if given.old_tree is None:
        parser.error("give the folder of the tree to compare with, or --freeze.")
    if not chosen_cases(given.models):
        parser.error(f"no case has any of the words {', '.join(given.models)}.")
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place, name) for name in ("old", "new")]
        for folder in folders:
            folder.mkdir()
        old = run_tree(given.old_tree, given.models, folders[0])
        new = run_tree(ROOT, given.models, folders[1], folders[0])
    lines, agree = compare(old, new)
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
