import type { Session, Usage } from '../../store/records/session.ts';
import { counted } from '../counted.ts';
import { fenceOff } from '../providers/fence-off.ts';
import type { ChangedFile } from '../tools/git/diff.ts';
import type { WorkCall } from './partial.ts';

/** What a session came to, as far as it is known when its Work mode ends. */
export interface WorkDone {
  session: Session;
  asked: { title: string; description: string };
  files: readonly ChangedFile[];
  calls: readonly WorkCall[];
  usage: Usage | null;
  ended_at: string;
}

/** The body of session.md: what a person wants to know of the session a year later, without any program. */
export const summaryOf = (done: WorkDone): string =>
  [
    ...asked(done.asked),
    ...plan(done.session),
    ...changed(done.files),
    ...commands(done.calls),
    ...cost(done),
  ].join('\n\n');

const asked = ({ title, description }: WorkDone['asked']): string[] => [
  '## What was asked',
  title,
  ...(description.trim() === '' ? [] : [fenceOff(shortened(description.trim()), 'markdown')]),
];

const plan = ({ provider, branch, base_commit, plan_sha256 }: Session): string[] => [
  '## What was approved',
  `[plan.md](plan.md), SHA-256 \`${plan_sha256 ?? 'unknown'}\`. ${provider} executed it on \`${branch ?? 'HEAD'}\`, from \`${base_commit ?? 'an empty repository'}\`.`,
];

const changed = (files: readonly ChangedFile[]): string[] => {
  if (files.length === 0) return ['## What changed', 'No file was changed.'];
  const sum = (of: 'additions' | 'deletions'): number =>
    files.reduce((total, file) => total + (file[of] ?? 0), 0);
  const lines = firstOf(files.map(changedLine), 'files');
  return [
    '## What changed',
    `${counted(files.length, 'file')}, +${sum('additions')} −${sum('deletions')}: see [diff.patch](diff.patch).`,
    fenceOff(lines.join('\n'), 'text'),
  ];
};

const changedLine = ({ what, path, additions, deletions }: ChangedFile): string =>
  `${what.padEnd(8)} ${path}  ${additions === null ? 'binary' : `+${additions} −${deletions}`}`;

const commands = (calls: readonly WorkCall[]): string[] => {
  const lines = calls
    .filter(({ kind }) => kind === 'execute')
    .map(({ title, status }) => `${oneLine(title)}  ${status}`);
  if (lines.length === 0) return [];
  return ['## Commands run', fenceOff(firstOf(lines, 'commands').join('\n'), 'text')];
};

const cost = ({ session, usage, ended_at }: WorkDone): string[] => {
  const { input_tokens = null, output_tokens = null, cost_usd = null } = usage ?? {};
  const figures = [
    took(session.started_at, ended_at),
    input_tokens === null ? undefined : `${input_tokens} tokens in`,
    output_tokens === null ? undefined : `${output_tokens} tokens out`,
    cost_usd === null ? undefined : `$${cost_usd.toFixed(4)} as the agent reckons`,
  ].filter((figure) => figure !== undefined);
  return figures.length === 0 ? [] : ['## Time and cost', `${figures.join(', ')}.`];
};

const took = (from: string | null, to: string): string | undefined => {
  if (from === null) return undefined;
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  const minutes = Math.floor(seconds / 60);
  const text = minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
  return `${text} from the start of planning`;
};

const MOST_LINES = 100;
const MOST_CHARACTERS = 1000;
const LONGEST_LINE = 200;

const firstOf = (lines: readonly string[], what: string): string[] => {
  const more = lines.length - MOST_LINES;
  return more <= 0 ? [...lines] : [...lines.slice(0, MOST_LINES), `and ${more} more ${what}`];
};

const shortened = (text: string): string =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)} […]`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, LONGEST_LINE);
