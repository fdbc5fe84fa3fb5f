"""Run what trains and computes under the instruction sets of other processors, and say what fails under which.

``python tests/portable.py`` takes all environments one after the other; ``--environment sse`` one of them, and paths of
tests replace the machine-sensitive ones. In each environment the libraries are told, by variables that they read while
they are imported, to compute as on another processor, and hypothesis searches from another seed. A test that fails is
run again with each variable alone, so that the last lines name the one that makes it fail.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What trains. Formulas that are computed once, commands that only read and tell, pages, pictures, tables and downloads
# hardly depend on the processor.
SENSITIVE = (
    "README.md",
    "docs",
    "tests/benchmark",
    "tests/cli/test_compare.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_evaluate.py",
    "tests/cli/test_fit.py",
    "tests/cli/test_persons.py",
    "tests/cli/test_predict.py",
    "tests/cli/test_real_tables.py",
    "tests/cli/causes",
    "tests/contracts/test_causes_and_cure.py",
    "tests/contracts/test_episode_laws.py",
    "tests/contracts/test_models.py",
    "tests/contracts/test_new_neural_model.py",
    "tests/contracts/test_torch.py",
    "tests/inspection",
    "tests/models",
    "tests/networks",
    "tests/training",
    "tests/tuning",
    "tests/test_docs_commands.py",
)
# Among them long ones about interfaces, processes, files and memory, of which no result is a number that was computed.
INSENSITIVE = (
    "test_scikit_learn_s_checks",
    "test_killed_again_and_again",
    "test_memory_does_not_grow_with_the_table",
    "test_a_cluster_that_loses_a_worker",
    "test_several_processes",
    "test_two_runs_into_one_folder",
    "test_a_process_that_dies",
    "test_search_in_two_processes",
    "test_several_writers",
    "test_ctrl_c",
    "test_a_signal",
    "test_completion",
    "test_from_a_table_to_a_page",
    "test_documents_with_one_entry_changed",
    "full_disk",
    "nobody_reads",
    "forged",
    "imports_nothing_heavy",
    "test_reader_that_leaves",
    "test_any_change_is_refused",
    "test_a_pipe_that_is_closed",
    "test_output_that_cannot_be_written",
    "test_the_error_comes_back_from_a_worker",
)
ALONE = "without any of them"
# As many examples as make test has, so that it takes no longer, but other ones from each seed.
SEARCH = {"ALDSURV_HYPOTHESIS": "search", "ALDSURV_EXAMPLES": "12"}


@dataclass(frozen=True)
class Environment:
    """Variables that make the libraries compute as on some processor."""

    name: str
    needs: str  # the feature, in numpy's names, without which OpenBLAS's kernels end in an illegal instruction
    openblas: str
    torch: str
    mkl: str
    numpy_keeps: frozenset[str] | None  # what numpy may dispatch to, all it has if None
    seed: int

    def variables(self, dispatched: Sequence[str]) -> dict[str, str]:
        """Variables for a numpy that chooses among the given features while it runs."""
        # A name that numpy does not dispatch is answered by a warning: only those that it has.
        kept = dispatched if self.numpy_keeps is None else self.numpy_keeps
        disabled = [feature for feature in dispatched if feature not in kept]
        variables = {
            "ATEN_CPU_CAPABILITY": self.torch,
            "MKL_ENABLE_INSTRUCTIONS": self.mkl,
            # The one before has no effect on processors that are not Intel's.
            "MKL_CBWR": "COMPATIBLE" if self.mkl == "SSE4_2" else self.mkl,
            "OPENBLAS_CORETYPE": self.openblas,
        }
        if disabled:
            variables["NPY_DISABLE_CPU_FEATURES"] = " ".join(disabled)
        return variables


# Names of numpy 2.4, which groups features, and of those before.
_SSE = frozenset({"SSE", "SSE2", "SSE3", "SSSE3", "SSE41", "POPCNT", "SSE42", "X86_V2"})
_AVX = _SSE | {"AVX", "F16C"}
_AVX2 = _AVX | {"FMA3", "AVX2", "X86_V3"}
# The last of those whose processor is at hand is tried with the third seed.
ENVIRONMENTS = (
    Environment("sse", "SSE42", "Nehalem", "default", "SSE4_2", _SSE, 1),
    Environment("avx2", "AVX2", "Haswell", "avx2", "AVX2", _AVX2, 2),
    Environment("avx512", "AVX512_SKX", "SkylakeX", "avx512", "AVX512", None, 3),
    Environment("avx", "AVX", "Sandybridge", "default", "AVX", _AVX, 3),
)


def chosen_environments(features: Mapping[str, bool]) -> tuple[list[Environment], list[str]]:
    """Environments that a processor with the given features can be put into, and why others are left out."""
    chosen, reasons, seeds = [], [], set()
    for environment in ENVIRONMENTS:
        if environment.seed in seeds:
            continue
        if features.get(environment.needs, False):
            chosen.append(environment)
            seeds.add(environment.seed)
        else:
            reasons.append(
                f"{environment.name}: left out, this processor has no {environment.needs}: "
                f"OPENBLAS_CORETYPE={environment.openblas} would end in an illegal instruction"
            )
    return chosen, reasons


def numpy_features() -> tuple[dict[str, bool], list[str]]:
    """What the processor has, and among what numpy chooses while it runs."""
    from numpy._core import _multiarray_umath as core

    return dict(core.__cpu_features__), list(core.__cpu_dispatch__)


def run_pytest(variables: Mapping[str, str], arguments: Sequence[str], cache: Path) -> tuple[int, set[str]]:
    """Exit code of pytest with some variables set, and the tests that failed."""
    unset = {name for environment in ENVIRONMENTS for name in environment.variables(["X"])} | set(SEARCH)
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    workers = ["-n", "2", "--dist", "worksteal"]
    command = [sys.executable, "-m", "pytest", "-q", *workers, "-o", f"cache_dir={cache}", "--tb=short", *arguments]
    code = subprocess.run(
        command, cwd=ROOT, env={**inherited, "OMP_NUM_THREADS": "1", **variables}, check=False
    ).returncode
    path = cache / "v" / "cache" / "lastfailed"
    failed = set(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else set()
    return code, failed


def blamed(name: str, causes: Mapping[str, Collection[str]]) -> str:
    """Under which of some settings, each tried alone, a test fails."""
    if name in causes.get(ALONE, ()):
        return ALONE
    return ", ".join(cause for cause, failed in causes.items() if name in failed) or "only all together"


def tried(environment: Environment, dispatched: Sequence[str], paths: Sequence[str], folder: Path) -> dict[str, str]:
    """Tests that fail in an environment, each with the settings that make it fail."""
    machine = environment.variables(dispatched)
    search = ["--hypothesis-seed", str(environment.seed)]
    kept = ["-k", f"not ({' or '.join(INSENSITIVE)})"]
    print(f"\n== {environment.name}: hypothesis seed {environment.seed}", flush=True)
    for name, value in machine.items():
        print(f"   {name}={value}", flush=True)
    start = time.monotonic()
    cache = folder / environment.name
    code, failed = run_pytest({**machine, **SEARCH}, [*search, *kept, *paths], cache)
    minutes = (time.monotonic() - start) / 60
    print(f"== {environment.name}: {len(failed)} failed, {minutes:.1f} minutes", flush=True)
    if code not in (0, 1) and not failed:
        return {f"pytest ended with code {code}": "see above"}
    if not failed:
        return {}
    settings = {
        ALONE: ({}, []),
        **{f"{name}={value}": ({name: value}, []) for name, value in machine.items()},
        f"hypothesis seed {environment.seed}": (SEARCH, search),
    }
    causes: dict[str, set[str]] = {}
    for number, (cause, (variables, more)) in enumerate(settings.items()):
        print(f"\n== {environment.name}: what failed, again with {cause}", flush=True)
        copy = folder / f"{environment.name}-{number}"
        shutil.copytree(cache, copy)
        _, causes[cause] = run_pytest(variables, ["--last-failed", "--last-failed-no-failures=none", *more], copy)
    return {name: blamed(name, causes) for name in sorted(failed)}


def main(words: Sequence[str] | None = None) -> int:
    """Run the environments, print what fails under which; 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--environment", choices=[environment.name for environment in ENVIRONMENTS], action="append")
    parser.add_argument("paths", nargs="*", default=SENSITIVE, help="tests to run in place of the sensitive ones")
    chosen = parser.parse_args(words)
    features, dispatched = numpy_features()
    environments, reasons = chosen_environments(features)
    failures: dict[str, list[str]] = {}
    names = chosen.environment or [environment.name for environment in environments]
    with tempfile.TemporaryDirectory() as folder:
        for environment in environments:
            if environment.name in names:
                for name, cause in tried(environment, dispatched, chosen.paths, Path(folder)).items():
                    failures.setdefault(name, []).append(f"{environment.name}: {cause}")
    print()
    for reason in reasons:
        print(reason)
    for name, causes in sorted(failures.items()):
        print(f"FAILED {name}\n       under {'; '.join(causes)}")
    done = [environment.name for environment in environments if environment.name in names]
    print(f"{len(failures)} tests fail under another processor's instructions ({', '.join(done) or 'none tried'})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
