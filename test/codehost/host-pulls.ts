import { threadId } from './graphql/review.ts';
import { gitOf } from './handler.ts';
import { type MergeMethod, mergeBy } from './merge.ts';
import { headOf, readPull, tellRenamed } from './pulls.ts';
import type { RestComment, RestPull, RestReview } from './rest.ts';
import { keyOf, type Line, nowOf, tell, type World } from './world.ts';

export interface NewReview {
  state?: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  body?: string;
  comments?: NewLine[];
  by?: string;
}

export interface NewLine {
  path: string;
  line: number;
  start_line?: number;
  body: string;
  diff_hunk?: string;
  outdated?: boolean;
}

export interface Reviewed {
  id: number;
  /** Of its comments on lines, in their order. */
  comments: number[];
  threads: string[];
}

export interface PullChange {
  title?: string;
  body?: string;
  base?: string;
  /** All that it has from now on. */
  labels?: string[];
  by?: string;
}

/** What people do to pull requests on the host, beside the API that is under test. */
export interface HostPulls {
  /** All there are, as the API shows each. */
  list(): Promise<RestPull[]>;
  read(number: number): Promise<RestPull>;
  /** Opens one by hand, for a branch that is on the host. */
  open(
    head: string,
    options?: { title?: string; body?: string; draft?: boolean },
  ): Promise<RestPull>;
  edit(number: number, change: PullChange): Promise<void>;
  comment(number: number, body: string, by?: string): Promise<RestComment>;
  comments(number: number): Promise<RestComment[]>;
  review(number: number, review?: NewReview): Promise<Reviewed>;
  dismiss(number: number, review: number): Promise<void>;
  /** Answers a comment on a line. */
  reply(number: number, comment: number, body: string, by?: string): Promise<number>;
  /** Changes the text of a comment on a line. */
  reword(comment: number, body: string, by?: string): Promise<void>;
  resolve(thread: string): void;
  isResolved(thread: string): boolean;
  ready(number: number): Promise<void>;
  close(number: number, by?: string): Promise<void>;
  reopen(number: number, by?: string): Promise<void>;
  /** A human merges it: in the repository too. Answers the new commit of the base branch. */
  merge(number: number, method?: MergeMethod): Promise<string>;
  /** Null: the host has not computed it yet. */
  setMergeable(number: number, mergeable: boolean | null): void;
  /** The API goes on telling this head although the branch has another; undefined ends it. */
  setStaleHead(number: number, sha: string | undefined): void;
  /** Linked by hand: the pull request is to close the issue. */
  link(number: number, issue: number): void;
}

export const hostPulls = (world: World, main: string): HostPulls => {
  const { emulated } = world;
  const name = (): string => nowOf(world, main);
  const base = (): string => `/repos/${name()}`;
  const pulls: HostPulls = {
    list: async () => {
      const all = await emulated.all<RestPull>(`${base()}/pulls?state=all&direction=asc`);
      return Promise.all(all.map(({ number }) => pulls.read(number)));
    },
    read: async (number) => {
      const pull = await readPull(world, name(), number);
      if (pull === undefined) throw new Error(`The fake host has no pull request ${number}.`);
      return pull;
    },
    open: async (head, options = {}) => {
      const body = { title: 'By hand', base: 'main', head, ...options };
      const made = await emulated.read<RestPull>('POST', `${base()}/pulls`, {
        as: 'colleague',
        body,
      });
      return pulls.read(made.number);
    },
    edit: async (number, { by = 'colleague', labels, ...body }) => {
      if (body.title !== undefined) tellRenamed(world, { repository: name(), number, actor: by });
      const listed = { as: by, body: { labels } };
      if (labels) await emulated.read('PUT', `${base()}/issues/${number}/labels`, listed);
      await emulated.read('PATCH', `${base()}/pulls/${number}`, { as: by, body });
    },
    comment: (number, body, by = 'colleague') =>
      emulated.read('POST', `${base()}/issues/${number}/comments`, { as: by, body: { body } }),
    comments: (number) => emulated.all(`${base()}/issues/${number}/comments`),
    review: (number, review = {}) => addReview(world, { name: name(), number }, review),
    dismiss: async (number, review) => {
      const path = `${base()}/pulls/${number}/reviews/${review}/dismissals`;
      await emulated.read('PUT', path, { body: { message: 'No longer so.' } });
    },
    reply: async (number, in_reply_to_id, body, by = 'colleague') => {
      const path = `${base()}/pulls/${number}/comments`;
      const options = { as: by, body: { body, in_reply_to_id } };
      return (await emulated.read<RestComment>('POST', path, options)).id;
    },
    reword: async (comment, body, by = 'operator') => {
      const path = `${base()}/pulls/comments/${comment}`;
      await emulated.read('PATCH', path, { as: by, body: { body } });
    },
    resolve: (thread) => void world.resolved.add(thread),
    isResolved: (thread) => world.resolved.has(thread),
    ready: async (number) => {
      await emulated.read('PATCH', `${base()}/pulls/${number}`, { body: { draft: false } });
      const event = 'ReadyForReviewEvent';
      tell(world, { repository: name(), number, event, actor: 'colleague', more: {} });
    },
    close: (number, by = 'colleague') => setState(world, { name: name(), number, by }, 'closed'),
    reopen: (number, by = 'colleague') => setState(world, { name: name(), number, by }, 'open'),
    merge: (number, method = 'merge') =>
      merge(world, { name: name(), number, by: 'colleague' }, method),
    setMergeable: (number, mergeable) => void world.mergeable.set(keyOf(name(), number), mergeable),
    setStaleHead: (number, sha) => {
      if (sha === undefined) world.stale.delete(keyOf(name(), number));
      else world.stale.set(keyOf(name(), number), sha);
    },
    link: (number, issue) => void world.links.push({ pull: number, issue }),
  };
  return pulls;
};

