// Which outputs of a network or of trees belong to which of several competing causes.

import { softmax } from "../numerics/numerics.js";

/** The outputs for several causes, each of which has the outputs of one distribution. */
export class CauseOutputs {
  /** A mixture has first a logit for each cause, and one for no event if there is a cure; constants come last. */
  constructor({ causes, partOutputs, partConstants, mixture, cure }) {
    this.causes = causes;
    this.partOutputs = partOutputs;
    this.partConstants = partConstants;
    this.mixture = mixture;
    this.cure = cure;
  }

  /** How many outputs, the first ones, are logits of the causes and of no event. */
  get logits() {
    return this.mixture ? this.causes + (this.cure ? 1 : 0) : 0;
  }

  /** How many outputs there are. */
  get outputs() {
    return this.logits + this.causes * this.partOutputs;
  }

  /** How many of them, the last ones, are the same for every row. */
  get constants() {
    return this.causes * this.partConstants;
  }

  /** The outputs of the distribution of a cause, in its own order. */
  part(raw, cause) {
    const moved = this.partOutputs - this.partConstants;
    const first = this.logits + cause * moved;
    const constants = this.logits + this.causes * moved + cause * this.partConstants;
    return [...raw.slice(first, first + moved), ...raw.slice(constants, constants + this.partConstants)];
  }

  /** Probabilities of the causes and of no event. */
  probabilities(raw) {
    const shares = softmax(raw.slice(0, this.logits));
    return [shares.slice(0, this.causes), this.cure ? shares[this.causes] : 0];
  }
}
