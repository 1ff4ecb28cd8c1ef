import { FailingCheck, type FailingChecks } from '../code-host.ts';
import { apiPath, hostClient, type RepositoryContext } from './client.ts';
import { listOf, PER_PAGE } from './pages.ts';
import { hasErrorCode } from './problem.ts';
import { formedBy, pathId, usableOf } from './usable.ts';

// The conclusions that GitHub's combined status counts as failures.
const FAILING = new Set([
  'failure',
  'timed_out',
  'cancelled',
  'action_required',
  'startup_failure',
]);
// A null is kept, because it may be one that fails.
const isFailing = (check: { conclusion: string | null } | null): boolean =>
  check === null || FAILING.has(check.conclusion ?? '');

/**
 * The failing check runs and commit statuses of a commit. A fine-grained token can never read check runs; failing Actions
 * jobs are returned instead. One of another form does not take the others with it.
 */
export const failingChecks = async (
  place: RepositoryContext,
  commit: string,
): Promise<FailingChecks> => {
  const unread: string[] = [];
  const orUnread = (work: Promise<Formed>): Promise<Formed | undefined> =>
    work.catch((error: unknown) => {
      if (!hasErrorCode(error, 'codehost_forbidden', 'codehost_sso_required')) throw error;
      unread.push(error.message);
      return undefined;
    });
  const [runs, statuses] = await Promise.all([
    orUnread(failingRuns(place, commit)),
    orUnread(failingStatuses(place, commit)),
  ]);
  const jobs = runs === undefined ? await orUnread(failingJobs(place, commit)) : undefined;
  const found = [...(runs ?? jobs ?? []), ...(statuses ?? [])];
  const { usable, unread: odd } = usableOf(FailingCheck, found, 'failing check');
  const isWhole = odd.length === 0;
  const read = {
    runs: isWhole && runs !== undefined,
    app: isWhole && jobs !== undefined ? ACTIONS.name : null,
    statuses: isWhole && statuses !== undefined,
  };
  return { checks: usable, unread, odd, read };
};

/** Checks, undefined for one of another form. */
type Formed = (FailingCheck | undefined)[];

const ACTIONS = { slug: 'github-actions', name: 'GitHub Actions' };

const failingRuns = async (place: RepositoryContext, commit: string): Promise<Formed> => {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const all = await listOf(place, route, { ref: commit });
  return formedBy(all.filter(isFailing), async ({ id, name, conclusion, app, output, ...run }) => {
    const isJob = app?.slug === ACTIONS.slug;
    const isNoted = !isJob && Boolean(output?.annotations_count);
    const notes = isNoted ? await notesOf(place, pathId(id)) : [];
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
  });
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
const failingStatuses = async (place: RepositoryContext, commit: string): Promise<Formed> => {
  const { api } = await hostClient(place);
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/status';
  const { data } = await api.request(route, { ...apiPath(place), ...PER_PAGE, ref: commit });
  const failing = data.statuses.filter(
    (status) => status === null || status.state === 'failure' || status.state === 'error',
  );
  return formedBy(failing, (status) => ({
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
const failingJobs = async (place: RepositoryContext, commit: string): Promise<Formed> => {
  const every = 'GET /repos/{owner}/{repo}/actions/runs';
  const runs = await listOf(place, every, { head_sha: commit });
  const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs';
  const jobs = await formedBy(runs, async ({ id, conclusion }) => {
    if (conclusion === 'success' || conclusion === 'skipped') return [];
    return [...(await listOf(place, route, { run_id: pathId(id) }))];
  });
  // The jobs of a run of another form are unknown, so it counts as one that fails.
  const failing = jobs.flatMap((each) => each?.filter(isFailing) ?? [undefined]);
  return formedBy(failing, (job) => {
    const { id, name, conclusion, html_url, completed_at } = job as NonNullable<typeof job>;
    return {
      id: String(id),
      name,
      conclusion: conclusion ?? '',
      app: ACTIONS.name,
      said: '',
      url: html_url,
      at: completed_at,
      job: Number(id),
    };
  });
};
