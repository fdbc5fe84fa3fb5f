from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv.errors import ParameterError
from aldsurv.networks import ACTIVATIONS, Architecture

sizes = st.lists(st.integers(1, 9), max_size=3).map(tuple)
architectures = st.builds(
    Architecture,
    inputs=st.integers(0, 6),
    outputs=st.integers(1, 4),
    hidden=sizes,
    head_hidden=sizes,
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    residual=st.booleans(),
    batch_norm=st.booleans(),
    dropout=st.floats(0, 0.99),
)
PLAIN = Architecture(3, 2, batch_norm=True).to_plain()
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def arrays_of(network, members=2, seed=0):
    one = [network.initial(np.random.default_rng(seed + k)) for k in range(members)]
    return {name: np.stack([arrays[name] for arrays in one]) for name in one[0]}


def test_the_papers_network():
    network = Architecture(inputs=9, outputs=3)
    assert {slot.name: slot.shape for slot in network.slots()} == {
        "hidden0.weight": (9, 64),
        "hidden0.bias": (32,),
        "head0.weight": (32, 96),
        "head0.bias": (96,),
        "output.weight": (3, 32),
        "output.bias": (3,),
    }
    # W1, b1, P; three heads of V, c and a linear unit.
    expected = (9 * 32 + 32 + 9 * 32) + 3 * (32 * 32 + 32 + 32 + 1)
    assert sum(int(np.prod(slot.shape)) for slot in network.slots()) == expected
    assert network.buffers() == []


@given(architectures)
def test_number_of_weights(network):
    count, width = 0, network.inputs
    for size in network.hidden:
        count += width * size * (2 if network.residual else 1) + size + 2 * size * network.batch_norm
        width = size
    for size in network.head_hidden:
        count += network.outputs * (width * size + size + 2 * size * network.batch_norm)
        width = size
    count += network.outputs * (width + 1)
    assert sum(int(np.prod(slot.shape)) for slot in network.slots()) == count
    units = sum(network.hidden) + network.outputs * sum(network.head_hidden)
    assert sum(size for _, size in network.layers()) == units
    assert sum(slot.shape[0] for slot in network.buffers()) == 2 * units * network.batch_norm


@given(architectures)
def test_what_decays_comes_first_and_is_all_weights(network):
    slots = network.slots()
    assert len({slot.name for slot in slots}) == len(slots)
    decays = [slot.decays for slot in slots]
    assert decays == sorted(decays, reverse=True)
    assert all(slot.decays == slot.name.endswith(".weight") for slot in slots)


@given(architectures)
def test_plain_and_back(network):
    again = Architecture.from_plain(json.loads(json.dumps(network.to_plain())))
    assert again == network
    assert hash(again) == hash(network)


def test_numbers_of_numpy_become_plain():
    network = Architecture(
        np.int64(3),
        np.int32(2),
        hidden=np.int64(5),
        head_hidden=[np.int64(4)],
        residual=np.True_,
        dropout=np.float32(0),
    )
    assert network == Architecture(3, 2, hidden=(5,), head_hidden=(4,), residual=True, dropout=0.0)
    assert json.loads(json.dumps(network.to_plain()))["inputs"] == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inputs", -1),
        ("inputs", 2.0),
        ("inputs", True),
        ("inputs", 10**9),
        ("outputs", 0),
        ("outputs", "3"),
        ("outputs", 10**6),
        ("hidden", "32"),
        ("hidden", (32, 0)),
        ("hidden", (32, -1)),
        ("hidden", (32.0,)),
        ("hidden", (True,)),
        ("hidden", (10**9,)),
        ("hidden", (1,) * 65),
        ("hidden", None),
        ("head_hidden", {32}),
        ("head_hidden", ((8,),)),
        ("activation", "sigmoid"),
        ("activation", "Relu"),
        ("activation", None),
        ("activation", ["relu"]),
        ("residual", 1),
        ("residual", "yes"),
        ("batch_norm", None),
        ("dropout", 1.0),
        ("dropout", -0.1),
        ("dropout", float("nan")),
        ("dropout", "0.1"),
        ("dropout", True),
        ("dropout", None),
    ],
)
def test_refused(name, value):
    with pytest.raises(ParameterError, match=name):
        Architecture(**{**PLAIN, name: value})


