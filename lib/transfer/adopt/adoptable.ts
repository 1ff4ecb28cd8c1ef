import { isAtOrBelow } from '../../../store/base/paths.ts';
import { visible } from '../../../store/base/visible.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type {
  Adoptable,
  AdoptableBranch,
  AdoptableSession,
  SessionToAdopt,
} from '../../../store/records/adoption.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { adoptedConversations } from '../../../store/sessions/adopted.ts';
import type { Store } from '../../../store/store.ts';
import { worktreeRecords } from '../../../store/worktrees/worktrees.ts';
import { onlyProjectName, type ProjectNeeds, repositoryFor } from '../../code/projects/project.ts';
import { worktreeConfig } from '../../code/worktrees/config.ts';
import { caseIdOfLockReason } from '../../code/worktrees/create/names.ts';
import { ServiceError } from '../../errors.ts';
import { bytesOf, LARGEST_BYTES } from '../../sandbox/state/files.ts';
import { shorten } from '../../text/wording.ts';
import { chooseBase } from '../../tools/git/read/base.ts';
import { findRepository, type Repository } from '../../tools/git/read/repository.ts';
import { status } from '../../tools/git/read/status.ts';
import type { GitAt } from '../../tools/git/run/git.ts';
import { listWorktrees } from '../../tools/git/write/worktree.ts';
import { minuteOf } from '../../work/cases/text.ts';
import { type Conversation, readConversation, type TranscriptAgent } from './conversation.ts';
import { type FoundConversation, findConversations } from './find-conversations.ts';

/**
 * Lists what of the work on a project is not a Work item: conversations with agents, worktrees and unmerged branches. Reads
 * only: transcripts in the operator's home, and git.
 */
export const listAdoptable = async (service: ProjectNeeds, wanted?: string): Promise<Adoptable> => {
  const { store, git } = service;
  const { project, repository, listed, ours, sessions } = await lookAround(service, wanted);
  const { base_branch } = worktreeConfig(store);
  const { commit } = await chooseBase(git.at(repository), base_branch ?? undefined);
  const branches = await branchesOf(git.at(repository), commit);
  const stray = strayWorktrees(store.layout.root, listed, ours);
  const taken = new Set([...ours, ...listed].map(({ branch }) => branch));
  const free = branches.filter(({ name, isMerged }) => !isMerged && !taken.has(name));
  const count = (some: readonly Branch[]) => counted(git.at(repository), commit, some);
  const strays = await count(branches.filter(({ name }) => stray.has(name)));
  return {
    project,
    repository: repository.root,
    sessions: servedAll(store, sessions),
    worktrees: strays.map(({ name, ...tip }) => ({
      path: stray.get(name) ?? '',
      branch: name,
      ...tip,
    })),
    branches: await count(free.slice(0, MOST_BRANCHES)),
  };
};

const MOST_BRANCHES = 100;

const servedAll = (store: Store, all: readonly FoundConversation[]): AdoptableSession[] => {
  const adopted = adoptedConversations(store).filter(({ case_id }) => itemOf(store, case_id));
  return all.map(({ path: _path, updated_at, ...found }) => {
    const known = adopted.find((one) => one.agent === found.agent && one.id === found.id);
    return { ...found, updated_at: updated_at.toISOString(), case_id: known?.case_id ?? null };
  });
};

type Listed = Awaited<ReturnType<typeof listWorktrees>>;

// A project with its repository, its worktrees, the records of those of Work items, and the conversations about the others.
const lookAround = async (
  service: ProjectNeeds,
  project = onlyProjectName(service) ?? 'default',
) => {
  const { store, git, config } = service;
  const repository = await repositoryFor(service, project);
  const listed = await listWorktrees(git.at(repository));
  const ours = worktreeRecords(store).flatMap(({ record }) => record ?? []);
  const sessions = await findConversations({
    env: config.env,
    directories: [repository.root, ...listed.map(({ path }) => path)],
    except: [store.layout.root, ...ours.map(({ path }) => path)],
  });
  return { project, repository, listed, ours, sessions };
};

/** The paths of linked worktrees that belong to no Work item, by their branches. */
const strayWorktrees = (
  root: string,
  [, ...linked]: Listed,
  ours: readonly WorktreeRecord[],
): Map<string, string> =>
  new Map(
    linked.flatMap(({ path, branch, prunable, locked }) => {
      const isOurs =
        ours.some((record) => record.path === path) ||
        caseIdOfLockReason(locked ?? '') !== undefined;
      if (branch === null || prunable || isOurs || isAtOrBelow(path, root)) return [];
      return [[branch, path]];
    }),
  );

interface Branch {
  name: string;
  tip: string;
  committed_at: string;
  subject: string;
  isMerged: boolean;
}

const FORMAT = ['objectname', 'refname:lstrip=2', 'committerdate:iso-strict', 'contents:subject'];

