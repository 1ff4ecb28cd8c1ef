const TICK_MS = 1000;
const SLEPT_MS = 5000;

/** Calls a job every so many milliseconds, and at once when the machine has slept (the two clocks differ). */
export const everySoOften = (interval: () => number, job: () => void) => {
  let drift = Date.now() - performance.now();
  let due = performance.now() + interval();
  const timer = setInterval(() => {
    const before = drift;
    drift = Date.now() - performance.now();
    if (Math.abs(drift - before) < SLEPT_MS && performance.now() < due) return;
    due = performance.now() + interval();
    job();
  }, TICK_MS);
  timer.unref();
  return {
    /** The interval changed: counts anew from now. */
    restart: () => {
      due = performance.now() + interval();
    },
    stop: () => clearInterval(timer),
  };
};
