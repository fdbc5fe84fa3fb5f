"""Large drawn tables: rows do not depend on the blocks, and the stated truth is what times are drawn from."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from bench.scale.drawn_rows import LAWS, REGION, Truth, block_of, blocks
from bench.scale.parquet import EVENT, TIME, write_parquet

TIMES = np.array([0.5, 3.0, 8.0, 40.0])
LOCATION, SCALE, SHARE = np.array([0.1, 1.0, 2.0, 3.0]), np.array([0.4, 0.5, 1.0, 2.0]), np.array([0.2, 0.5, 0.9, 0.7])
ORACLES = {
    "log-normal": [(1.0, stats.lognorm(SCALE, scale=np.exp(LOCATION)))],
    "weibull": [(1.0, stats.weibull_min(1 / SCALE, scale=np.exp(LOCATION)))],
    "two-groups": [
        (SHARE, stats.lognorm(0.7 * SCALE, scale=np.exp(LOCATION + 2 * SCALE))),
        (1 - SHARE, stats.lognorm(SCALE, scale=np.exp(LOCATION - SCALE))),
    ],
}


@pytest.mark.parametrize("law", LAWS)
def test_the_likelihood_of_a_law_is_scipys_and_times_are_drawn_from_it(law):
    truth = Truth(law, LOCATION, SCALE, SHARE)
    density = sum(weight * part.pdf(TIMES) for weight, part in ORACLES[law])
    survival = sum(weight * part.sf(TIMES) for weight, part in ORACLES[law])
    np.testing.assert_allclose(truth.log_likelihood(TIMES, np.ones(4, bool)), np.log(density), rtol=1e-10)
    np.testing.assert_allclose(truth.log_likelihood(TIMES, np.zeros(4, bool)), np.log(survival), rtol=1e-10)
    many = Truth(law, *(np.full(20_000, values[1]) for values in (LOCATION, SCALE, SHARE)))
    drawn = many.drawn_times(np.random.default_rng(0))
    known = np.exp(many.log_likelihood(drawn, np.zeros(20_000, bool)))
    assert stats.kstest(known, "uniform").pvalue > 1e-4


def test_rows_do_not_depend_on_the_size_of_the_blocks():
    asked = {"columns": 5, "seed": 3, "law": "two-groups", "text": True}
    first, last = 65_000, 66_500
    once = block_of(first, last, **asked)
    assert 0.3 < 1 - once.y.event.mean() < 0.5
    assert len(once.x) == 5
    assert set(once.x[REGION][:1]) < {f"region {letter}" for letter in "ABCDEFGHIJKL"}
    parts = [block for block in blocks(last, block=33_000, **asked) if block.first_row + len(block.y) > first]
    for name, values in {**once.x, "time": once.y.time, "truth": once.true_log_likelihood}.items():
        joined = np.concatenate(
            [{**part.x, "time": part.y.time, "truth": part.true_log_likelihood}[name] for part in parts]
        )
        assert (joined[first - parts[0].first_row :] == values).all()


def test_files_hold_the_rows_in_order(tmp_path):
    files = write_parquet(tmp_path / "big", 2500, 3, 1, rows_per_file=1000)
    whole = block_of(0, 2500, 3, 1)
    assert [pq.read_metadata(path).num_rows for path in files] == [1000, 1000, 500]
    table = pq.read_table(tmp_path / "big")
    assert table.column_names == [*whole.x, TIME, EVENT]
    assert (table[TIME].to_numpy() == whole.y.time).all()
    assert (table["x2"].to_numpy() == whole.x["x2"]).all()
    assert (table[EVENT].to_numpy() == whole.y.event).all()
