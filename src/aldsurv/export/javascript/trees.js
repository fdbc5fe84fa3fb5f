// Boosted trees as plain arrays, and the walk through them.

import { requireEntry } from "./file_entries.js";

const TREE_ARRAYS = ["feature", "threshold", "left", "right", "default_left", "value", "first", "output"];

/** Binary trees, one after the other; the nodes of each are numbered from 0, a child after its parent. */
export class Trees {
  constructor(arrays, columns, outputs) {
    for (const name of TREE_ARRAYS) {
      requireEntry(name in arrays && arrays[name].shape.length === 1, `${name} of its trees is damaged`);
      this[name] = arrays[name].data;
    }
    this.outputs = outputs;
    this.check(columns);
  }

  /** Every walk must end at a leaf. */
  check(columns) {
    const nodes = this.feature.length;
    const same = ["threshold", "left", "right", "default_left", "value"].every((name) => this[name].length === nodes);
    const starts = this.first;
    requireEntry(same && starts.length === this.output.length + 1, "the arrays of its trees differ in length");
    requireEntry(starts[0] === 0 && starts[starts.length - 1] === nodes, "where its trees begin is unclear");
    this.output.forEach((output, tree) => {
      requireEntry(output >= 0 && output < this.outputs, "a tree adds to an output that is not there");
      const size = starts[tree + 1] - starts[tree];
      requireEntry(size > 0, "where its trees begin is unclear");
      for (let node = 0; node < size; node += 1) {
        const at = starts[tree] + node;
        if (this.feature[at] !== -1) {
          requireEntry(this.feature[at] >= 0 && this.feature[at] < columns, "a tree splits on a column that is not there");
          const inside = [this.left[at], this.right[at]].every((child) => child > node && child < size);
          requireEntry(inside, "a tree has children outside of it");
        }
      }
    });
  }

  /** Sums of the trees by output for a row of numbers. */
  sums(x) {
    const sums = new Float64Array(this.outputs);
    this.output.forEach((output, tree) => {
      sums[output] += this.leafValue(x, this.first[tree]);
    });
    return sums;
  }

  leafValue(x, root) {
    let node = root;
    while (this.feature[node] !== -1) {
      const value = x[this.feature[node]];
      const left = Number.isNaN(value) ? this.default_left[node] === 1 : value < this.threshold[node];
      node = root + (left ? this.left[node] : this.right[node]);
    }
    return this.value[node];
  }
}
