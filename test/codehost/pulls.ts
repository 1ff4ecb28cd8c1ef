import type { AsyncGit } from '../helpers/git-workspace.ts';
import { commitBodies } from './commits.ts';
import {
  commitOf,
  fullName,
  gitOf,
  type Handler,
  type Params,
  paged,
  passed,
  type Routes,
} from './handler.ts';
import { tooLong } from './limits.ts';
import { type Answer, fieldsOf, json, notFound, type RestPull, refused } from './rest.ts';
import { keyOf, type Size, tell, type World } from './world.ts';

/** Its commits are those of the bare repository; the emulated host has none of them. */
export const mendedPull = async (world: World, pull: RestPull): Promise<RestPull> => {
  const name = pull.base.repo?.full_name ?? '';
  const key = keyOf(name, pull.number);
  const head = world.stale.get(key) ?? (await headOf(world, pull));
  const merged = world.merged.get(key);
  const base = merged?.base ?? (await commitOf(world, name, `refs/heads/${pull.base.ref}`));
  const mergeable = world.mergeable.get(key);
  const was = new RegExp(pull.head.sha, 'g');
  const text = JSON.parse(JSON.stringify(pull).replace(was, head)) as RestPull;
  return {
    ...text,
    base: { ...text.base, sha: base ?? pull.base.sha },
    head: { ...text.head, sha: head },
    merge_commit_sha: merged?.commit ?? null,
    ...(mergeable === undefined ? {} : { mergeable, mergeable_state: stateOf(mergeable) }),
  };
};

const stateOf = (mergeable: boolean | null): string => {
  if (mergeable === null) return 'unknown';
  return mergeable ? 'clean' : 'dirty';
};

/** The branch's commit while it is open, and the last one that it had afterwards: GitHub keeps it as a ref as well. */
export const headOf = async (world: World, pull: RestPull): Promise<string> => {
  const base = pull.base.repo?.full_name ?? '';
  const from = pull.head.repo?.full_name ?? base;
  const kept = `refs/pull/${pull.number}/head`;
  const last = await commitOf(world, base, kept);
  if (pull.state !== 'open') return last ?? pull.head.sha;
  const now = await commitOf(world, from, `refs/heads/${pull.head.ref}`);
  if (now === undefined || now === last) return last ?? pull.head.sha;
  await follow(world, { base, from, kept, number: pull.number }, { last, now });
  return now;
};

const follow = async (
  world: World,
  at: { base: string; from: string; kept: string; number: number },
  { last, now }: { last: string | undefined; now: string },
): Promise<void> => {
  const git = gitOf(world, at.base);
  const elsewhere = world.repositories.get(at.from)?.root ?? '';
  if (at.from !== at.base) await git?.('fetch', '--quiet', elsewhere, now);
  await git?.('update-ref', at.kept, now);
  if (last === undefined || (await isAncestor(git, last, now))) return;
  const more = { beforeCommit: nodeOf(last), afterCommit: nodeOf(now) };
  // Two who read at once tell it once.
  const isTold = world.told.some((told) => JSON.stringify(told.more) === JSON.stringify(more));
  if (isTold) return;
  tell(world, {
    repository: at.base,
    number: at.number,
    event: 'HeadRefForcePushedEvent',
    actor: 'operator',
    more,
  });
};

const nodeOf = (oid: string) => ({ __typename: 'Commit', id: `C_${oid}`, oid });

const isAncestor = async (git: AsyncGit | undefined, a: string, b: string): Promise<boolean> => {
  const base = await git?.('merge-base', a, b).catch(() => '');
  return base?.trim() === a;
};

export const tellRenamed = (
  world: World,
  of: { repository: string; number: number; actor: string },
): void => tell(world, { ...of, event: 'RenamedTitleEvent', more: {} });

const sized = async (world: World, pull: RestPull): Promise<RestPull> => {
  const git = gitOf(world, pull.base.repo?.full_name ?? '');
  if (git === undefined) return pull;
  const range = rangeOf(pull);
  const known = world.sizes.get(range) ?? sizeOf(git, range);
  world.sizes.set(range, known);
  return { ...pull, ...(await known) };
};

