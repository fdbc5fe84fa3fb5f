// Long computations as generators that pause after each prediction, so that a page can go on answering meanwhile.

// So long a computation goes on before the page answers again, in milliseconds.
const SLICE = 25;

/** Run a generator to its end at once, and give what it returns. */
export function finished(steps) {
  for (;;) {
    const step = steps.next();
    if (step.done) {
      return step.value;
    }
  }
}

/**
 * Run a generator in slices of time.
 *
 * done gets what it returns; failed gets the Error that ended it; it is left where it is once wanted() is false.
 */
export function runInSlices(steps, { wanted, done, failed }) {
  const slice = () => {
    if (!wanted()) {
      return;
    }
    let step;
    try {
      const end = performance.now() + SLICE;
      do {
        step = steps.next();
      } while (!step.done && performance.now() < end);
    } catch (error) {
      failed(error);
      return;
    }
    if (step.done) {
      done(step.value);
    } else {
      setTimeout(slice, 0);
    }
  };
  slice();
}
