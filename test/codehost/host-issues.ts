import { type RestComment, type RestIssue, type RestMilestone, refused } from './rest.ts';
import { keyOf, nowOf, tell, type World } from './world.ts';

export interface NewIssue {
  title?: string;
  body?: string;
  labels?: string[];
  /** By its title; made when there is none. */
  milestone?: string;
  assignees?: string[];
  comments?: (string | { body: string; by: string })[];
  by?: string;
  repository?: string;
}

export interface IssueChange {
  title?: string;
  body?: string | null;
  state?: 'open' | 'closed';
  state_reason?: 'completed' | 'not_planned' | 'reopened';
  labels?: string[];
  assignees?: string[];
  milestone?: string | null;
  by?: string;
}

/** What people do to issues on the host, beside the API that is under test. */
export interface HostIssues {
  add(issue?: NewIssue): Promise<RestIssue>;
  /** So many, titled `Issue 1` and on; answers their numbers. */
  addMany(count: number, issue?: NewIssue): Promise<number[]>;
  read(number: number): Promise<RestIssue>;
  edit(number: number, change: IssueChange): Promise<RestIssue>;
  comment(number: number, body: string, by?: string): Promise<RestComment>;
  editComment(id: number, body: string): Promise<void>;
  comments(number: number): Promise<RestComment[]>;
  /** It moves to another repository of the host: 301 to there, or 404 when that may not be seen. */
  transfer(number: number, to: string): Promise<number>;
  /** 410 from now on. */
  remove(number: number): void;
  /** Another issue or a pull request mentions it. */
  mention(number: number, pull: number): void;
}

export const hostIssues = (world: World, main: string): HostIssues => {
  const { emulated } = world;
  const base = (): string => `/repos/${nowOf(world, main)}`;
  const issues: HostIssues = {
    add: (issue = {}) => addIssue(world, nowOf(world, main), issue),
    addMany: async (count, issue = {}) => {
      const numbers: number[] = [];
      for (let n = 1; n <= count; n += 1) {
        const { number } = await issues.add({ ...issue, title: `Issue ${n}` });
        numbers.push(number);
      }
      return numbers;
    },
    read: (number) => emulated.read('GET', `${base()}/issues/${number}`),
    edit: (number, change) => editIssue(world, `${base()}/issues/${number}`, change),
    comment: (number, body, by = 'colleague') =>
      emulated.read('POST', `${base()}/issues/${number}/comments`, { as: by, body: { body } }),
    editComment: async (id, body) => {
      await emulated.read('PATCH', `${base()}/issues/comments/${id}`, { body: { body } });
    },
    comments: (number) => emulated.all(`${base()}/issues/${number}/comments`),
    transfer: (number, to) => transfer(world, { from: nowOf(world, main), number, to }),
    remove: (number) => {
      world.moved.set(keyOf(nowOf(world, main), number), refused(410, 'This issue was deleted'));
    },
    mention: (number, pull) => {
      const event = 'CrossReferencedEvent';
      const repository = nowOf(world, main);
      tell(world, { repository, number, event, actor: 'colleague', more: { pull } });
    },
  };
  return issues;
};

const addIssue = async (world: World, main: string, issue: NewIssue): Promise<RestIssue> => {
  const { emulated } = world;
  const { comments = [], by = 'colleague', repository = main, milestone, ...rest } = issue;
  const base = `/repos/${repository}`;
  const of =
    milestone === undefined ? {} : { milestone: await milestoneNumber(world, base, milestone) };
  const body = { title: 'An issue', body: 'What is wrong.', ...rest, ...of };
  const made = await emulated.read<RestIssue>('POST', `${base}/issues`, { as: by, body });
  for (const comment of comments) {
    const said = typeof comment === 'string' ? { body: comment, by: 'colleague' } : comment;
    const path = `${base}/issues/${made.number}/comments`;
    await emulated.read('POST', path, { as: said.by, body: { body: said.body } });
  }
  return emulated.read('GET', `${base}/issues/${made.number}`);
};

const editIssue = async (world: World, path: string, change: IssueChange): Promise<RestIssue> => {
  const { by = 'colleague', milestone, ...rest } = change;
  const base = path.replace(/\/issues\/\d+$/, '');
  const number = milestone == null ? null : await milestoneNumber(world, base, milestone);
  const body = milestone === undefined ? rest : { ...rest, milestone: number };
  return world.emulated.read('PATCH', path, { as: by, body });
};

const milestoneNumber = async ({ emulated }: World, base: string, title: string) => {
  const known = await emulated.all<RestMilestone>(`${base}/milestones?state=all`);
  const found = known.find((each) => each.title === title);
  if (found !== undefined) return found.number;
  const made = await emulated.read<RestMilestone>('POST', `${base}/milestones`, {
    body: { title },
  });
  return made.number;
};

const transfer = async (
  world: World,
  { from, number, to }: { from: string; number: number; to: string },
): Promise<number> => {
  const issue = await world.emulated.read<RestIssue>('GET', `/repos/${from}/issues/${number}`);
  const { title, body } = issue;
  const made = await addIssue(world, to, { title, body: body ?? '' });
  const id = [...world.ids].find(([, name]) => name === to)?.[0];
  const location = `${world.url}/repositories/${id}/issues/${made.number}`;
  const answer = refused(301, 'Moved Permanently');
  const headers = { ...answer.headers, location };
  world.moved.set(keyOf(from, number), { ...answer, headers });
  return made.number;
};
