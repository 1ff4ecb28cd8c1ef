import { type Boundary, type Dossier, Problem } from '../../client/client.ts';
import { baseLine } from './base-line.ts';
import type { PlanRead } from './read-plan.ts';

/** What has to be known of a plan before one says yes to it. */
export interface PlanHead {
  /** Each with its name. */
  facts: (readonly [name: string, text: string])[];
  /** What nobody may overlook. */
  alarms: string[];
}

/** Who works, within what, from where, for how much; and what a reader of the plan would not see. */
export const headOf = async (
  dossier: Dossier,
  { session, sha256 }: PlanRead,
): Promise<PlanHead> => {
  const { provider, model, effort, base_commit, usage, warnings = [] } = session;
  const boundary = await boundaryOf(dossier, session);
  const from = await baseLine(dossier, session.case_id);
  const cost = usage?.cost_usd;
  return {
    facts: [
      ['By', [provider, model, effort].filter(Boolean).join(', ')],
      ...(typeof boundary === 'string' ? [] : factsOf(boundary)),
      ['From', from ?? base_commit ?? 'no commit'],
      ['Cost', typeof cost === 'number' ? `$${cost.toFixed(2)} so far` : 'not told'],
      ['Hash', sha256],
    ],
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

// Of a provider that the settings name no more it cannot be told; the plan can be read all the same.
const boundaryOf = async (
  { call }: Dossier,
  { case_id: id, id: sid }: PlanRead['session'],
): Promise<Boundary | string> => {
  try {
    return await call('GET /cases/{id}/sessions/{sid}/boundary', { id, sid });
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
};

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
  const commands =
    execute === 'allow' ? ['all commands'] : begun.map((prefix) => `commands with ${prefix}`);
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
