import type { AttentionItem } from '../../client/client.ts';
import { findOrStartDaemon } from '../connection/start.ts';
import { shellCommand, verb } from './verb.ts';

/** `dossier inbox`: lists what needs the operator, oldest first, each with the command for it. */
export const inbox = verb(async ({ dossier, config, values, out }) => {
  const waiting = ((await dossier.call('GET /attention')) ?? []).toSorted((a, b) =>
    a.since < b.since ? -1 : 1,
  );
  if (values.json === true) return void out.json(waiting);
  out.table(
    waiting.map((item) => [
      since(item),
      item.kind,
      { style: 'bold', text: shellCommand({ config }, commandFor(item)) },
      item.title,
      item.message,
    ]),
  );
  if (out.isTerminal && waiting.length === 0) out.say('Nothing needs you.');
  return undefined;
}, findOrStartDaemon);

const since = ({ since: at }: AttentionItem): string => at.slice(0, 16).replace('T', ' ');

const COMMANDS: Readonly<Partial<Record<AttentionItem['kind'], string>>> = {
  plan: 'approve',
  permission: 'answer',
  question: 'answer',
  done: 'diff',
  waiting: 'tail',
  failed: 'start',
  paused: 'resume',
};

/** The arguments of `dossier` that answer an entry. */
export const commandFor = ({ kind, case_id, other_case_id, answer }: AttentionItem): string => {
  if (kind === 'trust' || kind === 'held') return 'trust';
  if (kind === 'file') return 'check';
  if (kind === 'overlap' && other_case_id !== undefined)
    return `merge ${other_case_id.slice(0, 8)}`;
  // Other entries are answered on their page. For a plan that the operator has to write, `plan` says where.
  const isToPlan = kind === 'manual' && answer.path.endsWith('/plan');
  const command = isToPlan ? 'plan' : (COMMANDS[kind] ?? 'open');
  return case_id === undefined ? 'open' : `${command} ${case_id.slice(0, 8)}`;
};
