// A restricted mean from survival at a few fixed times, which lie closer together the earlier they are.

import { gaussLegendre } from "../numerics/gauss_legendre.js";

const EARLY_PANELS = 9;
const EARLY_PANEL_NODES = 8;
const EARLY_RULE = earlyRule();

/** Nodes and weights on panels of (0, 1) of which each is as wide as all before it together. */
function earlyRule() {
  const rule = [];
  for (let panel = 0; panel < EARLY_PANELS; panel += 1) {
    const stop = 2 ** (panel + 1 - EARLY_PANELS);
    const start = panel === 0 ? 0 : stop / 2;
    for (const [node, weight] of gaussLegendre(EARLY_PANEL_NODES)) {
      rule.push({ place: start + ((stop - start) * (node + 1)) / 2, weight: ((stop - start) * weight) / 2 });
    }
  }
  return rule;
}

/** The restricted mean of a distribution: survival times Gauss's weights. */
export function restrictedMeanAtNodes(distribution, horizon) {
  return horizon * EARLY_RULE.reduce((sum, node) => sum + node.weight * distribution.survival(horizon * node.place), 0);
}
