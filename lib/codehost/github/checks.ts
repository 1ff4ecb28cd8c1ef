import { FailingCheck, type FailingChecks } from '../code-host.ts';
import { apiPath, hostClient, type RepositoryContext } from './client.ts';
import { listOf, PER_PAGE } from './pages.ts';
import { hasErrorCode } from './problem.ts';
import { usableOf } from './usable.ts';

// The conclusions that GitHub's combined status counts as failures.
const FAILING = new Set([
  'failure',
  'timed_out',
  'cancelled',
  'action_required',
  'startup_failure',
]);
const isFailing = ({ conclusion }: { conclusion: string | null }): boolean =>
  FAILING.has(conclusion ?? '');

/**
 * The failing check runs and commit statuses of a commit. A fine-grained token can never read check runs; failing Actions
 * jobs are returned instead. One of another form does not take the others with it.
 */
export const failingChecks = async (
  place: RepositoryContext,
  commit: string,
): Promise<FailingChecks> => {
  const unread: string[] = [];
  const orUnread = (work: Promise<FailingCheck[]>): Promise<FailingCheck[] | undefined> =>
    work.catch((error: unknown) => {
      if (!hasErrorCode(error, 'codehost_forbidden', 'codehost_sso_required')) throw error;
      unread.push(error.message);
      return undefined;
    });
  const [runs, statuses] = await Promise.all([
    orUnread(failingRuns(place, commit)),
    orUnread(failingStatuses(place, commit)),
  ]);
  const found = runs ?? (await orUnread(failingJobs(place, commit)));
  const all = usableOf(FailingCheck, [...(found ?? []), ...(statuses ?? [])], 'Failing check');
  return { checks: all.usable, unread, odd: all.unread };
};

const ACTIONS = 'github-actions';

const failingRuns = async (place: RepositoryContext, commit: string): Promise<FailingCheck[]> => {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const all = await listOf(place, route, { ref: commit });
  return Promise.all(
    all.filter(isFailing).map(async ({ id, name, conclusion, app, output, ...run }) => {
      const isJob = app?.slug === ACTIONS;
      const isNoted = !isJob && Boolean(output?.annotations_count);
      const notes = isNoted ? await notesOf(place, Number(id)) : [];
      return {
        id: String(id),
        name,
        conclusion: conclusion ?? '',
        app: app?.name ?? null,
        said: paragraphs([output?.title, output?.summary, output?.text, ...notes]),
        url: run.details_url ?? run.html_url,
        at: run.completed_at ?? run.started_at,
        job: isJob ? Number(id) : null,
      };
    }),
  );
};

// Apps write them, and not all as the host describes it.
const paragraphs = (parts: readonly unknown[]): string =>
  parts.flatMap((part) => (typeof part === 'string' && part.trim()) || []).join('\n\n');

const MOST_NOTES = 50;

const notesOf = async (place: RepositoryContext, check_run_id: number): Promise<string[]> => {
  const { api } = await hostClient(place);
  const route = 'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations';
  const { data } = await api.request(route, {
    ...apiPath(place),
    check_run_id,
    per_page: MOST_NOTES,
  });
  return data.map(({ path, start_line, title, message }) =>
    [`${path}:${start_line}`, title, message].filter(Boolean).join(': '),
  );
};

// The combined status has only the newest status of each context.
const failingStatuses = async (
  place: RepositoryContext,
  commit: string,
): Promise<FailingCheck[]> => {
  const { api } = await hostClient(place);
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/status';
  const { data } = await api.request(route, { ...apiPath(place), ...PER_PAGE, ref: commit });
  return data.statuses
    .filter(({ state }) => state === 'failure' || state === 'error')
    .map((status) => ({
      id: `status-${status.id}`,
      name: status.context,
      conclusion: status.state,
      app: null,
      said: paragraphs([status.description]),
      url: status.target_url ?? null,
      at: status.updated_at,
      job: null,
    }));
};

/** Failing Actions jobs. The id of a job is that of its check run. */
const failingJobs = async (place: RepositoryContext, commit: string): Promise<FailingCheck[]> => {
  const every = 'GET /repos/{owner}/{repo}/actions/runs';
  const runs = await listOf(place, every, { head_sha: commit });
  const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs';
  const jobs = await Promise.all(
    runs
      .filter(({ conclusion }) => conclusion !== 'success' && conclusion !== 'skipped')
      .map(({ id }) => listOf(place, route, { run_id: Number(id) })),
  );
  return jobs
    .flat()
    .filter(isFailing)
    .map(({ id, name, conclusion, html_url, completed_at }) => ({
      id: String(id),
      name,
      conclusion: conclusion ?? '',
      app: 'GitHub Actions',
      said: '',
      url: html_url,
      at: completed_at,
      job: Number(id),
    }));
};
