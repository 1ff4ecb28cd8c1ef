import { fenceOff } from '../../../../store/base/text.ts';
import { failureSentence } from '../../../../store/records/commands.ts';
import type { SessionMessage } from '../../../../store/records/message.ts';
import type { Session, Usage } from '../../../../store/records/session.ts';
import type { WorkCommit } from '../../../../store/records/work-commit.ts';
import { approverText, oneLine, shorten } from '../../../text/wording.ts';
import { minuteOf } from '../../cases/text.ts';
import { commandsOf } from '../rules/commands.ts';
import {
  changesPart,
  commitPart,
  firstOf,
  part,
  settingsTouched,
  type WorktreeChanges,
} from './changes-part.ts';
import { attachedPart, messagesPart, questionsPart } from './dialogue.ts';
import { type LeftRef, putBackLine } from './left-refs.ts';
import { isUnfinishedCall, type SessionDigest, type TranscriptCall } from './transcript-summary.ts';

export interface Outcome {
  status: 'completed' | 'failed' | 'aborted' | 'paused';
  /** The error of a failed or interrupted session, or what a completed one left unresolved. */
  error?: string;
}

/** The result of a session when it ends or pauses. */
export interface WorkDone {
  /** The session before this change. */
  session: Session;
  outcome: Outcome;
  at: string;
  asked: { title: string; description: string; images?: readonly string[] };
  /** Whether plan.md exists. */
  planned: boolean;
  /** Undefined where the plan was not approved. */
  changes: WorktreeChanges | undefined;
  /** Undefined where the session commits nothing. */
  commit?: WorkCommit | undefined;
  told: SessionDigest;
  /** The operator's messages. */
  messages?: readonly SessionMessage[];
  usage: Usage | null;
}

/** The body of session.md: a summary that can be read a year later without any program. */
export const summaryOf = (done: WorkDone): string =>
  [
    ...outcome(done),
    ...failedCommands(done),
    ...asked(done.asked),
    ...questionsPart(done.told.questions.values()),
    ...messagesPart(done.messages ?? []),
    ...attachedPart(done.session),
    ...plan(done),
    ...changesPart(done.changes),
    ...commitPart(done.outcome.status, done.session.branch, done.commit),
    ...settingsTouched(done.changes),
    ...commands(done.told.calls, done.outcome),
    ...part('## Requests that you refused', done.told.refusals.map(shortLine).join('\n')),
    ...network(done.told.network),
    ...leftAsTheyAre(done.told.refs),
    ...part('## Git, besides the branch', done.told.git.join('\n\n')),
    ...part('## Processes left', done.told.left.join('\n')),
    ...part('## Last words', shorten(done.told.last_words.trim(), MOST_CHARACTERS), 'markdown'),
    ...cost(done),
  ].join('\n\n');

const outcome = ({ session, outcome: { status, error }, at }: WorkDone): string[] => {
  const mode = session.mode === 'work' ? 'in Work mode' : 'in Plan mode';
  const when = `at ${minuteOf(at)}${took(session.started_at, at)}.`;
  const nothing = session.mode === 'work' ? '' : ' Nothing was executed.';
  const line = {
    completed: `Completed ${when}`,
    failed: `Failed ${mode} ${when}${nothing}`,
    aborted: `Aborted by the operator ${mode} ${when}${nothing}`,
    paused: `Paused ${mode} ${when} The rest is as of then.`,
  }[status];
  return ['## How it ended', line, ...(error === undefined ? [] : [fenceOff(error, 'text')])];
};

// Failed commands come first, because a reader of the rest would take the work for done.
const failedCommands = ({ session, told }: WorkDone): string[] => {
  const commands = session.mode === 'work' ? commandsOf(told.calls) : undefined;
  const sentence = commands === undefined ? null : failureSentence(commands);
  if (commands === undefined || sentence === null) return [];
  return [
    `**${sentence}**`,
    ...commands.failed
      .filter(({ output }) => output !== '')
      .map(({ command, output }) => fenceOff(`$ ${command}\n${output}`, 'text')),
  ];
};

const asked = ({ title, description, images = [] }: WorkDone['asked']): string[] => [
  '## What was asked',
  title,
  ...(description.trim() === ''
    ? []
    : [fenceOff(shorten(description.trim(), MOST_CHARACTERS), 'markdown')]),
  ...(images.length === 0 ? [] : [`Images: ${images.map(imageLink).join(', ')}`]),
];

const imageLink = (name: string): string => `[${name}](../../images/${name})`;

