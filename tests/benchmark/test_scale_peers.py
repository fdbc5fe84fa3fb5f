"""What measures fits of large tables beside peers: limits of time and memory, and cost by hand."""

from __future__ import annotations

import sys

import pytest

from bench.pages import scale
from bench.scale.process_tree import GivenUpError, measured

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def run(code, **limits):
    given = {"seconds": 20.0, "megabytes": 1000.0, **limits}
    return measured([sys.executable, "-c", code], **given, environment={}, folder=None)


@linux
def test_memory_of_a_child_counts():
    """100 MB that a process started by the measured one holds for half a second."""
    pytest.importorskip("psutil")
    child = "import time; held = bytearray(100_000_000); time.sleep(0.8)"
    found = run(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print('{{}}')")
    assert 100 < found["peak MB"] < 200


@linux
@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        ("import time; time.sleep(9)", {"seconds": 0.3}, "more than 0 s"),
        ("import time; held = bytearray(200_000_000); time.sleep(9)", {"megabytes": 100.0}, "more than 0 GB"),
        ("raise SystemExit('no such table')", {}, "failed: no such table"),
        ("print()", {}, None),
    ],
    ids=["time", "memory", "error", "no JSON"],
)
def test_what_is_given_up(code, limits, reason):
    pytest.importorskip("psutil")
    with pytest.raises(GivenUpError if reason else ValueError, match=reason):
        run(code, **limits)


def test_costs_by_hand():
    fits = {
        "CoxRegression": {
            "1000000": {"processor": 20.0, "peak MB": 300.0},
            "10000000": {"processor": 200.0, "peak MB": 300.0 + 9_000_000 * 100 / 2**20},
        },
        "lifelines Cox": {
            "1000000": {"processor": 20.0, "peak MB": 300.0},
            "10000000": {"given up": "more than 600 s"},
        },
    }
    # Ten times the rows in ten times the time; 20 s per million rows; 20,000 s are 5.56 hours, and 5.2 minutes on 64.
    (line,) = scale._costs(fits).splitlines()[2:]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == ["CoxRegression", "10,000,000", "1.00", "20.0", "100", "5.56", "0.087", "93.1"]
