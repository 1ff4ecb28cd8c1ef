import { isAtOrBelow } from '../../../store/base/paths.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type {
  Adoptable,
  AdoptableBranch,
  AdoptableSession,
  AdoptableWorktree,
  SessionToAdopt,
} from '../../../store/records/adoption.ts';
import { adoptedConversations } from '../../../store/sessions/adopted.ts';
import type { Store } from '../../../store/store.ts';
import { worktreeRecords } from '../../../store/worktrees/worktrees.ts';
import { onlyProjectName, type ProjectNeeds, repositoryFor } from '../../code/projects/project.ts';
import { worktreeConfig } from '../../code/worktrees/config.ts';
import { caseIdOfLockReason } from '../../code/worktrees/create/names.ts';
import { ServiceError } from '../../errors.ts';
import { bytesOf, LARGEST_BYTES } from '../../sandbox/state/files.ts';
import { chooseBase } from '../../tools/git/read/base.ts';
import { findRepository, type Repository } from '../../tools/git/read/repository.ts';
import { status } from '../../tools/git/read/status.ts';
import type { GitAt } from '../../tools/git/run/git.ts';
import { listWorktrees } from '../../tools/git/write/worktree.ts';
import { type Conversation, readConversation, type TranscriptAgent } from './conversation.ts';
import { type FoundConversation, findConversations } from './find-conversations.ts';
import { summaryOf } from './summary.ts';

/**
 * Lists what of the work on a project is not a Work item: conversations with agents, worktrees and unmerged branches. Reads
 * only: transcripts in the operator's home, and git.
 */
export const listAdoptable = async (
  service: ProjectNeeds,
  project = onlyProjectName(service) ?? 'default',
): Promise<Adoptable> => {
  const { store, git } = service;
  const repository = await repositoryFor(service, project);
  const [sessions, places] = await Promise.all([
    findSessions(service, repository),
    strayWorktrees(service, repository),
  ]);
  const { base_branch } = worktreeConfig(store);
  const { commit } = await chooseBase(git.at(repository), base_branch ?? undefined);
  const branches = await branchesOf(git.at(repository), commit);
  const ours = new Set(worktreeRecords(store).map(({ record }) => record?.branch));
  return {
    project,
    repository: repository.root,
    sessions: sessions.map((found) => served(store, found)),
    worktrees: places.stray.flatMap(({ path, branch }): AdoptableWorktree[] => {
      const known = branches.find(({ name }) => name === branch);
      return known === undefined ? [] : [{ path, branch, ...tipOf(known) }];
    }),
    branches: branches
      .filter(({ name, commits }) => commits > 0 && !places.taken.has(name) && !ours.has(name))
      .slice(0, MOST_BRANCHES),
  };
};

const MOST_BRANCHES = 100;

const tipOf = ({ name: _name, ...tip }: AdoptableBranch) => tip;

const served = (store: Store, found: FoundConversation): AdoptableSession => {
  const { agent, id, title, directory, branch, updated_at, bytes } = found;
  const known = adoptedConversations(store).find((one) => one.agent === agent && one.id === id);
  const case_id = known !== undefined && itemOf(store, known.case_id) ? known.case_id : null;
  const at = updated_at.toISOString();
  return { agent, id, title, directory, branch, updated_at: at, bytes, case_id };
};

// Work in progress elsewhere in the repository, and the conversations about it.
const findSessions = async (
  { store, git, config }: ProjectNeeds,
  repository: Repository,
): Promise<FoundConversation[]> => {
  const listed = await listWorktrees(git.at(repository));
  const ours = worktreeRecords(store).flatMap(({ record }) => record?.path ?? []);
  return findConversations({
    env: config.env,
    directories: [repository.root, ...listed.map(({ path }) => path)],
    except: [store.layout.root, ...ours],
  });
};

/** Worktrees on a branch that belong to no Work item, and the branches that are checked out anywhere. */
const strayWorktrees = async ({ store, git }: ProjectNeeds, repository: Repository) => {
  const [, ...linked] = await listWorktrees(git.at(repository));
  const records = worktreeRecords(store).flatMap(({ record }) => record?.path ?? []);
  const main = await currentOf(git.at(repository));
  const stray = linked.flatMap(({ path, branch, prunable, locked }) => {
    const isOurs = records.includes(path) || caseIdOfLockReason(locked ?? '') !== undefined;
    if (branch === null || prunable || isOurs || isAtOrBelow(path, store.layout.root)) return [];
    return [{ path, branch }];
  });
  const taken = new Set([main, ...linked.map(({ branch }) => branch)]);
  return { stray, taken };
};

const currentOf = async (git: GitAt): Promise<string | null> =>
  (await listWorktrees(git))[0]?.branch ?? null;

const FORMAT = ['objectname', 'refname:lstrip=2', 'committerdate:iso-strict', 'contents:subject'];

// One process for all, and one that counts for each that is not merged.
const branchesOf = async (git: GitAt, base: string): Promise<AdoptableBranch[]> => {
  const args = ['for-each-ref', '--sort=-committerdate', 'refs/heads'];
  const format = `--format=${FORMAT.map((field) => `%(${field})`).join('%00')}`;
  const all = await linesOf(git, [...args, format]);
  const open = new Set(
    await linesOf(git, [...args, `--no-merged=${base}`, '--format=%(objectname)']),
  );
  return Promise.all(
    all.slice(0, MOST_READ).map(async (line) => {
      const [tip = '', name = '', at = '', subject = ''] = line.split('\0');
      const range = ['rev-list', '--count', tip, `^${base}`];
      const commits = open.has(tip) ? Number(await git.text(range)) : 0;
      return { name, commits, subject, committed_at: new Date(at).toISOString() };
    }),
  );
};

// Names of branches are text here, as in the settings and records of worktrees.
const linesOf = async (git: GitAt, args: readonly string[]): Promise<string[]> =>
  (await git.text(args)).split('\n').filter(Boolean);

const MOST_READ = 200;

/** One conversation with the memory that is proposed for its Work item. Throws 404. */
export const sessionToAdopt = async (
  service: ProjectNeeds,
  { agent, id, project }: { agent: TranscriptAgent; id: string; project?: string | undefined },
): Promise<SessionToAdopt> => {
  const { found, conversation, uncommitted } = await readSession(service, { agent, id, project });
  return {
    ...served(service.store, found),
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
  const name = project ?? onlyProjectName(service) ?? 'default';
  const repository = await repositoryFor(service, name);
  const all = await findSessions(service, repository);
  const found = all.find((one) => one.agent === agent && one.id === id);
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
