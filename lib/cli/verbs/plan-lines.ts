import { headOf } from './plan-head.ts';
import { namesIn } from './plan-names.ts';
import type { PlanRead } from './read-plan.ts';
import { type ApprovalOffered, unaskedLines } from './unasked.ts';
import type { Verb } from './verb.ts';

export interface PlanLines {
  /** All of it, to its last line. */
  text: string;
  /** What nobody may overlook, which is said again where the question is. */
  alarms: string[];
  /** What is approved by one hash. */
  approval: ApprovalOffered;
}

/** A plan as it is read before one says yes to it: who works, within what, what it names, and its text. */
export const planLines = async ({ dossier, values }: Verb, plan: PlanRead): Promise<PlanLines> => {
  const { title } = await dossier.call('GET /cases/{id}', { id: plan.session.case_id });
  const { facts, alarms, approval } = await headOf(dossier, plan, values.ask);
  const head = [`Plan of ${title}`, ...facts.map(([name, text]) => `${name.padEnd(9)}${text}`)];
  const unasked = unaskedLines(approval.commands);
  const lines = [...head, ...alarms, ...unasked, ...namesIn(plan.text), '', plan.text.trimEnd()];
  return { text: lines.join('\n'), alarms, approval };
};