/** All branches, the newest first. */
const branchesOf = async (git: GitAt, base: string): Promise<Branch[]> => {
  const args = ['for-each-ref', '--sort=-committerdate', 'refs/heads'];
  const format = `--format=${FORMAT.map((field) => `%(${field})`).join('%00')}`;
  const open = new Set(
    await linesOf(git, [...args, `--no-merged=${base}`, '--format=%(objectname)']),
  );
  return (await linesOf(git, [...args, format])).map((line) => {
    const [tip = '', name = '', at = '', subject = ''] = line.split('\0');
    return {
      name,
      tip,
      subject,
      committed_at: new Date(at).toISOString(),
      isMerged: !open.has(tip),
    };
  });
};

// Names of branches are text here, as in the settings and records of worktrees.
const linesOf = async (git: GitAt, args: readonly string[]): Promise<string[]> =>
  (await git.text(args)).split('\n').filter(Boolean);

// One process each, one after the other.
const counted = async (
  git: GitAt,
  base: string,
  branches: readonly Branch[],
): Promise<AdoptableBranch[]> => {
  const all: AdoptableBranch[] = [];
  for (const { tip, isMerged, ...branch } of branches) {
    const args = ['rev-list', '--count', tip, `^${base}`, '--'];
    all.push({ ...branch, commits: isMerged ? 0 : Number(await git.text(args)) });
  }
  return all;
};

/** One conversation with the memory that is proposed for its Work item. Throws 404. */
export const sessionToAdopt = async (
  service: ProjectNeeds,
  { agent, id, project }: { agent: TranscriptAgent; id: string; project?: string | undefined },
): Promise<SessionToAdopt> => {
  const { found, conversation, uncommitted } = await readSession(service, { agent, id, project });
  const [served] = servedAll(service.store, [found]);
  return {
    ...(served as AdoptableSession),
    description: conversation.said[0] ?? '',
    summary: summaryOf(found, conversation),
    plan: conversation.plan ?? null,
    uncommitted,
  };
};

/** One conversation and its transcript. Throws 404, and 413 for a transcript over 64 MiB. */
export const readSession = async (
  service: ProjectNeeds,
  { agent, id, project }: { agent: TranscriptAgent; id: string; project?: string | undefined },
) => {
  const { repository, sessions } = await lookAround(service, project);
  const found = sessions.find((one) => one.agent === agent && one.id === id);
  if (found === undefined) {
    const message = `There is no session ${id} of ${agent} about ${repository.root}. GET /api/adoptable lists them.`;
    throw new ServiceError('not_found', message);
  }
  if (found.bytes > LARGEST_BYTES) {
    const message = `The transcript ${found.path} is over 64 MiB. Create the Work item with POST /cases.`;
    throw new ServiceError('too_large', message);
  }
  const transcript = await bytesOf(found.path, LARGEST_BYTES);
  const conversation: Conversation = readConversation(agent, transcript.toString('utf8'));
  const checkout = await checkoutAt(service, found.directory, repository);
  const uncommitted = checkout === undefined ? 0 : await uncommittedIn(service, checkout);
  return { found, transcript, conversation, checkout, uncommitted };
};

/** The working tree in which a conversation took place; undefined if it is gone, or of another repository by now. */
const checkoutAt = async (
  { git }: ProjectNeeds,
  directory: string,
  { common_dir }: Repository,
): Promise<Repository | undefined> => {
  const found = await findRepository(git, directory).catch(() => undefined);
  return found?.common_dir === common_dir && !found.bare ? found : undefined;
};

const uncommittedIn = async (
  { git, store }: ProjectNeeds,
  { root: path, git_dir, common_dir }: Repository,
): Promise<number> => {
  const { files } = await status(git.at({ path, git_dir, common_dir }));
  const isOurs = (file: string): boolean => isAtOrBelow(`${path}/${file}`, store.layout.root);
  return files.filter((file) => !file.repository && !isOurs(file.path)).length;
};

const AGENTS = { claude: 'Claude Code', codex: 'Codex' } as const;

/** The proposed memory of a conversation, as Markdown. What others wrote is quoted: agents read it, as no instruction of Dossier. */
const summaryOf = (
  { agent, id, branch, directory, updated_at }: FoundConversation,
  { said, answer, plan, files }: Conversation,
): string => {
  const where = branch === null ? `\`${directory}\`` : `\`${directory}\`, on the branch ${branch}`;
  const parts = [
    '# What came before',
    `From a session of ${AGENTS[agent]} in ${where}, until ${minuteOf(updated_at.toISOString())}. Its id there is ${id}.`,
    ...part('What the operator said', sharesOf(said)),
    ...part('The last answer of the agent', answer && [answer]),
    ...part('The plan that it proposed (not approved)', plan && [plan]),
    ...(files.length === 0
      ? []
      : ['## Files that it changed', files.map((file) => `- ${file}`).join('\n')]),
  ];
  return visible(`${parts.join('\n\n')}\n`);
};

const LONGEST = 20_000;
const MOST_SAID = 20;

// The first message contains the request; the last ones contain the remaining work.
const sharesOf = (said: readonly string[]): string[] =>
  said.length <= MOST_SAID ? [...said] : [...said.slice(0, 1), '[…]', ...said.slice(1 - MOST_SAID)];

const part = (heading: string, texts: readonly string[] | '' | undefined): string[] =>
  texts === undefined || texts.length === 0
    ? []
    : [`## ${heading}`, ...[...texts].map((text) => quoted(shorten(text.trim(), LONGEST)))];

const quoted = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
