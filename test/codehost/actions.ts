import { fullName, type Handler, type Routes } from './handler.ts';
import { json, notFound, type RestRepository, refused } from './rest.ts';
import type { Checked, World } from './world.ts';

// All jobs of a commit are of one run, which has the number of the first.
const jobsOf = ({ checks }: World, of: (checked: Checked) => boolean): [number, Checked][] =>
  [...checks].filter(([, checked]) => checked.job !== undefined && of(checked));

const runOf = (world: World, sha: string): number =>
  jobsOf(world, (checked) => checked.sha === sha)[0]?.[0] ?? 0;

const jobBody = (world: World, name: string, [id, checked]: [number, Checked]): unknown => {
  const { sha, conclusion, job } = checked;
  const run_id = runOf(world, sha);
  const self = `${world.url}/repos/${name}`;
  const status = conclusion === null ? 'in_progress' : 'completed';
  const started_at = new Date(0).toISOString();
  const steps = (job?.steps ?? []).map((step, n) => ({ ...step, status, number: n + 1 }));
  return {
    ...{ id, run_id, node_id: `J_${id}`, head_sha: sha, name: checked.name, status, conclusion },
    ...{ url: `${self}/actions/jobs/${id}`, run_url: `${self}/actions/runs/${run_id}`, steps },
    html_url: `https://${world.host_name}/${name}/actions/runs/${run_id}/job/${id}`,
    ...{ created_at: started_at, started_at, completed_at: conclusion && started_at, labels: [] },
    ...{ check_run_url: `${self}/check-runs/${id}`, workflow_name: 'CI', head_branch: null },
    ...{ runner_id: 1, runner_name: 'r', runner_group_id: 1, runner_group_name: 'g' },
  };
};

const one: Handler = (world, _ask, params) => {
  const checked = world.checks.get(Number(params.job_id));
  if (checked?.job === undefined) return notFound();
  return json(jobBody(world, fullName(params), [Number(params.job_id), checked]));
};

const log: Handler = ({ checks }, _ask, params) => {
  const at = checks.get(Number(params.job_id))?.job?.log ?? 404;
  if (typeof at === 'number') return refused(at, at === 403 ? 'Must have admin rights' : 'Gone');
  return { status: 302, headers: { location: at }, body: undefined };
};

const listed: Handler = (world, _ask, params) => {
  const of = ({ sha }: Checked): boolean => runOf(world, sha) === Number(params.run_id);
  const jobs = jobsOf(world, of).map((each) => jobBody(world, fullName(params), each));
  return json({ total_count: jobs.length, jobs });
};

const runs: Handler = async (world, ask, params) => {
  const sha = ask.query.get('head_sha') ?? '';
  const id = runOf(world, sha);
  const name = fullName(params);
  const repository = await world.emulated.read<RestRepository>('GET', `/repos/${name}`);
  const self = `${world.url}/repos/${name}/actions`;
  const failed = jobsOf(world, (each) => each.sha === sha && each.conclusion !== 'success');
  const at = { created_at: new Date(0).toISOString(), updated_at: new Date(0).toISOString() };
  const urls = ['url', 'jobs_url', 'logs_url', 'check_suite_url', 'cancel_url', 'rerun_url'];
  const run = {
    ...{ id, node_id: `R_${id}`, head_sha: sha, head_branch: null, run_number: 1, event: 'push' },
    ...{ display_title: 'CI', path: '.github/workflows/ci.yml', workflow_id: 1, ...at },
    ...{ status: 'completed', conclusion: failed.length > 0 ? 'failure' : 'success' },
    ...Object.fromEntries([...urls, 'artifacts_url', 'workflow_url'].map((key) => [key, self])),
    ...{ html_url: self, repository, head_repository: repository, pull_requests: [] },
    head_commit: null,
  };
  const workflow_runs = id === 0 ? [] : [run];
  return json({ total_count: workflow_runs.length, workflow_runs });
};

const ACTIONS = '/repos/{owner}/{repo}/actions';

export const actionRoutes: Routes = {
  [`get ${ACTIONS}/jobs/{job_id}`]: one,
  [`get ${ACTIONS}/jobs/{job_id}/logs`]: log,
  [`get ${ACTIONS}/runs`]: runs,
  [`get ${ACTIONS}/runs/{run_id}/jobs`]: listed,
};