@given(st.dictionaries(st.sampled_from(sorted(PLAIN)), json_values, min_size=1))
def test_anything_json_holds_is_checked(changed):
    try:
        network = Architecture.from_plain({**PLAIN, **changed})
    except ParameterError:
        return
    assert Architecture.from_plain(network.to_plain()) == network


@given(json_values)
def test_from_plain_takes_nothing_else(plain):
    with pytest.raises(ParameterError, match="exactly the entries"):
        Architecture.from_plain(plain)


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_from_plain_wants_every_entry_and_no_other(name):
    with pytest.raises(ParameterError, match="exactly the entries"):
        Architecture.from_plain({key: value for key, value in PLAIN.items() if key != name})
    with pytest.raises(ParameterError, match="exactly the entries"):
        Architecture.from_plain({**PLAIN, "extra": 1})


@given(architectures, st.integers(0, 5))
def test_initial_arrays(network, seed):
    arrays = network.initial(np.random.default_rng(seed))
    network.check_arrays({name: array[None] for name, array in arrays.items()}, 1)
    again = network.initial(np.random.default_rng(seed))
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
    for slot in network.slots():
        if slot.fan_in:
            assert (np.abs(arrays[slot.name]) <= np.float32(slot.fan_in**-0.5)).all()


def test_initial_arrays_are_spread_as_torchs():
    arrays = Architecture(50, 3, batch_norm=True).initial(np.random.default_rng(0))
    weight = arrays["hidden0.weight"]
    # The variance of a uniform distribution within ±1/√50.
    assert weight.std() == pytest.approx((1 / 50 / 3) ** 0.5, rel=0.03)
    assert abs(weight.mean()) < 0.006
    assert arrays["head0.weight"].std() == pytest.approx((1 / 32 / 3) ** 0.5, rel=0.05)
    assert (arrays["hidden0.scale"] == 1).all()
    assert (arrays["hidden0.shift"] == 0).all()
    assert (arrays["hidden0.mean"] == 0).all()
    assert (arrays["hidden0.variance"] == 1).all()


def test_check_arrays():
    network = Architecture(3, 2, hidden=(4,), head_hidden=(3,), batch_norm=True)
    good = arrays_of(network)
    network.check_arrays(good, 2)
    with pytest.raises(ParameterError, match="shape"):
        network.check_arrays(good, 3)
    with pytest.raises(ParameterError, match=r"hidden0\.bias"):
        network.check_arrays({name: array for name, array in good.items() if name != "hidden0.bias"}, 2)
    with pytest.raises(ParameterError, match="extra"):
        network.check_arrays({**good, "extra": good["output.bias"]}, 2)

    def changed(name, change):
        array = good[name].copy()
        return {**good, name: change(array)}

    with pytest.raises(ParameterError, match=r"float32.*float64"):
        network.check_arrays(changed("head0.weight", lambda a: a.astype(np.float64)), 2)
    with pytest.raises(ParameterError, match=r"head0\.weight"):
        network.check_arrays(changed("head0.weight", lambda a: a[..., :-1]), 2)
    for bad in (np.nan, np.inf):
        spoiled = good["output.weight"].copy()
        spoiled[1, 0, 0] = bad
        with pytest.raises(ParameterError, match=r"output\.weight.*not finite"):
            network.check_arrays({**good, "output.weight": spoiled}, 2)
    with pytest.raises(ParameterError, match="negative"):
        network.check_arrays(changed("hidden0.variance", lambda a: a - 2), 2)


def test_cannot_be_changed():
    network = Architecture(3, 2)
    with pytest.raises(FrozenInstanceError):
        network.inputs = 4


def test_files_from_before_there_were_constants_can_be_read():
    assert "constants" not in PLAIN
    network = Architecture(3, 5, constants=2)
    plain = json.loads(json.dumps(network.to_plain()))
    assert plain["constants"] == 2
    assert Architecture.from_plain(plain) == network
    assert Architecture.from_plain(PLAIN).constants == 0


@pytest.mark.parametrize("constants", [-1, 5, 2.0, True, None, "2"])
def test_constants_must_leave_an_output(constants):
    with pytest.raises(ParameterError, match="constants must be a whole number from 0 to 4"):
        Architecture(3, 5, constants=constants)
