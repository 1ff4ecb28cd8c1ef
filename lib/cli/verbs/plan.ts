import { type Boundary, type Dossier, Problem, type Session } from '../../client/client.ts';
import { shellBlocks } from '../../text/markdown/fences.ts';
import { readLeaves } from '../../text/markdown/leaves.ts';
import { networkWords } from '../../text/wording.ts';
import { sessionOf } from '../connection/find.ts';
import { warn as tell } from '../output/terminal.ts';
import {
  approvalFor,
  type PlanApproval,
  type PlanRead,
  readBoundary,
  readPlan,
  readUnsentComments,
  unpromptedLines,
} from './read-plan.ts';
import { readBaseText } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

/** `dossier plan ITEM`: shows the plan of its session. */
export const plan = verb(async (given) => {
  const { values, out } = given;
  const read = await readPlan(given, await sessionOf(given));
  const { text, sha256, session } = read;
  const waits = session.status === 'plan_ready' && session.elsewhere !== true;
  const head = waits ? await readPlanHead(given, read, values.ask) : undefined;
  const { body, commands: unasked, hash } = head?.approval ?? approvalFor('', sha256);
  if (values.json === true) out.json({ session, plan: text, unasked, ...body });
  else {
    await out.read(text);
    if (head === undefined) return undefined;
    const { facts, alarms } = head;
    for (const line of [...factLines(facts), ...alarms, ...unpromptedLines(unasked)]) tell(line);
    tell(`Hash: ${hash}`);
  }
});

/** Facts about a plan that the operator needs for the decision. */
interface PlanHead {
  /** Pairs of a label and a text. */
  facts: (readonly [name: string, text: string])[];
  /** Warnings. Those of any length come first, so that they move no other away from the question. */
  alarms: string[];
  approval: PlanApproval;
}

/** Collects the provider, boundary, base and cost of a plan, and warnings such as invisible text. */
const readPlanHead = async (
  given: Verb,
  { session, sha256 }: PlanRead,
  ask: string[] = [],
): Promise<PlanHead> => {
  const { provider, model, effort, base_commit, usage, came_later, warnings = [] } = session;
  const { dossier } = given;
  const boundary = await readBoundary(given, session, ask);
  const approval = approvalFor(boundary, sha256, ask);
  const from = await readBaseText(dossier, session.case_id);
  const unsent = await unsentLines(dossier, session);
  const cost = usage?.cost_usd;
  return {
    facts: [
      ['By', [provider, model, effort].filter(Boolean).join(', ')],
      ...(typeof boundary === 'string' ? [] : factsOf(boundary)),
      ['From', from ?? base_commit ?? 'no commit'],
      ['Cost', typeof cost === 'number' ? `$${cost.toFixed(2)} so far` : 'not reported'],
    ],
    approval,
    alarms: [
      ...unsent,
      ...warnings.map(
        ({ kind, line, column, text }) =>
          `Invisible or misleading text in line ${line}, column ${column}: ${kind.replaceAll('_', ' ')}, ${text}`,
      ),
      ...(warnings.length >= SERVED
        ? [`Only the first ${SERVED} are listed. The text of the plan shows all of them.`]
        : []),
      ...(came_later === undefined ? [] : [came_later]),
      ...(typeof boundary === 'string'
        ? [`Its isolation is unknown: ${boundary}`]
        : alarmsOf(boundary)),
    ],
  };
};

// A file that git brought, such as a link, does not keep the plan from being read.
const unsentLines = async (dossier: Dossier, session: Session): Promise<string[]> => {
  try {
    const unsent = await readUnsentComments(dossier, session);
    return unsent === '' ? [] : [`Unsent comments, which dossier revise sends:\n${unsent}`];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [`Its unsent comments cannot be read: ${error.message}`];
  }
};

/** The API returns at most this number of warnings. */
const SERVED = 100;

/** The facts in two columns. */
const factLines = (facts: PlanHead['facts']): string[] =>
  facts.map(([name, text]) => `${name.padEnd(9)}${text}`);

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

const UNASKED: Readonly<Record<Boundary['kind'], string>> = {
  runbook: 'only the blocks of the plan, one by one',
  manual: 'nothing: you do the work',
  command: 'whatever its own settings and its sandbox allow',
  acp: 'unknown: its provider is not configured',
};

