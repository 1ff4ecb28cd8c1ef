import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Dossier, Problem } from '../../client/client.ts';
import { parseRemoteUrl } from '../../codehost/remote-url.ts';
import type { Config } from '../../config.ts';
import { remoteSettings } from '../../tools/git/read/remotes.ts';
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
    const name = await nameAmong(known, projects);
    const isKnown = name !== undefined;
    const absent = projects.filter((each) => (isKnown ? each.of === 'remote' : !each.repository));
    const shared = await nameByRemote(known, absent);
    const path = mainOf(repository);
    if (isKnown && shared === undefined) return { name, path, added: false };
    const free = shared ?? nameByFolder(path, absent) ?? freeName(path, projects);
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

const nameAmong = async (
  { git, repository }: Known,
  projects: readonly Named[],
): Promise<string | undefined> => {
  const wanted = realpathSync(repository.common_dir);
  for (const { name, place } of projects) {
    const found = await findRepository(git, place).catch(() => undefined);
    if (found !== undefined && realpathSync(found.common_dir) === wanted) return name;
  }
  return undefined;
};

// The project that another machine added for this repository. Its Work items need it beside a project of this machine, too.
const nameByRemote = async (
  { git, repository }: Known,
  absent: readonly Named[],
): Promise<string | undefined> => {
  if (absent.length === 0) return undefined;
  const { remotes } = await remoteSettings(git.at(repository));
  const here = new Set(remotes.flatMap(({ url }) => identityOf(url) ?? []));
  return absent.find(({ remote }) => here.has(identityOf(remote ?? '') ?? ''))?.name;
};

// The same, if the settings only have a path of the other machine.
const nameByFolder = (path: string, absent: readonly Named[]): string | undefined => {
  const plain = plainName(path);
  return absent.find(({ name, remote }) => name === plain && remote === undefined)?.name;
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
  const plain = basename(path, '.git').replace(/[^A-Za-z0-9._-]+/g, '-');
  return plain.replace(/^[^A-Za-z0-9]+/, '').slice(0, LONGEST) || 'repository';
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
