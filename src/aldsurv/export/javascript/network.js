// The forward pass of a network, all members: the weights are float32, the arithmetic is float64.

import { requireEntry } from "./file_entries.js";
import { softplus } from "./numerics/numerics.js";

const BATCH_NORM_EPSILON = 1e-5;
const GELU_SLOPE = Math.sqrt(2 / Math.PI);
const SELU_SCALE = 1.0507009873554805;
const SELU_ALPHA = 1.6732632423543772;
const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  leaky_relu: (x) => Math.max(x, 0.01 * x),
  elu: (x) => Math.max(x, 0) + Math.expm1(Math.min(x, 0)),
  selu: (x) => SELU_SCALE * (Math.max(x, 0) + SELU_ALPHA * Math.expm1(Math.min(x, 0))),
  gelu: (x) => 0.5 * x * (1 + Math.tanh(GELU_SLOPE * (x + 0.044715 * x ** 3))),
  silu: (x) => x / (1 + Math.exp(Math.min(-x, 700))),
  tanh: Math.tanh,
  softplus,
};

/** What a network looks like, its weights with a leading members axis, and its outputs. */
export class Network {
  constructor(plain, arrays, members) {
    requireEntry(plain !== null && typeof plain === "object", "a network must be described");
    this.inputs = plain.inputs;
    this.outputs = plain.outputs;
    this.hidden = plain.hidden;
    this.headHidden = plain.head_hidden;
    this.residual = plain.residual;
    this.batchNorm = plain.batch_norm;
    this.constants = plain.constants === undefined ? 0 : plain.constants;
    this.levelUnits = plain.level_units === undefined ? [] : plain.level_units;
    this.activation = ACTIVATIONS[plain.activation];
    requireEntry(this.activation !== undefined, "its activation is unknown");
    this.arrays = arrays;
    this.members = members;
    this.checkArrays();
  }

  /** How many outputs depend on the inputs. */
  get heads() {
    return this.outputs - this.constants;
  }

  /** Numbers that a level is embedded in; 0 if there is none. */
  get embedded() {
    return this.levelUnits.length === 0 ? 0 : this.levelUnits[this.levelUnits.length - 1];
  }

  /** Name and shape, without the members axis, of each array. */
  slots() {
    const found = {};
    const layer = (name, weight, units, norm) => {
      found[`${name}.weight`] = weight;
      found[`${name}.bias`] = [units];
      for (const kind of norm ? ["scale", "shift", "mean", "variance"] : []) {
        found[`${name}.${kind}`] = [units];
      }
    };
    let width = this.inputs;
    this.hidden.forEach((size, i) => {
      // The layer and its residual projection are one product: the last `size` columns are the projection.
      layer(`hidden${i}`, [width, this.residual ? 2 * size : size], size, this.batchNorm);
      width = size;
    });
    let levelWidth = 1;
    this.levelUnits.forEach((size, i) => {
      layer(`level${i}`, [levelWidth, size], size, false);
      levelWidth = size;
    });
    width += this.embedded;
    const { heads } = this;
    this.headHidden.forEach((size, i) => {
      layer(`head${i}`, i === 0 ? [width, heads * size] : [heads, width, size], heads * size, this.batchNorm);
      width = i === this.headHidden.length - 1 ? size + this.embedded : size;
    });
    layer("output", this.headHidden.length > 0 ? [heads, width] : [width, heads], this.outputs, false);
    return found;
  }

  checkArrays() {
    const wanted = this.slots();
    const names = Object.keys(wanted);
    const same = names.length === Object.keys(this.arrays).length && names.every((name) => name in this.arrays);
    requireEntry(same, "the arrays are not those of its network");
    for (const name of names) {
      const { shape, data } = this.arrays[name];
      const fits = JSON.stringify(shape) === JSON.stringify([this.members, ...wanted[name]]);
      requireEntry(fits, `the array ${name} of its network has another shape`);
      requireEntry(data.every(Number.isFinite), `the array ${name} of its network must be finite numbers`);
    }
  }

  /** The numbers of an array of one member. */
  weights(name, member) {
    const { data } = this.arrays[name];
    const size = data.length / this.members;
    return data.subarray(member * size, (member + 1) * size);
  }

  /** Outputs of all members: a list of lists. */
  forward(x) {
    return this.eachMember((member) => this.memberOutputs(member, x, []));
  }

