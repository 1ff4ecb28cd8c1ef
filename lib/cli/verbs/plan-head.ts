import type { Boundary, Dossier } from '../../client/client.ts';
import { baseLine } from './base-line.ts';
import type { PlanRead } from './read-plan.ts';
import { type ApprovalOffered, offeredBy, readBoundary } from './unasked.ts';

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