const sizeOf = async (git: AsyncGit, range: string): Promise<Size> => {
  const numbers = (await git('diff', '--numstat', range)).split('\n').filter(Boolean);
  const sum = (column: number): number =>
    numbers.reduce((all, line) => all + (Number(line.split('\t')[column]) || 0), 0);
  const commits = Number(await git('rev-list', '--count', range.replace('...', '..')));
  return { commits, changed_files: numbers.length, additions: sum(0), deletions: sum(1) };
};

const rangeOf = ({ base, head }: RestPull): string => `${base.sha}...${head.sha}`;

const list: Handler = async (world, ask) => {
  const answer = await passed(world, ask);
  if (answer.status !== 200) return answer;
  const pulls = answer.body as RestPull[];
  const mended = await Promise.all(pulls.map((pull) => mendedPull(world, pull)));
  // A list tells less of each than GET of one does.
  const short = mended.map((pull) =>
    Object.fromEntries(Object.entries(pull).filter(([key]) => !ONLY_OF_ONE.has(key))),
  );
  return { ...answer, body: short };
};

const ONLY_OF_ONE = new Set([
  ...['merged', 'mergeable', 'rebaseable', 'mergeable_state', 'merged_by', 'comments'],
  ...['review_comments', 'maintainer_can_modify', 'commits', 'additions', 'deletions'],
  'changed_files',
]);

const one: Handler = async (world, ask) => whole(world, await passed(world, ask));

const whole = async (world: World, answer: Answer): Promise<Answer> => {
  if (answer.status >= 400) return answer;
  const pull = await mendedPull(world, answer.body as RestPull);
  return { ...answer, body: await sized(world, pull) };
};

/** GitHub opens none for a branch that is not there, has nothing new, or has an open one; the emulated host does. */
const create: Handler = async (world, ask, params) => {
  const long = tooLong(ask.body, 'PullRequest');
  if (long !== undefined) return long;
  const wanted = fieldsOf(ask.body);
  const branches = await branchesOf(world, params, wanted);
  if (typeof branches === 'string') return invalid(branches);
  const { head, base, owner, ref } = branches;
  if (head === base) return problem(`No commits between ${wanted.base} and ${wanted.head}`);
  const path = `/repos/${fullName(params)}/pulls?state=open&head=${owner}:${encodeURIComponent(ref)}`;
  const open = await world.emulated.read<RestPull[]>('GET', path);
  if (open.some((pull) => pull.base.ref === wanted.base)) {
    return problem(`A pull request already exists for ${owner}:${ref}.`);
  }
  return whole(world, await passed(world, ask));
};

interface Branches {
  owner: string;
  ref: string;
  head: string;
  base: string;
}

/** The two sides, or the field that names none. */
const branchesOf = async (
  world: World,
  params: Params,
  wanted: Record<string, unknown>,
): Promise<Branches | 'head' | 'base'> => {
  const [, given, ref = ''] = /^(?:([^:]+):)?(.*)$/s.exec(String(wanted.head)) ?? [];
  const owner = given ?? params.owner ?? '';
  const base = await commitOf(world, fullName(params), `refs/heads/${wanted.base}`);
  if (base === undefined) return 'base';
  const head = await commitOf(world, `${owner}/${params.repo}`, `refs/heads/${ref}`);
  return head === undefined ? 'head' : { owner, ref, head, base };
};

const invalid = (field: string): Answer =>
  refused(422, 'Validation Failed', [{ resource: 'PullRequest', field, code: 'invalid' }]);

const problem = (message: string): Answer =>
  refused(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'custom', message }]);

/** GitHub ignores `draft` here, and answers 200; the emulated host would change it. */
const change: Handler = async (world, ask, params) => {
  const long = tooLong(ask.body, 'PullRequest');
  if (long !== undefined) return long;
  const { draft: _, ...body } = fieldsOf(ask.body);
  if ('title' in body) {
    const number = Number(params.pull_number);
    tellRenamed(world, { repository: fullName(params), number, actor: ask.login });
  }
  return whole(world, await passed(world, { ...ask, body }));
};

const pullOf = async (world: World, ask: Parameters<Handler>[1], params: Params) => {
  const path = `/repos/${fullName(params)}/pulls/${params.pull_number}`;
  const answer = await passed(world, { ...ask, method: 'GET', path, body: undefined });
  if (answer.status !== 200) return undefined;
  return mendedPull(world, answer.body as RestPull);
};