  /** Outputs of all members at each of several levels, embedded or the last of the inputs: [member][level][output]. */
  forwardAtLevels(x, levels) {
    return this.eachMember((member) =>
      Array.from(levels, (level) => {
        if (this.levelUnits.length === 0) {
          return this.memberOutputs(member, Float64Array.of(...x, level), []);
        }
        return this.memberOutputs(member, x, this.embeddedLevel(member, level));
      }),
    );
  }

  eachMember(outputs) {
    return Array.from({ length: this.members }, (_, member) => outputs(member));
  }

  memberOutputs(member, x, embedded) {
    let h = x;
    this.hidden.forEach((size, i) => {
      const product = productOf(h, this.weights(`hidden${i}.weight`, member), this.residual ? 2 * size : size);
      h = this.finish(product.subarray(0, size), `hidden${i}`, member);
      if (this.residual) {
        h = h.map((value, k) => value + product[size + k]);
      }
    });
    const { heads } = this;
    this.headHidden.forEach((size, i) => {
      const weight = this.weights(`head${i}.weight`, member);
      const product = i === 0 ? productOf(beside(h, embedded), weight, heads * size) : headProducts(h, weight, heads, size);
      h = this.finish(product, `head${i}`, member);
    });
    const weight = this.weights("output.weight", member);
    const raw =
      this.headHidden.length > 0
        ? headOutputs(h, weight, heads, embedded)
        : productOf(beside(h, embedded), weight, heads);
    const bias = this.weights("output.bias", member);
    return Array.from(bias, (value, k) => (k < heads ? raw[k] + value : value));
  }

  /** Bias, batch normalisation and activation of a layer. */
  finish(product, layer, member) {
    const bias = this.weights(`${layer}.bias`, member);
    const h = product.map((value, k) => value + bias[k]);
    if (this.batchNorm) {
      const [scale, shift, mean, variance] = ["scale", "shift", "mean", "variance"].map((kind) =>
        this.weights(`${layer}.${kind}`, member),
      );
      for (let k = 0; k < h.length; k += 1) {
        const factor = scale[k] / Math.sqrt(variance[k] + BATCH_NORM_EPSILON);
        h[k] = (h[k] - mean[k]) * factor + shift[k];
      }
    }
    return h.map(this.activation);
  }

  /** A level as a member sees it. */
  embeddedLevel(member, level) {
    let e = Float64Array.of(level);
    this.levelUnits.forEach((size, i) => {
      const bias = this.weights(`level${i}.bias`, member);
      const last = i === this.levelUnits.length - 1;
      e = productOf(e, this.weights(`level${i}.weight`, member), size).map((value, k) => {
        const sum = value + bias[k];
        return last ? Math.exp(sum) : Math.max(sum, 0);
      });
    });
    return e;
  }
}

/** Product of a row of units with a weight (units, columns). */
function productOf(h, weight, columns) {
  const product = new Float64Array(columns);
  for (let row = 0; row < h.length; row += 1) {
    const value = h[row];
    if (value !== 0) {
      for (let column = 0; column < columns; column += 1) {
        product[column] += value * weight[row * columns + column];
      }
    }
  }
  return product;
}

/** Units, and behind them the embedded level. */
function beside(h, embedded) {
  return embedded.length === 0 ? h : Float64Array.of(...h, ...embedded);
}

/** The next layer of each head from its own units, by weights (heads, width, size). */
function headProducts(h, weight, heads, size) {
  const width = h.length / heads;
  const product = new Float64Array(heads * size);
  for (let head = 0; head < heads; head += 1) {
    const own = weight.subarray(head * width * size, (head + 1) * width * size);
    product.set(productOf(h.subarray(head * width, (head + 1) * width), own, size), head * size);
  }
  return product;
}

/** One number per head from its own units and the embedded level, by weights (heads, width). */
function headOutputs(h, weight, heads, embedded) {
  const units = h.length / heads;
  const width = units + embedded.length;
  const outputs = new Float64Array(heads);
  for (let head = 0; head < heads; head += 1) {
    let total = 0;
    for (let k = 0; k < width; k += 1) {
      total += weight[head * width + k] * (k < units ? h[head * units + k] : embedded[k - units]);
    }
    outputs[head] = total;
  }
  return outputs;
}
