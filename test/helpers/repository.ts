import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Repository } from '../../lib/tools/git/read/repository.ts';
import { createGit } from '../../lib/tools/git/run/create-git.ts';
import type { Git } from '../../lib/tools/git/run/git.ts';
import { type AddedWorktree, addWorktree } from '../../lib/tools/git/write/worktree.ts';
import { cleanEnvironment } from '../../lib/tools/process/environment.ts';
import { atEnd } from './at-end.ts';
import { refreshIndex } from './git-index.ts';

export interface TestRepository {
  root: string;
  /** Runs git in the repository and answers its standard output; throws when git fails. */
  git(...args: string[]): string;
}

interface Wanted {
  /** Committed on `main`; without any there is one commit with a README.md. */
  files?: Record<string, string | Buffer>;
  bare?: boolean;
}

/** A real git repository in a temporary directory, removed after the test. No setting of the user reaches it. */
export const makeRepository = (
  t: TestContext,
  { files = { 'README.md': '# A repository\n' }, bare = false }: Wanted = {},
): TestRepository => {
  const root = temporaryDirectory(t);
  const git = gitIn(root);
  cpSync(templateOf(files), root, { recursive: true, verbatimSymlinks: true });
  refreshIndex(root);
  return bare ? bareOf(t, root) : { root, git };
};

// Where it is before a test has another directory for what is temporary.
const PLACE = tmpdir();
let templates: string | undefined;
const made = new Map<string, string>();

// Six runs of git are most of what a test would take: they are made once for each process, and copied.
const templateOf = (files: NonNullable<Wanted['files']>): string => {
  const key = createHash('sha256').update(JSON.stringify(files)).digest('hex');
  const known = made.get(key);
  if (known !== undefined) return known;
  templates ??= forThisProcess();
  const root = join(templates, key);
  mkdirSync(root);
  const git = gitIn(root);
  git('init', '--quiet', '--initial-branch=main');
  rmSync(join(root, '.git/hooks'), { recursive: true });
  mkdirSync(join(root, '.git/hooks'));
  appendFileSync(join(root, '.git/config'), SETTINGS);
  writeFiles(root, files);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'start');
  made.set(key, root);
  return root;
};

const forThisProcess = (): string => {
  const dir = mkdtempSync(join(PLACE, 'dossier-test-templates-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** A daemon of root hides from its runs what root alone may read in /var. */
export const seenByRuns = (dir: string): string => {
  if (dir.startsWith('/var/')) chmodSync(dir, 0o755);
  return dir;
};

export const temporaryDirectory = (t: TestContext, parent = tmpdir()): string => {
  const root = seenByRuns(realpathSync(mkdtempSync(join(parent, 'dossier-test-'))));
  // Again while somebody adds to it: a daemon that was started before this was made, and ends later, may run git here.
  const patiently = { recursive: true, force: true, maxRetries: 8, retryDelay: 20 };
  atEnd(t, () => rm(root, patiently));
  return root;
};

export const writeFiles = (root: string, files: Record<string, string | Buffer>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
};

/** git in a directory, as the operator at a terminal would run it but for the operator's own settings. */
export const gitIn =
  (root: string): TestRepository['git'] =>
  (...args) =>
    execFileSync('git', args, {
      cwd: root,
      env: environment(root),
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: 64 * 1_048_576,
    });

const SETTINGS = `[user]
\tname = Test Operator
\temail = operator@example.com
[commit]
\tgpgSign = false
`;

const environment = (root: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: root,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
});

const bareOf = (t: TestContext, from: string): TestRepository => {
  const root = temporaryDirectory(t);
  gitIn(root)('clone', '--quiet', '--bare', from, root);
  return { root, git: gitIn(root) };
};

/** The daemon's own git, with a home directory of its own. */
export const testGit = (t: TestContext): Git =>
  createGit({ env: cleanEnvironment({ PATH: process.env.PATH }, { HOME: temporaryDirectory(t) }) });

/** The repository as the daemon knows it. */
export const known = ({ root }: TestRepository): Repository => ({
  root,
  bare: false,
  git_dir: join(root, '.git'),
  common_dir: join(root, '.git'),
});

/** A linked worktree on a new branch from `main`. */
export const makeWorktree = (
  t: TestContext,
  git: Git,
  repository: Repository,
  branch = 'work/one',
): Promise<AddedWorktree> =>
  addWorktree(git, {
    repository,
    path: join(temporaryDirectory(t), 'worktree'),
    branch,
    base: gitIn(repository.common_dir)('rev-parse', 'main').trim(),
    reason: 'a test',
  });
