import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Dossier, Problem } from '../../client/client.ts';
import { parseRemoteUrl } from '../../codehost/remote-url.ts';
import type { Config } from '../../config.ts';
import { originFirst, remoteSettings } from '../../tools/git/read/remotes.ts';
import { findRepository, type Repository } from '../../tools/git/read/repository.ts';
import { createGit } from '../../tools/git/run/create-git.ts';
import type { GitSource } from '../../tools/git/run/git.ts';
import { cleanEnvironment } from '../../tools/process/environment.ts';

export interface ProjectHere {
  name: string;
  /** The path of its repository. */
  path: string;
  /** Whether this call added it. */
  added: boolean;
}

/**
 * Finds the project of a directory, which may be in a worktree of its repository; undefined outside of a repository, and in
 * the one of the workspace. A repository that is no project is added under the name of its folder, or a free name; one that
 * another machine added is found by its remote.
 */
export const findProjectHere = async (
  { env, workspace }: Config,
  dossier: Dossier,
  directory = process.cwd(),
): Promise<ProjectHere | undefined> => {
  const git = createGit({ env: cleanEnvironment(env) });
  const repository = await findRepository(git, directory);
  if (repository === undefined || repository.root === workspace) return undefined;
  const known = { git, repository };
  for (;;) {
    const { projects, etag } = await settingsOf(dossier);
    const here = await projectAmong(known, projects);
    const shared = await nameByRemote(known, projects, here);
    const path = mainOf(repository);
    if (here !== undefined && shared === undefined) return { name: here.name, path, added: false };
    const free = shared ?? nameByFolder(path, projects) ?? freeName(path, projects);
    if (await put(dossier, { [free]: path }, etag)) return { name: free, path, added: true };
  }
};

const settingsOf = async (dossier: Dossier) => {
  const { data, etag } = await dossier.request('GET /settings');
  return { projects: data?.projects ?? [], etag };
};

interface Known {
  git: GitSource;
  repository: Repository;
}

type Named = Awaited<ReturnType<typeof settingsOf>>['projects'][number];

// A project of the settings before the one of --repo, whose name other machines do not know.
const projectAmong = async (
  { git, repository }: Known,
  projects: readonly Named[],
): Promise<Named | undefined> => {
  const wanted = realpathSync(repository.common_dir);
  const flagLast = projects.toSorted((a, b) => Number(a.of === 'flag') - Number(b.of === 'flag'));
  for (const each of flagLast) {
    const found = await findRepository(git, each.place).catch(() => undefined);
    if (found !== undefined && realpathSync(found.common_dir) === wanted) return each;
  }
  return undefined;
};

// The project that another machine added for this repository. The one of --repo, which chose no name, becomes it by its
// origin alone: its other remotes may be projects of their own.
const nameByRemote = async (
  { git, repository }: Known,
  projects: readonly Named[],
  here: Named | undefined,
): Promise<string | undefined> => {
  if (here?.of === 'settings') return undefined;
  const absent = projects.filter((each) => (here ? each.of === 'remote' : !each.repository));
  if (absent.length === 0) return undefined;
  const remotes = originFirst((await remoteSettings(git.at(repository))).remotes);
  for (const { url } of here ? remotes.slice(0, 1) : remotes) {
    const wanted = identityOf(url);
    const found = absent.find(({ remote }) => remote && identityOf(remote) === wanted);
    if (found !== undefined) return found.name;
  }
  return undefined;
};

// The same, if the settings only have a path of the other machine.
const nameByFolder = (path: string, projects: readonly Named[]): string | undefined => {
  const plain = plainName(path);
  return projects.find(
    ({ name, remote, repository }) => !repository && name === plain && remote === undefined,
  )?.name;
};

// A path, or an address of another form, is compared as it is written.
const identityOf = (url: string): string | undefined => {
  const at = parseRemoteUrl(url);
  if (!('why' in at)) return `${at.host}/${at.owner}/${at.name}`.toLowerCase();
  return url.replace(/(?:\/|\.git)+$/, '') || undefined;
};

// The main worktree, because a linked one may be removed; the git directory if the repository is bare.
const mainOf = ({ root, git_dir, common_dir }: Repository): string => {
  if (git_dir === common_dir) return root;
  return basename(common_dir) === '.git' ? dirname(common_dir) : common_dir;
};

// `default` is never chosen: it is the project of Work items without one, and the operator sets it.
const freeName = (path: string, projects: readonly Named[]): string => {
  const name = plainName(path);
  const taken = ['default', ...projects.map((each) => each.name)];
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!taken.includes(free)) return free;
  }
};

const plainName = (path: string): string => {
  const letters = basename(path, '.git')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '');
  const plain = letters.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '');
  return plain.slice(0, LONGEST) || 'repository';
};

const LONGEST = 90;
const CHANGED_MEANWHILE = 412;

const put = async (
  dossier: Dossier,
  projects: Record<string, string>,
  ifMatch: string | undefined,
): Promise<boolean> => {
  try {
    await dossier.call('PUT /settings', { body: { projects }, ifMatch });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === CHANGED_MEANWHILE) return false;
    throw error;
  }
};
