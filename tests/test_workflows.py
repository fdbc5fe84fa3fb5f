"""Workflows and hooks run what a developer runs: targets of the Makefile, on the platforms and versions promised."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest brings it on 3.10
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z]+):", MAKEFILE, flags=re.MULTILINE))
# Variables that may be set for a target, in the command or in the environment of a job.
VARIABLES = set(re.findall(r"^([A-Z_]+) \?=", MAKEFILE, flags=re.MULTILINE))
PLATFORMS = ["ubuntu-latest", "macos-latest", "windows-latest"]
CLASSIFIER = "Programming Language :: Python :: 3."
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSIONS = [word.split(" :: ")[-1] for word in PROJECT["classifiers"] if word.startswith(CLASSIFIER)]
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
}
JOBS = {(file, name): job for file, workflow in WORKFLOWS.items() for name, job in workflow["jobs"].items()}
STEPS = [(f"{file}:{name}", step) for (file, name), job in JOBS.items() for step in job["steps"]]
HOOKS = [
    hook
    for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    for hook in repository["hooks"]
]


def is_make(command: str) -> bool:
    """Whether a command makes one target that there is, with no other options than variables of the Makefile."""
    program, *words = shlex.split(command)
    settings = [word.partition("=")[0] for word in words if "=" in word]
    targets = [word for word in words if "=" not in word]
    return program == "make" and len(targets) == 1 and targets[0] in TARGETS and VARIABLES.issuperset(settings)


def prerequisites(target: str) -> set[str]:
    """What a target of the Makefile needs made, itself included."""
    line = re.search(rf"^{target}:(.*)$", MAKEFILE, flags=re.MULTILINE)
    needed = line.group(1).split() if line else []
    return {target}.union(*(prerequisites(word) for word in needed if word in TARGETS))


def made(job: dict[str, Any]) -> list[str]:
    return [word for step in job["steps"] if "run" in step for word in shlex.split(step["run"]) if word in TARGETS]


def test_targets_are_phony_and_explained():
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)
    assert phony is not None
    assert set(phony.group(1).split()) == TARGETS
    explained = set(re.findall(r"make ([a-z]+)", MAKEFILE))
    assert TARGETS - explained == {"help", "setup", "browser"}


@pytest.mark.parametrize(("place", "step"), STEPS, ids=lambda value: value if isinstance(value, str) else "")
def test_each_step_is_a_target_or_an_action_of_one_major_version(place, step):
    if "run" in step:
        assert is_make(step["run"]), step["run"]
    else:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]), step["uses"]


def test_variables_of_jobs_are_known():
    for job in JOBS.values():
        assert VARIABLES.issuperset(job.get("env", {}))


def test_every_platform_and_version_promised_is_tested():
    job = JOBS["tests.yml", "tests"]
    assert job["strategy"]["matrix"]["os"] == PLATFORMS
    assert job["strategy"]["matrix"]["python"] == VERSIONS
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"
    (python,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/setup-python@")]
    assert python["with"]["python-version"] == "${{ matrix.python }}"
    assert job["runs-on"] == "${{ matrix.os }}"


def test_workflows_make_all_that_a_release_needs():
    targets = set().union(*(prerequisites(target) for job in JOBS.values() for target in made(job)))
    assert targets >= prerequisites("test") - {"test"} | {"docs", "wheel"}


def test_one_version_of_an_action_is_used():
    actions = {step["uses"] for _, step in STEPS if "uses" in step}
    assert len({action.partition("@")[0] for action in actions}) == len(actions)


def test_hooks_are_targets_that_need_no_download():
    assert {hook["language"] for hook in HOOKS} == {"system"}
    for hook in HOOKS:
        assert is_make(hook["entry"]), hook["entry"]
        # A target takes no names of files.
        assert hook["pass_filenames"] is False
    assert {word for hook in HOOKS for word in hook["entry"].split()} & TARGETS == prerequisites("lint") - {"lint"}


@pytest.mark.parametrize(
    "command",
    ["pytest", "make nothing", "make test lint", "make", "make test && pytest", "make -k test", "make test OTHER=1"],
)
def test_other_commands_are_refused(command):
    assert not is_make(command)


def test_variables_of_the_makefile_may_be_set():
    assert is_make("make suite CONSTRAINTS=")