const commits: Handler = async (world, ask, params) => {
  const pull = await pullOf(world, ask, params);
  if (pull === undefined) return notFound();
  const range = rangeOf(pull).replace('...', '..');
  return paged(world, ask, await commitBodies(world, fullName(params), ['--reverse', range]));
};

const STATUS: Record<string, string> = { A: 'added', M: 'modified', D: 'removed' };

const files: Handler = async (world, ask, params) => {
  const pull = await pullOf(world, ask, params);
  const git = gitOf(world, fullName(params));
  if (pull === undefined || git === undefined) return notFound();
  const range = rangeOf(pull);
  const kinds = await git('diff', '--no-renames', '--name-status', '-z', range);
  const words = kinds.split('\0').filter(Boolean);
  const found: unknown[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    const filename = words[at + 1] ?? '';
    const patch = await git('diff', '--no-renames', range, '--', filename);
    found.push(fileBody(world, pull, { filename, status: STATUS[words[at] ?? ''], patch }));
  }
  return paged(world, ask, found);
};

interface ChangedFile {
  filename: string;
  status: string | undefined;
  patch: string;
}

const fileBody = ({ url, host_name }: World, pull: RestPull, file: ChangedFile): unknown => {
  const { filename, patch } = file;
  const name = pull.base.repo?.full_name ?? '';
  const lines = patch.slice(patch.indexOf('@@')).split('\n');
  const counted = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  const [additions, deletions] = [counted('+'), counted('-')];
  const at = `${pull.head.sha}/${filename}`;
  return {
    ...{ sha: pull.head.sha, filename, status: file.status ?? 'changed' },
    ...{ additions, deletions, changes: additions + deletions },
    blob_url: `https://${host_name}/${name}/blob/${at}`,
    raw_url: `https://${host_name}/${name}/raw/${at}`,
    contents_url: `${url}/repos/${name}/contents/${filename}?ref=${pull.head.sha}`,
    patch: lines.join('\n').trimEnd(),
  };
};

const reviewers: Handler = async (world, ask, params) => {
  const pull = await pullOf(world, ask, params);
  if (pull === undefined) return notFound();
  return json({ users: pull.requested_reviewers, teams: [] });
};

/** The emulated host answers 200 and the whole pull request. */
const requested: Handler = async (world, ask) => {
  const answer = await passed(world, ask);
  if (answer.status !== 200) return answer;
  return { ...answer, status: 201, body: await mendedPull(world, answer.body as RestPull) };
};

export const pullRoutes: Routes = {
  'get /repos/{owner}/{repo}/pulls': list,
  'post /repos/{owner}/{repo}/pulls': create,
  'get /repos/{owner}/{repo}/pulls/{pull_number}': one,
  'patch /repos/{owner}/{repo}/pulls/{pull_number}': change,
  'get /repos/{owner}/{repo}/pulls/{pull_number}/commits': commits,
  'get /repos/{owner}/{repo}/pulls/{pull_number}/files': files,
  'get /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers': reviewers,
  'post /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers': requested,
};

/** What a number of emulated pull requests is, for who reads them without a request. */
export const readPull = async (
  world: World,
  name: string,
  number: number,
): Promise<RestPull | undefined> => {
  const answer = await world.emulated.call('GET', `/repos/${name}/pulls/${number}`);
  if (answer.status !== 200) return undefined;
  return sized(world, await mendedPull(world, answer.body as RestPull));
};

const CLOSES = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)/gi;

/** The issues that merging it closes: by words of its text, or linked by hand. */
export const closedBy = ({ links }: World, { number, body }: RestPull): number[] => {
  const linked = links.filter(({ pull }) => pull === number).map(({ issue }) => issue);
  const named = [...(body ?? '').matchAll(CLOSES)].map(([, issue]) => Number(issue));
  return [...new Set([...linked, ...named])];
};

/** The pull requests that close an issue, merged and closed ones among them. */
export const closingPulls = async (
  { world, name }: { world: World; name: string },
  issue: number,
): Promise<RestPull[]> => {
  const all = await world.emulated.all<RestPull>(`/repos/${name}/pulls?state=all&direction=asc`);
  return all.filter((pull) => closedBy(world, pull).includes(issue));
};
