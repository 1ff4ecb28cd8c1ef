import { commitOf, fullName, type Handler, type Params, paged, type Routes } from './handler.ts';
import { userOf } from './repositories.ts';
import { json, notFound, type RestCheckRun, type RestRepository } from './rest.ts';
import type { Status, World } from './world.ts';

/** Check runs of a commit. The emulated host finds them by number only, for it has not the commit. */
export const runsOf = async (world: World, name: string, sha: string): Promise<RestCheckRun[]> => {
  const ids = world.runs.get(sha) ?? [];
  const path = `/repos/${name}/check-runs`;
  const runs = await Promise.all(
    ids.map((id) => world.emulated.read<RestCheckRun>('GET', `${path}/${id}`)),
  );
  // Of each name the latest counts.
  const latest = new Map(runs.map((run) => [run.name, run]));
  const owner = await userOf(world, 'colleague');
  return [...latest.values()].map((run) => ({
    ...run,
    app: appOf(world, run.id, owner),
    output: {
      ...run.output,
      annotations_count: world.checks.get(run.id)?.annotations.length ?? 0,
      annotations_url: `${world.url}${path}/${run.id}/annotations`,
    },
  }));
};

const appOf = ({ checks }: World, id: number, owner: unknown): unknown => {
  const { app, job } = checks.get(id) ?? {};
  const name = job === undefined ? app : 'GitHub Actions';
  if (name === undefined) return null;
  const at = new Date(0).toISOString();
  return {
    ...{ id: 1, node_id: 'A_1', slug: name.toLowerCase().replaceAll(' ', '-'), name, owner },
    ...{ description: null, external_url: 'https://ci.example', html_url: 'https://ci.example' },
    ...{ created_at: at, updated_at: at, permissions: {}, events: [] },
  };
};

const annotations: Handler = ({ checks, url }, ask, params) => {
  const notes = checks.get(Number(params.check_run_id))?.annotations ?? [];
  const size = Number(ask.query.get('per_page') ?? 30);
  return json(
    notes.slice(0, size).map(({ path, start_line, message, title = null }) => ({
      ...{ path, start_line, end_line: start_line, start_column: null, end_column: null },
      ...{ annotation_level: 'failure', title, message, raw_details: null, blob_href: url },
    })),
  );
};

/** The latest of each context. */
export const statusesOf = ({ statuses }: World, sha: string): Status[] => {
  const found = statuses.filter((each) => each.sha === sha);
  return [...new Map(found.map((each) => [each.context, each])).values()];
};

const shaOf = async (world: World, params: Params): Promise<string | undefined> =>
  commitOf(world, fullName(params), (params.ref ?? '').replace(/^heads\//, ''));

const runs: Handler = async (world, _ask, params) => {
  const sha = await shaOf(world, params);
  if (sha === undefined) return notFound();
  const check_runs = await runsOf(world, fullName(params), sha);
  return json({ total_count: check_runs.length, check_runs });
};

const combined: Handler = async (world, _ask, params) => {
  const sha = await shaOf(world, params);
  if (sha === undefined) return notFound();
  const name = fullName(params);
  const statuses = statusesOf(world, sha).map((each) => statusBody(world, name, each));
  const repository = await world.emulated.read<RestRepository>('GET', `/repos/${name}`);
  const url = `${world.url}/repos/${name}/commits/${sha}`;
  return json({
    ...{ state: stateOf(statusesOf(world, sha)), statuses, sha, repository },
    ...{ total_count: statuses.length, commit_url: url, url: `${url}/status` },
  });
};

const stateOf = (statuses: readonly Status[]): string => {
  if (statuses.some(({ state }) => state === 'error' || state === 'failure')) return 'failure';
  const done = statuses.length > 0 && statuses.every(({ state }) => state === 'success');
  return done ? 'success' : 'pending';
};

const statusBody = ({ url }: World, name: string, status: Status): Record<string, unknown> => {
  const { sha, created_at, ...rest } = status;
  return {
    ...rest,
    ...{ id: 1, node_id: `S_${sha}`, created_at, updated_at: created_at },
    ...{ avatar_url: `${url}/avatar`, url: `${url}/repos/${name}/statuses/${sha}` },
  };
};

const listed: Handler = async (world, ask, params) => {
  const sha = await shaOf(world, params);
  if (sha === undefined) return notFound();
  const all = world.statuses.filter((each) => each.sha === sha).toReversed();
  const bodies = all.map((each) => statusBody(world, fullName(params), each));
  return paged(
    world,
    ask,
    bodies.map((each) => ({ ...each, creator: null })),
  );
};

export const checkRoutes: Routes = {
  'get /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations': annotations,
  'get /repos/{owner}/{repo}/commits/{ref}/check-runs': runs,
  'get /repos/{owner}/{repo}/commits/{ref}/status': combined,
  'get /repos/{owner}/{repo}/commits/{ref}/statuses': listed,
};
