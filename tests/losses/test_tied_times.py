"""What a component must not be narrower than: the step of rounding, or a share of the spread."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv.losses.likelihood.tied_times import least_component_scale


@pytest.mark.parametrize("step", [0.1, 1.0, 5.0])
def test_rounded_times_give_about_the_step(step):
    times = np.random.default_rng(0).gamma(4.0, 10.0, 2000)
    found = least_component_scale(np.round(times / step) * step)
    assert step * 0.99 <= found <= 3 * step or found == pytest.approx(
        0.02 * np.mean(np.abs(times - np.median(times))), rel=0.05
    )


def test_times_that_do_not_repeat_give_a_small_share_of_the_spread():
    times = np.random.default_rng(1).normal(size=3000)
    spread = np.mean(np.abs(times - np.median(times)))
    assert least_component_scale(times) == pytest.approx(0.02 * spread)


def test_a_lone_heap_counts_as_wide_as_its_share():
    rng = np.random.default_rng(2)
    times = np.concatenate([rng.uniform(0, 10, 900), np.full(100, 5.0)])
    # 100 others are found within half of their share of the range on either side.
    assert least_component_scale(times) == pytest.approx(100 / 900 * 10 / 2, rel=0.2)


def test_it_scales_with_the_unit_and_has_limits():
    times = np.repeat(np.arange(1.0, 31.0), 4)
    assert least_component_scale(365 * times) == pytest.approx(365 * least_component_scale(times))
    spread = np.mean(np.abs(np.repeat([1.0, 100.0], 50) - 50.5))
    assert least_component_scale(np.repeat([1.0, 100.0], 50)) == pytest.approx(0.5 * spread)
    assert least_component_scale(np.full(10, 3.0)) > 0
    assert least_component_scale(np.array([])) > 0
