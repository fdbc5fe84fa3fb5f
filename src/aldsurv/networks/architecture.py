"""What a network looks like, as plain data: sizes of its arrays, how they start, and its way to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Flag, Number, WholeNumber, check, check_all, is_whole_number
from aldsurv.errors import ParameterError
from aldsurv.networks.activations import ACTIVATIONS

__all__ = ["LAYER_CONSTRAINTS", "Architecture", "Slot"]

# More would be a mistake, or a damaged file that asks for the memory.
_MOST_LAYERS, _MOST_UNITS, _MOST_INPUTS = 64, 65_536, 10_000_000
# Entries that a file has only if they are in use.
_CAME_LATER = {"constants", "level_units"}
# What users choose; the sizes of the layers are checked where they become a tuple.
LAYER_CONSTRAINTS: Mapping[str, Constraint] = {
    "activation": Choice(tuple(ACTIVATIONS)),
    "residual": Flag(),
    "batch_norm": Flag(),
    "dropout": Number(0, 1, below=True),
}
_CONSTRAINTS = {
    "inputs": WholeNumber(0, _MOST_INPUTS),
    "outputs": WholeNumber(1, _MOST_UNITS),
    **LAYER_CONSTRAINTS,
}
_TYPES = {"inputs": int, "outputs": int, "constants": int, "residual": bool, "batch_norm": bool, "dropout": float}


class Slot(NamedTuple):
    """One array of weights: its shape without the members axis, and what it is for."""

    name: str
    shape: tuple[int, ...]
    fan_in: int
    decays: bool


@final
@dataclass(frozen=True)
class Architecture:
    """Layers shared by all outputs, then a head for each output.

    The paper's network has one shared layer with a residual projection and heads with one layer each:
    ``h = act(W·x + b) + P·x``, then for each output a layer ``act(V·h + c)`` and a linear unit.

    Parameters
    ----------
    inputs, outputs
        Numbers of input columns and of output numbers.
    hidden
        Sizes of the shared layers.
    head_hidden
        Sizes of the layers that each output has for itself.
    activation
        A name in `ACTIVATIONS`.
    residual
        Whether each shared layer also passes on a linear projection of its input.
    batch_norm
        Whether each layer's units are normalised before the activation.
    dropout
        Share of the units dropped after each layer while training.
    constants
        How many of the outputs, the last ones, are learned numbers that do not depend on the inputs.
    level_units
        Sizes of the layers that embed a level between 0 and 1, which then comes with the inputs; none: there is no
        level. The first layer of each head and each output see the embedding beside the units before them.
    """

    inputs: int
    outputs: int
    hidden: tuple[int, ...] = (32,)
    head_hidden: tuple[int, ...] = (32,)
    activation: str = "relu"
    residual: bool = True
    batch_norm: bool = False
    dropout: float = 0.0
    constants: int = 0
    level_units: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_all(vars(self), _CONSTRAINTS)
        check("constants", self.constants, WholeNumber(0, int(self.outputs) - 1))
        for name in ("hidden", "head_hidden", "level_units"):
            object.__setattr__(self, name, _layer_sizes(name, getattr(self, name)))
        # As Python's own types, which JSON can hold: numpy's numbers were allowed.
        for name, kind in _TYPES.items():
            object.__setattr__(self, name, kind(getattr(self, name)))

    @property
    def heads(self) -> int:
        """How many outputs depend on the inputs."""
        return self.outputs - self.constants

    @property
    def embedded(self) -> int:
        """Numbers that a level is embedded in; 0 if there is none."""
        return self.level_units[-1] if self.level_units else 0

    @property
    def spare_columns(self) -> int:
        """Columns of zeros that make the outputs a product whose rounding does not depend on the number of members.

        Products of one, five to seven and nine to eleven columns depend on it.
        """
        return 0 if self.heads in (2, 3) else -self.heads % 4

    @property
    def input_slot(self) -> str:
        """The array whose rows belong to the inputs."""
        return "hidden0.weight" if self.hidden else "head0.weight" if self.head_hidden else "output.weight"

    def slots(self) -> list[Slot]:
        """The arrays that are trained, those with weight decay first."""
        found: list[Slot] = []
        width = self.inputs
        for i, size in enumerate(self.hidden):
            # The layer and its residual projection are one product: the last `size` columns are the projection.
            found.append(Slot(f"hidden{i}.weight", (width, 2 * size if self.residual else size), width, True))
            found.append(Slot(f"hidden{i}.bias", (size,), width, False))
            found += _norm_slots(f"hidden{i}", size) if self.batch_norm else []
            width = size
        found += self._level_slots()
        heads, width = self.heads, width + self.embedded
        for i, size in enumerate(self.head_hidden):
            shape = (width, heads * size) if i == 0 else (heads, width, size)
            found.append(Slot(f"head{i}.weight", shape, width, True))
            found.append(Slot(f"head{i}.bias", (heads * size,), width, False))
            found += _norm_slots(f"head{i}", heads * size) if self.batch_norm else []
            width = size + self.embedded if i == len(self.head_hidden) - 1 else size
        shape = (heads, width) if self.head_hidden else (width, heads)
        found.append(Slot("output.weight", shape, width, True))
        found.append(Slot("output.bias", (self.outputs,), width, False))
        return sorted(found, key=lambda slot: not slot.decays)

    def _level_slots(self) -> list[Slot]:
        found, width = [], 1
        for i, size in enumerate(self.level_units):
            found.append(Slot(f"level{i}.weight", (width, size), width, True))
            found.append(Slot(f"level{i}.bias", (size,), width, False))
            width = size
        return found

    def buffers(self) -> list[Slot]:
        """The arrays that are kept beside: running mean and variance of batch normalisation."""
        if not self.batch_norm:
            return []
        return [
            Slot(f"{layer}.{kind}", (units,), 0, False)
            for layer, units in self.layers()
            for kind in ("mean", "variance")
        ]

    def layers(self) -> list[tuple[str, int]]:
        """Name and number of units of each layer that has an activation."""
        shared = [(f"hidden{i}", size) for i, size in enumerate(self.hidden)]
        return shared + [(f"head{i}", self.heads * size) for i, size in enumerate(self.head_hidden)]

    def initial(self, generator: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Random arrays of one member, uniform within 1/√(fan in) as torch starts its linear layers."""
        arrays: dict[str, NDArray[np.float32]] = {}
        for slot in sorted(self.slots()):
            if slot.name.endswith(".scale"):
                arrays[slot.name] = np.ones(slot.shape, np.float32)
            elif slot.name.endswith(".shift"):
                arrays[slot.name] = np.zeros(slot.shape, np.float32)
            else:
                bound = max(slot.fan_in, 1) ** -0.5
                arrays[slot.name] = generator.uniform(-bound, bound, slot.shape).astype(np.float32)
        for slot in self.buffers():
            start = np.zeros if slot.name.endswith(".mean") else np.ones
            arrays[slot.name] = start(slot.shape, np.float32)
        return arrays

    def check_arrays(self, arrays: Mapping[str, NDArray[Any]], members: int) -> None:
        """Raise `ParameterError` unless `arrays` are exactly those of this network with so many members."""
        wanted = {slot.name: (members, *slot.shape) for slot in [*self.slots(), *self.buffers()]}
        if set(arrays) != set(wanted):
            odd = sorted(set(arrays) ^ set(wanted))
            raise ParameterError(f"the arrays are not those of this network: {', '.join(odd[:5])}.")
        for name, shape in wanted.items():
            array = arrays[name]
            if array.shape != shape or array.dtype != np.float32:
                raise ParameterError(
                    f"array {name} must be float32 of shape {shape}, but is {array.dtype} {array.shape}."
                )
            if not np.isfinite(array).all():
                raise ParameterError(f"array {name} has values that are not finite.")
            if name.endswith(".variance") and (array < 0).any():
                raise ParameterError(f"array {name} has negative values.")

    def to_plain(self) -> dict[str, Any]:
        """What JSON can hold."""
        plain = asdict(self)
        for name in _CAME_LATER:
            # Files from before there was such a thing have no such entry; neither have others that do without.
            if not plain[name]:
                del plain[name]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @classmethod
    def from_plain(cls, plain: Any) -> Architecture:
        """The inverse of `to_plain`; everything is checked."""
        names = {field.name for field in fields(cls)}
        if not isinstance(plain, dict) or set(plain) | _CAME_LATER != names:
            raise ParameterError(f"a network must have exactly the entries {', '.join(sorted(names))}.")
        return cls(**plain)


def _norm_slots(layer: str, units: int) -> list[Slot]:
    return [Slot(f"{layer}.scale", (units,), 0, False), Slot(f"{layer}.shift", (units,), 0, False)]


def _layer_sizes(name: str, sizes: Any) -> tuple[int, ...]:
    sizes = (sizes,) if is_whole_number(sizes) else sizes
    if not isinstance(sizes, (tuple, list)) or len(sizes) > _MOST_LAYERS:
        raise ParameterError(
            f"{name} must be at most {_MOST_LAYERS} sizes of layers, such as (32, 32), but is {sizes!r:.60}.",
            argument=name,
        )
    for size in sizes:
        check(f"each size in {name}", size, WholeNumber(1, _MOST_UNITS))
    return tuple(int(size) for size in sizes)
