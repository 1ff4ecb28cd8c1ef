import type { AttentionItem } from '../../client/client.ts';
import { daemonOrStart } from '../connection/start.ts';
import { commandIn, verb } from './verb.ts';

/** `dossier inbox`: what waits for the operator, oldest first, each with the command that answers it. */
export const inbox = verb(async ({ dossier, config, values, out }) => {
  const waiting = ((await dossier.call('GET /attention')) ?? []).toSorted((a, b) =>
    a.since < b.since ? -1 : 1,
  );
  if (values.json === true) return void out.json(waiting);
  out.table(
    waiting.map((item) => [
      since(item),
      item.kind,
      { style: 'bold', text: commandIn({ config }, commandFor(item)) },
      item.title,
      item.message,
    ]),
  );
  if (out.isTerminal && waiting.length === 0) out.say('Nothing waits for you.');
  return undefined;
}, daemonOrStart);

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

/** What answers it, behind `dossier`. */
export const commandFor = ({ kind, case_id, answer }: AttentionItem): string => {
  if (kind === 'trust' || kind === 'held') return 'trust';
  if (kind === 'file') return 'check';
  // What has no command of its own is answered on its page. Where one's own plan is to be written, `plan` says.
  const isToPlan = kind === 'manual' && answer.path.endsWith('/plan');
  const command = isToPlan ? 'plan' : (COMMANDS[kind] ?? 'open');
  return case_id === undefined ? 'open' : `${command} ${case_id.slice(0, 8)}`;
};
