import { renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Hosted } from '../helpers/git-server.ts';
import { gitIn, type TestRepository, temporaryDirectory } from '../helpers/repository.ts';
import { commitTo } from './commit-to.ts';
import { commitOf } from './handler.ts';
import type { RestRepository } from './rest.ts';
import { type Checked, nowOf, type Role, type Status, type World } from './world.ts';

export interface Push {
  branch: string;
  files?: Record<string, string>;
  message?: string;
  /** Where a new branch begins. */
  from?: string;
  repository?: string;
}

/** What is told of a check, and by whom. */
export interface NewCheck extends Partial<Pick<Checked, 'app' | 'job' | 'annotations'>> {
  output?: { title: string; summary: string; text?: string };
}

/** What people do to repositories on the host, and what its machines say of a commit. */
export interface HostRepositories {
  /**
   * A clone of the operator's: `origin` says GitHub's own address, which git is told to take for the fake's. What talks
   * to it from this process must not block: the server is here.
   */
  clone(options?: { repository?: string; remote?: string }): TestRepository;
  /** A colleague's commit on a branch; answers its id. */
  push(push: Push): Promise<string>;
  /** Where a branch is; undefined when there is none. */
  headOf(branch: string): Promise<string | undefined>;
  /** From now on the old name redirects: the API by 301, git as GitHub's does. */
  rename(to: string): Promise<void>;
  fork(by: string): Promise<Hosted>;
  archive(): Promise<void>;
  setRole(login: string, role: Role): void;
  /** Answers the number of the run. */
  check(ref: string, name: string, conclusion: string | null, more?: NewCheck): Promise<number>;
  status(ref: string, context: string, state: Status['state']): Promise<void>;
  label(name: string, color?: string): Promise<void>;
}

/** Makes a bare repository with one commit on `main` for each of these, where git finds it over HTTP. */
export const hostRepository = async (
  world: World,
  name: string,
  files: Record<string, string> = { 'README.md': `# ${name}\n` },
): Promise<Hosted> => {
  const hosted = world.git.hostEmpty(`${name}.git`);
  commitTo(hosted.root, { branch: 'main', files, message: 'start', by: 'Test Operator' });
  world.repositories.set(name, hosted);
  const { id } = await world.emulated.read<RestRepository>('GET', `/repos/${name}`);
  world.ids.set(id, name);
  return hosted;
};

export const hostRepositories = (t: TestContext, world: World, main: string): HostRepositories => {
  const { emulated } = world;
  const name = (): string => nowOf(world, main);
  return {
    clone: ({ repository = name(), remote = 'origin' } = {}) =>
      cloned(t, world, { repository, remote }),
    push: (push) => pushed(world, { repository: name(), ...push }),
    headOf: (branch) => commitOf(world, name(), `refs/heads/${branch}`),
    rename: (to) => rename(world, name(), to),
    fork: (by) => fork(world, name(), by),
    archive: async () => {
      await emulated.read('PATCH', `/repos/${name()}`, { body: { archived: true } });
      world.archived.add(name());
    },
    setRole: (login, role) => void world.roles.set(login, role),
    check: async (ref, called, conclusion, { output, ...more } = {}) => {
      const head_sha = (await commitOf(world, name(), ref)) ?? ref;
      const status =
        conclusion === null ? { status: 'in_progress' } : { status: 'completed', conclusion };
      const began = { started_at: new Date().toISOString(), details_url: 'https://ci.example/1' };
      const body = { name: called, head_sha, output, ...began, ...status };
      const run = await emulated.read<{ id: number }>('POST', `/repos/${name()}/check-runs`, {
        body,
      });
      world.runs.set(head_sha, [...(world.runs.get(head_sha) ?? []), run.id]);
      world.checks.set(run.id, {
        ...{ name: called, sha: head_sha, conclusion, app: 'Some CI', annotations: [] },
        ...more,
      });
      return run.id;
    },
    status: async (ref, context, state) => {
      const sha = (await commitOf(world, name(), ref)) ?? ref;
      const created_at = new Date().toISOString();
      world.statuses.push({ sha, context, state, description: null, target_url: null, created_at });
    },
    label: async (called, color = 'ededed') => {
      await emulated.read('POST', `/repos/${name()}/labels`, { body: { name: called, color } });
    },
  };
};

const cloned = (
  t: TestContext,
  world: World,
  { repository, remote }: { repository: string; remote: string },
): TestRepository => {
  const root = temporaryDirectory(t);
  const git = gitIn(root);
  const from = world.repositories.get(repository);
  if (from === undefined) throw new Error(`The fake host has no repository ${repository}.`);
  git('clone', '--quiet', '--no-local', '--origin', remote, from.root, '.');
  const here = from.url_with_token.replace(`${repository}.git`, '');
  git('config', `url.${here}.insteadOf`, `https://${world.host_name}/`);
  git('remote', 'set-url', remote, `https://${world.host_name}/${repository}.git`);
  git('config', 'user.name', 'Test Operator');
  git('config', 'user.email', 'operator@example.com');
  git('config', 'commit.gpgSign', 'false');
  return { root, git };
};

const pushed = async (
  world: World,
  {
    branch,
    files = { 'colleague.md': 'By a colleague.\n' },
    ...push
  }: Push & { repository: string },
): Promise<string> => {
  const { repository, from = 'main', message = 'a colleague was here' } = push;
  const hosted = world.repositories.get(repository);
  if (hosted === undefined) throw new Error(`The fake host has no repository ${repository}.`);
  const isNew = (await commitOf(world, repository, `refs/heads/${branch}`)) === undefined;
  const parent = `refs/heads/${isNew ? from : branch}`;
  commitTo(hosted.root, { branch, files, message, by: 'A Colleague', parent });
  return hosted.git('rev-parse', `refs/heads/${branch}`).trim();
};

const rename = async (world: World, from: string, to: string): Promise<void> => {
  const hosted = world.repositories.get(from);
  if (hosted === undefined) throw new Error(`The fake host has no repository ${from}.`);
  const name = to.split('/')[1];
  await world.emulated.read('PATCH', `/repos/${from}`, { body: { name } });
  const path = join(dirname(hosted.root), `${name}.git`);
  renameSync(hosted.root, path);
  symlinkSync(path, hosted.root);
  world.repositories.delete(from);
  world.repositories.set(to, hosted);
  world.renamed.set(from, to);
  for (const [id, known] of world.ids) if (known === from) world.ids.set(id, to);
  for (const byNumber of [world.moved, world.mergeable, world.merged, world.stale]) {
    rekey(byNumber, `${from}#`, `${to}#`);
  }
};

const rekey = (map: Map<string, unknown>, from: string, to: string): void => {
  for (const [key, value] of [...map]) {
    if (!key.startsWith(from)) continue;
    map.delete(key);
    map.set(key.replace(from, to), value);
  }
};

const fork = async (world: World, from: string, by: string): Promise<Hosted> => {
  const made = await world.emulated.read<RestRepository>('POST', `/repos/${from}/forks`, {
    as: by,
    body: {},
  });
  const source = world.repositories.get(from);
  if (source === undefined) throw new Error(`The fake host has no repository ${from}.`);
  const hosted = world.git.host(`${made.full_name}.git`, source);
  world.repositories.set(made.full_name, hosted);
  world.forks.set(made.full_name, from);
  world.ids.set(made.id, made.full_name);
  return hosted;
};
