"""A small language for ONNX graphs: tensors with operators, constants that are folded, loops.

Every quantity of the rows has the rows on its last axis: a column is ``(1, rows)``, the outputs of an ensemble are
``(members, outputs, rows)``. Products and elementwise operators then run along memory, however few members, outputs
or times there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ML_DOMAIN", "Graph", "Number", "Tensor", "joined"]

# The newest operators that every onnxruntime from 1.20 on has kernels for.
OPSET, ML_OPSET, ML_DOMAIN = 20, 3, "ai.onnx.ml"
_IR_VERSION = 9

Array: TypeAlias = NDArray[Any]
_Folded: TypeAlias = Callable[..., Any]

# Operators that are computed here and now where all that they need is constant.
_FOLDED: dict[str, _Folded] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Min": np.minimum,
    "Max": np.maximum,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Equal": np.equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Not": np.logical_not,
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Abs": np.abs,
    "Neg": np.negative,
    "IsNaN": np.isnan,
    "Where": np.where,
    "MatMul": np.matmul,
}
_TO_BOOL = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "And", "Or", "Not", "IsNaN"}


@final
class Graph:
    """The nodes, constants, inputs and outputs of a model in the making."""

    def __init__(self) -> None:
        self._scopes: list[tuple[list[Any], dict[object, Tensor]]] = [([], {})]
        self._constants: dict[object, tuple[str, Array]] = {}
        self._taken: set[str] = set()
        self._inputs: list[Any] = []
        self._defaults: list[Any] = []
        self._outputs: list[Any] = []
        self._count = 0

    # ---- names, inputs and outputs

    def reserve(self, names: Sequence[str]) -> None:
        """Keep names from being given to anything else."""
        self._taken.update(names)

    def free_name(self, wanted: str) -> str:
        """The name, or one made of it that nothing has yet."""
        name = wanted
        while name in self._taken or not name:
            name = f"column_{name}"
        self._taken.add(name)
        return name

    def input(self, name: str, dtype: str, shape: Sequence[str | int], default: Array | None = None) -> Tensor:
        """What a caller gives; with a default it may be left away."""
        from onnx import helper, numpy_helper

        self._taken.add(name)
        self._inputs.append(helper.make_tensor_value_info(name, _element_type(dtype), list(shape)))
        if default is not None:
            self._defaults.append(numpy_helper.from_array(default, name))
        return Tensor(self, dtype, name=name)

    def output(self, name: str, tensor: Tensor, shape: Sequence[str | int]) -> None:
        """What a caller gets."""
        from onnx import helper

        self._scopes[-1][0].append(helper.make_node("Identity", [tensor.name], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, _element_type(tensor.dtype), list(shape)))

    # ---- nodes

    def constant(self, value: Any, dtype: str = "float64") -> Tensor:
        """Numbers that do not depend on the rows."""
        return Tensor(self, dtype, value=np.asarray(value, dtype))

    def node(
        self,
        operator: str,
        inputs: Sequence[Tensor],
        dtype: str | None = None,
        *,
        domain: str = "",
        unused: int = 0,
        **settings: Any,
    ) -> Tensor:
        """The first result of an operator, which has `unused` others; the same of the same inputs is computed once."""
        from onnx import helper

        if operator in _FOLDED and all(tensor.value is not None for tensor in inputs):
            with np.errstate(all="ignore"):
                value = np.asarray(_FOLDED[operator](*(tensor.value for tensor in inputs)))
            return Tensor(self, str(value.dtype), value=value)
        kind = dtype or ("bool" if operator in _TO_BOOL else inputs[-1].dtype)
        names = [tensor.name for tensor in inputs]
        key = (operator, domain, *names, *sorted((name, repr(value)) for name, value in settings.items()))
        for _, known in self._scopes:
            if key in known:
                return known[key]
        nodes, known = self._scopes[-1]
        result = Tensor(self, kind, name=self._new_name())
        results = [result.name, *(self._new_name() for _ in range(unused))]
        nodes.append(helper.make_node(operator, names, results, domain=domain, **settings))
        known[key] = result
        return result

    def loop(
        self, most: int, state: Sequence[Tensor], step: Callable[[list[Tensor]], tuple[Tensor, list[Tensor]]]
    ) -> list[Tensor]:
        """The state after steps that are taken while their first result, one bool, is true, `most` of them."""
        from onnx import helper

        with self._inner() as nodes:
            names = [self._new_name() for _ in range(2 + len(state))]
            inside = [Tensor(self, old.dtype, name=name) for old, name in zip(state, names[2:], strict=True)]
            going, following = step(inside)
            results = [self._new_name() for _ in range(1 + len(state))]
            for tensor, name in zip((going, *following), results, strict=True):
                nodes.append(helper.make_node("Identity", [tensor.name], [name]))
            kinds = ["int64", "bool", *(old.dtype for old in state)]
            # The number of the step and the condition are scalars; the shapes of the state are those of its start.
            shapes: list[Sequence[int] | None] = [(), (), *(None for _ in state)]
            entries, exits = (
                [
                    helper.make_tensor_value_info(one, _element_type(k), shape)
                    for one, k, shape in zip(given, kinds[first:], shapes[first:], strict=True)
                ]
                for first, given in ((0, names), (1, results))
            )
            body = helper.make_graph(nodes, self._new_name(), entries, exits)
        found = [Tensor(self, old.dtype, name=self._new_name()) for old in state]
        start = [self.constant(most, "int64"), self.constant(True, "bool"), *state]
        outer = helper.make_node("Loop", [one.name for one in start], [one.name for one in found], body=body)
        self._scopes[-1][0].append(outer)
        return found

    @contextmanager
    def _inner(self) -> Iterator[list[Any]]:
        scope: tuple[list[Any], dict[object, Tensor]] = ([], {})
        self._scopes.append(scope)
        try:
            yield scope[0]
        finally:
            self._scopes.pop()

    def _new_name(self) -> str:
        while True:
            self._count += 1
            name = f"v{self._count}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def constant_name(self, value: Array) -> str:
        """The name under which an array is in the graph."""
        key = (str(value.dtype), value.shape, value.tobytes())
        if key not in self._constants:
            self._constants[key] = (self._new_name(), value)
        return self._constants[key][0]

    # ---- the model

    def model(self, name: str, metadata: dict[str, str]) -> Any:
        """The graph as an ONNX model, checked."""
        import onnx
        from onnx import helper, numpy_helper

        constants = [numpy_helper.from_array(value, name) for name, value in self._constants.values()]
        graph = helper.make_graph(self._scopes[0][0], name, self._inputs, self._outputs, [*self._defaults, *constants])
        model = helper.make_model(
            graph,
            producer_name="aldsurv",
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML_DOMAIN, ML_OPSET)],
            ir_version=_IR_VERSION,
        )
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model)
        return model


Number: TypeAlias = "Tensor | float | int | Array"


@final
@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the graph: constant, or the result of a node."""

    graph: Graph
    dtype: str
    given_name: str | None = None
    value: Array | None = None

    def __init__(self, graph: Graph, dtype: str, *, name: str | None = None, value: Array | None = None) -> None:
        for field, given in (("graph", graph), ("dtype", dtype), ("given_name", name), ("value", value)):
            object.__setattr__(self, field, given)

    @property
    def name(self) -> str:
        """The name in the graph; a constant gets into it when it is asked for."""
        if self.given_name is not None:
            return self.given_name
        return self.graph.constant_name(np.asarray(self.value))

    def _with(self, operator: str, *others: Number, first: bool = True) -> Tensor:
        tensors = [other if isinstance(other, Tensor) else self.graph.constant(other, self.dtype) for other in others]
        return self.graph.node(operator, [self, *tensors] if first else [*tensors, self])

    # ---- arithmetic

    def __add__(self, other: Number) -> Tensor:
        return self._with("Add", other)

    def __radd__(self, other: Number) -> Tensor:
        return self._with("Add", other, first=False)

    def __sub__(self, other: Number) -> Tensor:
        return self._with("Sub", other)

    def __rsub__(self, other: Number) -> Tensor:
        return self._with("Sub", other, first=False)

    def __mul__(self, other: Number) -> Tensor:
        return self._with("Mul", other)

    def __rmul__(self, other: Number) -> Tensor:
        return self._with("Mul", other, first=False)

    def __truediv__(self, other: Number) -> Tensor:
        return self._with("Div", other)

    def __rtruediv__(self, other: Number) -> Tensor:
        return self._with("Div", other, first=False)

    def __matmul__(self, other: Number) -> Tensor:
        return self._with("MatMul", other)

    def __rmatmul__(self, other: Number) -> Tensor:
        return self._with("MatMul", other, first=False)

    def __neg__(self) -> Tensor:
        return self._with("Neg")

    def __lt__(self, other: Any) -> Tensor:
        return self._with("Less", other)

    def __le__(self, other: Any) -> Tensor:
        return self._with("LessOrEqual", other)

    def __gt__(self, other: Any) -> Tensor:
        return self._with("Greater", other)

    def __ge__(self, other: Any) -> Tensor:
        return self._with("GreaterOrEqual", other)

    def __and__(self, other: Tensor) -> Tensor:
        return self._with("And", other)

    def __or__(self, other: Tensor) -> Tensor:
        return self._with("Or", other)

    def __invert__(self) -> Tensor:
        return self._with("Not")

    # numpy's arrays leave operators with a tensor on the right to the tensor.
    __array_ufunc__ = None

    def equals(self, other: Number) -> Tensor:
        """Where both are the same."""
        return self._with("Equal", other)

    def minimum(self, other: Number) -> Tensor:
        """The smaller of both."""
        return self._with("Min", other)

    def maximum(self, other: Number) -> Tensor:
        """The larger of both."""
        return self._with("Max", other)

    def clip(self, low: float, high: float) -> Tensor:
        """Cut to what lies between two numbers."""
        if self.value is not None:
            return self.maximum(low).minimum(high)
        return self.graph.node("Clip", [self, *(self.graph.constant(end, self.dtype) for end in (low, high))])

    def where(self, yes: Number, no: Number) -> Tensor:
        """`yes` where this is true, elsewhere `no`."""
        kind = next((one.dtype for one in (yes, no) if isinstance(one, Tensor)), "float64")
        return self.graph.node(
            "Where", [self, *(one if isinstance(one, Tensor) else self.graph.constant(one, kind) for one in (yes, no))]
        )

    def exp(self) -> Tensor:
        """Exponential."""
        return self._with("Exp")

    def log(self) -> Tensor:
        """Natural logarithm."""
        return self._with("Log")

    def sqrt(self) -> Tensor:
        """Square root."""
        return self._with("Sqrt")

    def abs(self) -> Tensor:
        """Absolute value."""
        return self._with("Abs")

    def is_nan(self) -> Tensor:
        """Where there is no number."""
        return self._with("IsNaN")

    def cast(self, dtype: str) -> Tensor:
        """The same in another type."""
        if dtype == self.dtype:
            return self
        if self.value is not None:
            return self.graph.constant(self.value, dtype)
        return self.graph.node("Cast", [self], dtype, to=_element_type(dtype))

    # ---- along axes

    def _reduced(self, operator: str, fold: _Folded, axis: int, keep: bool) -> Tensor:
        if self.value is not None:
            return self.graph.constant(fold(self.value, axis=axis, keepdims=keep), self.dtype)
        axes = self.graph.constant([axis], "int64")
        return self.graph.node(operator, [self, axes], self.dtype, keepdims=int(keep))

    def sum(self, axis: int, *, keep: bool = False) -> Tensor:
        """Sum along an axis."""
        return self._reduced("ReduceSum", np.sum, axis, keep)

    def max(self, axis: int, *, keep: bool = False) -> Tensor:
        """Largest along an axis."""
        return self._reduced("ReduceMax", np.max, axis, keep)

    def min(self, axis: int, *, keep: bool = False) -> Tensor:
        """Smallest along an axis."""
        return self._reduced("ReduceMin", np.min, axis, keep)

    def mean(self, axis: int, *, keep: bool = False) -> Tensor:
        """Mean along an axis."""
        return self._reduced("ReduceMean", np.mean, axis, keep)

    def any(self) -> Tensor:
        """Whether any of these bools is true: one bool."""
        count = self.cast("int32").reshape([-1])
        return count.max(0) > 0

    def cumulative_sum(self, axis: int) -> Tensor:
        """Sums up to each place of an axis."""
        if self.value is not None:
            return self.graph.constant(np.cumsum(self.value, axis=axis))
        return self.graph.node("CumSum", [self, self.graph.constant(axis, "int64")], self.dtype)

    # ---- shapes

    def reshape(self, shape: Sequence[int]) -> Tensor:
        """Another shape: 0 keeps the length of an axis, -1 is what is left."""
        if self.value is not None and 0 not in shape:
            return self.graph.constant(self.value.reshape(tuple(shape)), self.dtype)
        return self.graph.node("Reshape", [self, self.graph.constant(list(shape), "int64")], self.dtype)

    def unsqueeze(self, axis: int) -> Tensor:
        """With one more axis of length 1."""
        if self.value is not None:
            return self.graph.constant(np.expand_dims(self.value, axis), self.dtype)
        return self.graph.node("Unsqueeze", [self, self.graph.constant([axis], "int64")], self.dtype)

    def squeeze(self, axis: int) -> Tensor:
        """Without an axis of length 1."""
        if self.value is not None:
            return self.graph.constant(np.squeeze(self.value, axis), self.dtype)
        return self.graph.node("Squeeze", [self, self.graph.constant([axis], "int64")], self.dtype)

    def slice(self, start: int, stop: int, axis: int = 0) -> Tensor:
        """A stretch of an axis."""
        if self.value is not None:
            return self.graph.constant(np.take(self.value, range(start, stop), axis=axis), self.dtype)
        bounds = [self.graph.constant([number], "int64") for number in (start, stop, axis)]
        return self.graph.node("Slice", [self, *bounds], self.dtype)

    def transpose(self, order: Sequence[int]) -> Tensor:
        """With its axes in another order."""
        if self.value is not None:
            return self.graph.constant(np.transpose(self.value, order), self.dtype)
        return self.graph.node("Transpose", [self], self.dtype, perm=list(order))

    def gather(self, places: Tensor | Array, axis: int = 0) -> Tensor:
        """The entries of an axis at these places, whose axes take that of the axis."""
        chosen = places if isinstance(places, Tensor) else self.graph.constant(places, "int64")
        if self.value is not None and chosen.value is not None:
            return self.graph.constant(np.take(self.value, chosen.value, axis=axis), self.dtype)
        return self.graph.node("Gather", [self, chosen], self.dtype, axis=axis)

    def gather_rows(self, places: Tensor) -> Tensor:
        """Of a table (m, rows) the entry of each row at its own places (q, rows)."""
        return self.graph.node("GatherElements", [self, places], self.dtype, axis=0)

    def expand(self, like: Tensor) -> Tensor:
        """The same for every entry of `like`, with whose shape it broadcasts."""
        return self.graph.node("Expand", [self, self.graph.node("Shape", [like], "int64")], self.dtype)


def joined(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors one after the other."""
    if len(tensors) == 1:
        return tensors[0]
    first = tensors[0]
    constants = [tensor.value for tensor in tensors]
    if all(value is not None for value in constants):
        return first.graph.constant(np.concatenate([np.asarray(value) for value in constants], axis=axis), first.dtype)
    return first.graph.node("Concat", list(tensors), first.dtype, axis=axis)


def _element_type(dtype: str) -> int:
    from onnx import TensorProto

    kinds: dict[str, int] = {
        "float32": TensorProto.FLOAT,
        "float64": TensorProto.DOUBLE,
        "int64": TensorProto.INT64,
        "int32": TensorProto.INT32,
        "bool": TensorProto.BOOL,
        "string": TensorProto.STRING,
    }
    return kinds[dtype]
