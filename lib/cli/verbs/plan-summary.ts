import type { Boundary, Dossier } from '../../client/client.ts';
import { baseLine } from './failures.ts';
import { type PlanRead, type ApprovalOffered, offeredBy, readBoundary, unaskedLines } from './read-plan.ts';
import { readFences } from '../../text/markdown/fences.ts';
import { readLeaves } from '../../text/markdown/leaves.ts';
import type { Verb } from './verb.ts';

/** What has to be known of a plan before one says yes to it. */
export interface PlanHead {
  /** Each with its name. */
  facts: (readonly [name: string, text: string])[];
  /** What nobody may overlook. */
  alarms: string[];
  /** What is approved by one hash. */
  approval: ApprovalOffered;
}

/** Who works, within what, from where, for how much; and what a reader of the plan would not see. */
export const headOf = async (
  dossier: Dossier,
  { session, sha256 }: PlanRead,
  ask: string[] = [],
): Promise<PlanHead> => {
  const { provider, model, effort, base_commit, usage, warnings = [] } = session;
  const boundary = await readBoundary(dossier, session, ask);
  const approval = offeredBy(boundary, sha256, ask);
  const from = await baseLine(dossier, session.case_id);
  const cost = usage?.cost_usd;
  return {
    facts: [
      ['By', [provider, model, effort].filter(Boolean).join(', ')],
      ...(typeof boundary === 'string' ? [] : factsOf(boundary)),
      ['From', from ?? base_commit ?? 'no commit'],
      ['Cost', typeof cost === 'number' ? `$${cost.toFixed(2)} so far` : 'not told'],
      ['Hash', approval.hash],
    ],
    approval,
    alarms: [
      ...(typeof boundary === 'string'
        ? [`Not known what shuts it in: ${boundary}`]
        : alarmsOf(boundary)),
      ...warnings.map(
        ({ kind, line, column, text }) =>
          `What one does not see, or takes for something else, line ${line}, column ${column}: ${kind.replaceAll('_', ' ')}, ${text}`,
      ),
      ...(warnings.length >= SERVED
        ? [`Only the first ${SERVED} are listed. The text of the plan shows all of them.`]
        : []),
    ],
  };
};

/** So many are served of a plan. */
const SERVED = 100;

const factsOf = ({
  kind,
  sandbox,
  network,
  local = [],
  permissions,
  commits,
}: Boundary): PlanHead['facts'] => [
  ...(sandbox === undefined ? [] : [['Sandbox', sandbox] as const]),
  ...(network === undefined
    ? []
    : [['Network', [networkWords(network), ...local].join('; here ')] as const]),
  ['Unasked', permissions === undefined ? UNASKED[kind] : leaveWords(permissions)],
  ...(commits ? [['Commit', 'on its branch, once it completes'] as const] : []),
];

const networkWords = (network: NonNullable<Boundary['network']>): string => {
  if (network === 'host') return 'open, with all that is on this machine';
  if (network === 'proxy') return 'open, but for this machine';
  return network.allow.length === 0 ? 'closed' : `only ${network.allow.join(', ')}`;
};

const UNASKED: Readonly<Record<Boundary['kind'], string>> = {
  runbook: 'the blocks of the plan, one by one, and nothing else',
  manual: 'nothing is run: the work is yours',
  command: 'what its own settings and its sandbox let it do',
  acp: 'not known: its settings make no provider',
};

const leaveWords = ({ execute, fetch, prefixes }: NonNullable<Boundary['permissions']>): string => {
  const begun = [...(typeof execute === 'string' ? [] : execute), ...prefixes];
  const commands = [
    ...(execute === 'allow' ? ['all commands'] : []),
    ...(execute === 'plan' ? ['the commands that are listed'] : []),
    ...(execute === 'allow' ? [] : begun.map((prefix) => `commands with ${prefix}`)),
  ];
  return ['edits in its worktree', ...commands, ...(fetch === 'allow' ? ['requests'] : [])].join(
    ', ',
  );
};

const alarmsOf = ({ missing, sandbox, reason, network }: Boundary): string[] => [
  ...(missing === undefined ? [] : [`It cannot be started now: ${missing}`]),
  ...(sandbox === undefined || sandbox === 'bubblewrap'
    ? []
    : [`Not isolated: what runs can do whatever your user can. ${reason ?? ''}`]),
  ...(sandbox === 'bubblewrap' && network === 'host'
    ? ['Its network is not isolated: it reaches every service of this machine']
    : []),
];

const SHELL = /^(?:sh|shell|bash)$/i;
const MOST = 20;

/** The commands and files that a plan's own text has, for the head of it: an agent's account of itself is not asked. */
export const namesIn = (plan: string): string[] => [
  ...listed('Commands', commandsIn(plan)),
  ...listed('Files', filesIn(plan)),
];

const listed = (name: string, all: readonly string[]): string[] => {
  if (all.length === 0) return [];
  const more = all.length > MOST ? [`  … and ${all.length - MOST} more in the plan`] : [];
  return [`${name} in the plan:`, ...all.slice(0, MOST).map((each) => `  ${each}`), ...more];
};

/** The lines of its shell blocks that are no comments. */
const commandsIn = (plan: string): string[] =>
  readFences(plan)
    .filter(({ info }) => SHELL.test(info.split(/[ \t]/, 1)[0] ?? ''))
    .flatMap(({ content }) => content.split('\n'))
    .filter((line) => /^\s*[^\s#]/.test(line));

/** What reads like the path of a file, outside of its blocks. */
const filesIn = (plan: string): string[] => {
  const texts = readLeaves(plan)
    .leaves.filter(({ kind }) => kind === 'paragraph' || kind === 'heading')
    .flatMap(({ lines }) => lines.map(({ text }) => text));
  const words = texts.flatMap((text) => text.match(/[^\s`'"“”()[\]{}<>,;:*|=]+/g) ?? []);
  const paths = words.map((word) => word.replace(/^\.\/|[.!?]+$/g, ''));
  return [...new Set(paths.filter((path) => FILE.test(path)))];
};

// A name that is known, one with an extension that is, or a path whose last part has one.
const FILE = new RegExp(
  [
    '^(?!//)(?:[\\w@.+-]+/)*(?:README|LICENSE|CHANGELOG|Makefile|Dockerfile|Gemfile|\\.[a-z]\\w+)$',
    '^(?!//)[\\w@+-][\\w@.+/-]*\\.(?:[cm]?[jt]sx?|json|md|mdx|py|go|rs|java|kt|rb|php|cs?|cpp|hp?p?|swift|s?css|html|vue|svelte|ya?ml|toml|ini|sh|sql|txt|lock|xml|svg)$',
    '^(?!//)\\.?[\\w@+-][\\w@.+-]*/(?:[\\w@.+-]+/)*[\\w@+-]+\\.\\w{1,8}$',
  ].join('|'),
);

interface PlanLines {
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