const leaveWords = ({ execute, fetch, prefixes }: NonNullable<Boundary['permissions']>): string => {
  const prefixed = [...(typeof execute === 'string' ? [] : execute), ...prefixes];
  const commands = [
    ...(execute === 'allow' ? ['all commands'] : []),
    ...(execute === 'plan' ? ['the listed commands'] : []),
    ...(execute === 'allow' ? [] : prefixed.map((prefix) => `commands that begin with ${prefix}`)),
  ];
  return ['edits in its worktree', ...commands, ...(fetch === 'allow' ? ['requests'] : [])].join(
    ', ',
  );
};

const alarmsOf = ({ missing, sandbox, reason, network }: Boundary): string[] => [
  ...(missing === undefined ? [] : [`It cannot be started now: ${missing}`]),
  ...(sandbox === undefined || sandbox === 'bubblewrap'
    ? []
    : [`Not isolated: its programs can do whatever your user can. ${reason ?? ''}`]),
  ...(sandbox === 'bubblewrap' && network === 'host'
    ? ['Its network is not isolated: it can reach every service of this machine']
    : []),
];

const MOST = 20;

/**
 * Lists the commands and files in the text of a plan, as parsed from it and not as the agent summarizes it. No commands, if
 * all of them run `unasked` and are listed as such.
 */
export const planReferences = (plan: string, unasked: readonly string[] = []): string[] => {
  const commands = commandsIn(plan);
  const isListed = commands.every((command) => unasked.includes(command.trim()));
  return [...listed('Commands', isListed ? [] : commands), ...listed('Files', filesIn(plan))];
};

const listed = (name: string, all: readonly string[]): string[] => {
  if (all.length === 0) return [];
  const more = all.length > MOST ? [`  … and ${all.length - MOST} more in the plan`] : [];
  return [`${name} in the plan:`, ...all.slice(0, MOST).map((each) => `  ${each}`), ...more];
};

/** The lines of its shell blocks, without comments. */
const commandsIn = (plan: string): string[] =>
  shellBlocks(plan)
    .flatMap(({ script }) => script.split('\n'))
    .filter((line) => /^\s*[^\s#]/.test(line));

/** Words outside of code blocks that look like paths. */
const filesIn = (plan: string): string[] => {
  const texts = readLeaves(plan)
    .leaves.filter(({ kind }) => kind === 'paragraph' || kind === 'heading')
    .flatMap(({ lines }) => lines.map(({ text }) => text));
  const words = texts.flatMap((text) => text.match(/[^\s`'"“”()[\]{}<>,;:*|=]+/g) ?? []);
  const paths = words.map((word) => word.replace(/^\.\/|[.!?]+$/g, ''));
  return [...new Set(paths.filter((path) => FILE.test(path)))];
};

// A well-known name, a name with a well-known extension, or a path whose last part has an extension.
const FILE = new RegExp(
  [
    '^(?!//)(?:[\\w@.+-]+/)*(?:README|LICENSE|CHANGELOG|Makefile|Dockerfile|Gemfile|\\.[a-z]\\w+)$',
    '^(?!//)[\\w@+-][\\w@.+/-]*\\.(?:[cm]?[jt]sx?|json|md|mdx|py|go|rs|java|kt|rb|php|cs?|cpp|hp?p?|swift|s?css|html|vue|svelte|ya?ml|toml|ini|sh|sql|txt|lock|xml|svg)$',
    '^(?!//)\\.?[\\w@+-][\\w@.+-]*/(?:[\\w@.+-]+/)*[\\w@+-]+\\.\\w{1,8}$',
  ].join('|'),
);

interface PlanLines {
  text: string;
  /** Warnings, which are repeated at the question. */
  alarms: string[];
  approval: PlanApproval;
}

/** The text of a plan with its facts, warnings and references, to be read before the approval. */
export const planLines = async (given: Verb, plan: PlanRead): Promise<PlanLines> => {
  const { dossier, values } = given;
  const { title } = await dossier.call('GET /cases/{id}', { id: plan.session.case_id });
  const { facts, alarms, approval } = await readPlanHead(given, plan, values.ask);
  const head = [`Plan of ${title}`, ...factLines([...facts, ['Hash', approval.hash]])];
  const unasked = unpromptedLines(approval.commands);
  const lines = [
    ...head,
    ...alarms,
    ...unasked,
    ...planReferences(plan.text, approval.commands),
    '',
    plan.text.trimEnd(),
  ];
  return { text: lines.join('\n'), alarms, approval };
};
