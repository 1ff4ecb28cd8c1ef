/** The property itself, for the suite and for the soak. */
import fc from 'fast-check';
import { plans } from './plan.ts';
import { runPlan } from './run.ts';
import { installSteps } from './steps.ts';

export interface Trial {
  runs: number;
  seed: number;
  /** Where fast-check had got to when it failed: that one run alone is made again. */
  path?: string | undefined;
  /** No new run is begun after so many milliseconds. */
  limitMs: number;
  /** One in so many runs has git in it. */
  gitEvery: number;
}

/** What was tried: how many runs and steps. Throws with seed, path and story when one of them broke a rule. */
export const tryPlans = async ({ runs, seed, path, limitMs, gitEvery }: Trial) => {
  installSteps();
  const total = { runs: 0, steps: 0, unavoidable: 0 };
  const property = fc.asyncProperty(plans(gitEvery), async (plan) => {
    const { steps, unavoidable } = await runPlan(plan);
    total.runs += 1;
    total.steps += steps;
    total.unavoidable += unavoidable;
  });
  const details = await fc.check(property, {
    numRuns: runs,
    seed,
    ...(path !== undefined && { path, endOnFailure: true }),
    interruptAfterTimeLimit: limitMs,
    markInterruptAsFailure: false,
  });
  if (!details.failed) return total;
  const again = `seed ${details.seed}, path "${details.counterexamplePath}"`;
  const story = details.errorInstance instanceof Error ? details.errorInstance.message : '';
  throw new Error(`Run ${details.numRuns} broke a rule (${again}):\n\n${story}`);
};
