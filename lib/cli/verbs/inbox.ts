import type { AttentionItem } from '../../client/client.ts';
import { utcOf } from '../../text/wording.ts';
import { readCases } from '../connection/find.ts';
import { findOrStartInWorkspace } from '../connection/start.ts';
import { flagText, verb } from './verb.ts';

/** `dossier inbox`: lists what needs the operator, oldest first, each with the command for it. */
export const inbox = verb(async ({ dossier, typed, values, out }) => {
  const waiting = await dossier.call('GET /attention');
  if (values.json === true) return void out.json(waiting);
  const ids = new Set(waiting.flatMap(({ case_id }) => case_id ?? []));
  const items = await readCases(dossier, [...ids], 'project');
  const areOfOne = new Set([...items.values()].map(({ project }) => project)).size < 2;
  out.table(
    waiting.map((item) => [
      utcOf(item.since),
      item.kind,
      { style: 'bold', text: typed(commandFor(item)) },
      item.title,
      ...(areOfOne ? [] : [items.get(item.case_id ?? '')?.project ?? '']),
      item.message,
    ]),
  );
  if (out.isTerminal && waiting.length === 0) out.say('Nothing needs you.');
}, findOrStartInWorkspace);

const COMMANDS: Readonly<Partial<Record<AttentionItem['kind'], string>>> = {
  plan: 'approve',
  permission: 'answer',
  question: 'answer',
  done: 'diff',
  waiting: 'tail',
  paused: 'resume',
  trust: 'trust',
  held: 'trust',
  file: 'check',
};
/** They take no Work item. */
const OF_WORKSPACE = new Set(['trust', 'check']);

/** The arguments of `dossier` that answer an entry. */
export const commandFor = (item: AttentionItem): string => {
  const { kind, case_id, other_case_id } = item;
  if (kind === 'overlap' && other_case_id !== undefined)
    return `merge ${other_case_id.slice(0, 8)}`;
  const word = wordFor(item);
  if (OF_WORKSPACE.has(word)) return word;
  if (case_id === undefined) return 'open';
  const command = `${word} ${case_id.slice(0, 8)}`;
  if (word === 'edit') return `${command} plan.md`;
  return word === 'start' ? `${command}${asBefore(item)}` : command;
};

// A failed session is repeated with its own agent and type, which may not be the defaults.
const asBefore = ({ answer }: AttentionItem): string => {
  const { type, provider } = (answer.body ?? {}) as Record<string, string | undefined>;
  return flagText({ provider, type: type === 'implementing' ? undefined : type });
};

// Entries without a command are answered on their page.
const wordFor = ({ kind, answer: { path } }: AttentionItem): string => {
  // A plan of which only files say that it was approved.
  if (kind === 'trust' && path.endsWith('/approve')) return 'approve';
  if (kind === 'failed') return path.endsWith('/sessions') ? 'start' : 'open';
  if (kind === 'manual') return path.endsWith('/plan') ? 'edit' : 'finish';
  return COMMANDS[kind] ?? 'open';
};