interface At {
  name: string;
  number: number;
}

const EVENTS = {
  APPROVED: 'APPROVE',
  CHANGES_REQUESTED: 'REQUEST_CHANGES',
  COMMENTED: 'COMMENT',
} as const;

const addReview = async (world: World, at: At, review: NewReview): Promise<Reviewed> => {
  const { state = 'COMMENTED', body = '', comments = [], by = 'colleague' } = review;
  const path = `/repos/${at.name}/pulls/${at.number}/reviews`;
  const pull = await readPull(world, at.name, at.number);
  const made = await world.emulated.read<RestReview>('POST', path, {
    as: by,
    body: {
      ...{ event: EVENTS[state], body, commit_id: pull?.head.sha },
      comments: comments.map((each) => ({ path: each.path, position: each.line, body: each.body })),
    },
  });
  const kept = await world.emulated.all<RestComment>(`${path}/${made.id}/comments`);
  const ids = kept.map(({ id }) => id).toSorted((a, b) => a - b);
  comments.forEach((comment, n) => {
    world.lines.set(ids[n] ?? 0, lineOf(comment));
  });
  return {
    id: made.id,
    comments: ids,
    threads: ids.map((id) => threadId(world, at.name, at.number, id)),
  };
};

const lineOf = ({ line, start_line, diff_hunk, outdated }: NewLine): Line => ({
  line,
  start_line: start_line ?? null,
  diff_hunk: diff_hunk ?? `@@ -1,1 +1,${line} @@`,
  outdated: outdated ?? false,
});

const setState = async (
  world: World,
  { name, number, by }: At & { by: string },
  state: 'open' | 'closed',
): Promise<void> => {
  // While it is open the head follows the branch; from here on it is the last one.
  const pull = await readPull(world, name, number);
  if (pull !== undefined) await headOf(world, pull);
  await world.emulated.read('PATCH', `/repos/${name}/pulls/${number}`, { as: by, body: { state } });
  const event = state === 'closed' ? 'ClosedEvent' : 'ReopenedEvent';
  tell(world, { repository: name, number, event, actor: by, more: {} });
};

const merge = async (
  world: World,
  { name, number, by }: At & { by: string },
  method: MergeMethod,
): Promise<string> => {
  const pull = await readPull(world, name, number);
  const git = gitOf(world, name);
  if (pull === undefined || git === undefined) throw new Error(`There is no ${name}#${number}.`);
  const { base } = pull;
  // The head is the last one that the branch had, also once the branch is deleted.
  await headOf(world, pull);
  const commit = await mergeBy[method](git, pull, by);
  await git('update-ref', `refs/heads/${base.ref}`, commit, base.sha);
  await world.emulated.read('PATCH', `/repos/${name}/pulls/${number}`, { body: { draft: false } });
  await world.emulated.read('PUT', `/repos/${name}/pulls/${number}/merge`, { as: by, body: {} });
  world.merged.set(keyOf(name, number), { commit, base: base.sha });
  tell(world, { repository: name, number, event: 'MergedEvent', actor: by, more: {} });
  return commit;
};
