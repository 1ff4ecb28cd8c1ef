import { runsOf, statusesOf } from '../checks.ts';
import type { RestCheckRun } from '../rest.ts';
import type { Status } from '../world.ts';
import { connection } from './connection.ts';
import type { Node, Scope } from './scope.ts';

/** All checks of a commit and what they come to; null when there is none. */
export const rollupOf = async (scope: Scope, sha: string): Promise<Node | null> => {
  const runs = await runsOf(scope.world, scope.name, sha);
  const statuses = statusesOf(scope.world, sha);
  const contexts = [...runs.map(runNode), ...statuses.map(statusNode)];
  if (contexts.length === 0) return null;
  return {
    __typename: 'StatusCheckRollup',
    id: `SCR_${sha}`,
    state: worstOf([...runs.map(stateOf), ...statuses.map(({ state }) => state.toUpperCase())]),
    contexts: connection('contexts', () => contexts),
  };
};

const WORST_FIRST = ['ERROR', 'FAILURE', 'PENDING', 'SUCCESS'];

const worstOf = (states: readonly string[]): string =>
  WORST_FIRST.find((state) => states.includes(state)) ?? 'SUCCESS';

const GOOD = new Set(['success', 'neutral', 'skipped']);

const stateOf = ({ status, conclusion }: RestCheckRun): string => {
  if (status !== 'completed') return 'PENDING';
  return GOOD.has(conclusion ?? '') ? 'SUCCESS' : 'FAILURE';
};

const runNode = (run: RestCheckRun): Node => ({
  __typename: 'CheckRun',
  id: run.node_id,
  databaseId: run.id,
  name: run.name,
  status: run.status.toUpperCase(),
  conclusion: run.conclusion?.toUpperCase() ?? null,
  startedAt: run.started_at,
  completedAt: run.completed_at,
  detailsUrl: run.details_url,
  url: run.html_url,
  permalink: run.html_url,
  title: run.output.title ?? null,
  summary: run.output.summary ?? null,
  text: run.output.text ?? null,
  isRequired: false,
  checkSuite: { __typename: 'CheckSuite', app: null, workflowRun: null },
});

const statusNode = (status: Status): Node => ({
  __typename: 'StatusContext',
  id: `SC_${status.context}`,
  context: status.context,
  state: status.state.toUpperCase(),
  description: status.description,
  targetUrl: status.target_url,
  createdAt: status.created_at,
  isRequired: false,
});