const plan = ({ session, planned }: WorkDone): string[] => {
  const { mode, branch, base_commit } = session;
  const who = workerOf(session);
  if (mode === 'work')
    return [
      '## What was approved',
      `${approval(session)} ${who} worked on \`${branch ?? 'HEAD'}\`, from \`${base_commit ?? 'an empty repository'}\`.`,
      ...(session.plan_edited === true ? [EDITED] : []),
      ...unasked(session),
    ];
  return [
    '## What was planned',
    planned
      ? `[plan.md](plan.md), by ${who}. It was not approved.`
      : `There is no plan yet of ${who}.`,
  ];
};

const workerOf = ({ provider, model, effort }: Session): string => {
  const chosen = [
    ...(model === undefined ? [] : [`model \`${model}\``]),
    ...(effort === undefined ? [] : [`effort \`${effort}\``]),
  ];
  return chosen.length === 0 ? provider : `${provider} (${chosen.join(', ')})`;
};

const approval = ({ plan_sha256, ...session }: Session): string => {
  const { approved_at, approved_sha256 } = session;
  if (approved_at === null || approved_sha256 === null)
    return `[plan.md](plan.md), SHA-256 \`${plan_sha256 ?? 'unknown'}\`.`;
  return `[approved.md](approved.md), SHA-256 \`${approved_sha256}\`, by ${approverText(session)} at ${minuteOf(approved_at)}.`;
};

const unasked = ({ unasked: commands = [] }: Session): string[] =>
  part('Commands that run without asking:', commands.join('\n'), 'sh');

const EDITED =
  '[plan.md](plan.md) was edited after that. What ran is approved.md, without the edit.';

// A call that was still open when its run ended has no result of its own.
const commands = (calls: readonly TranscriptCall[], { status: ended }: Outcome): string[] => {
  const cut = ended === 'completed' ? 'ended' : 'killed';
  const lines = calls
    .filter(({ kind }) => kind === 'execute')
    .map((call) => `${shortLine(call.title)}  ${isUnfinishedCall(call) ? cut : howItWent(call)}`);
  return part('## Commands run', firstOf(lines, 'commands').join('\n'));
};

const howItWent = ({ status, exit_code, refused }: TranscriptCall): string => {
  if (refused === true) return 'refused';
  return exit_code === undefined ? status : `${status} (exit ${exit_code})`;
};

const shortLine = (text: string): string => oneLine(text).slice(0, LONGEST_LINE);

const network = ({ reached, refused }: SessionDigest['network']): string[] => {
  const lines = [
    ...(reached.length === 0 ? [] : [`Reached: ${goals(reached)}`]),
    ...(refused.length === 0 ? [] : [`refused: ${goals(refused)}`]),
  ];
  return part('## Network', lines.length === 0 ? '' : `${lines.join('; ').replace(/^r/, 'R')}.`);
};

const goals = (all: readonly string[]): string => firstOf(all, 'goals').map(oneLine).join(', ');

const leftAsTheyAre = (refs: readonly LeftRef[]): string[] => {
  if (refs.length === 0) return [];
  const lines = firstOf(refs.map(putBackLine), 'changes');
  return ['## What changed meanwhile', LEFT, fenceOff(lines.join('\n'), 'sh')];
};

const LEFT =
  'Branches, tags or stashes changed while the agent planned. Nothing shows that the agent changed them, so they were not restored. Each command restores one; a comment names another author.';

const cost = ({ usage, session: { provider } }: WorkDone): string[] => {
  const { input_tokens = null, output_tokens = null, cost_usd = null } = usage ?? {};
  const figures = [
    input_tokens === null ? undefined : `${grouped(input_tokens)} tokens in`,
    output_tokens === null ? undefined : `${grouped(output_tokens)} tokens out`,
    cost_usd === null ? undefined : `$${cost_usd.toFixed(4)} by the agent's estimate`,
  ].filter((figure) => figure !== undefined);
  if (figures.length === 0) return ['## Cost', `${provider} did not report its usage.`];
  const least = usage?.at_least === true ? 'At least ' : '';
  return ['## Cost', `${least}${figures.join(', ')}.`];
};

const took = (from: string | null, to: string): string => {
  if (from === null) return '';
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  const minutes = Math.floor(seconds / 60);
  const text = minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
  return `, ${text} after planning began`;
};

const MOST_CHARACTERS = 1000;
const LONGEST_LINE = 200;

const grouped = (count: number): string => count.toLocaleString('en-US');
