/** Runs a job once at a time; calls that come while it runs share one further run. */
export const shared = (job: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    next = undefined;
    running = job().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
};

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
