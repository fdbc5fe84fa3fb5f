// Curves of steps as straight lines between a few times, which have a density and an end.

import { HazardCurves } from "../curves/hazard_curves.js";
import { Step } from "../curves/step.js";
import { Mixture } from "./mixture.js";

/**
 * A distribution without steps: what falls by steps falls linearly between given times, and at these is the same. After
 * the last time it goes on exponentially. Of a mixture only the components with steps are changed.
 */
export function joinedSteps(predicted, times) {
  if (predicted instanceof Mixture) {
    const parts = predicted.components.map((part) => joinedSteps(part, times));
    return new Mixture(parts, predicted.weights);
  }
  if (!(predicted instanceof Step || predicted instanceof HazardCurves)) {
    return predicted;
  }
  return new Step(times, times.map((time) => predicted.survival(time))).smoothed();
}
