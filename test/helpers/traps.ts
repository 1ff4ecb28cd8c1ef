/** A repository in which everything that git can be led to run is a trap: a program that leaves a mark. */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  gitIn,
  makeRepository,
  type TestRepository,
  temporaryDirectory,
  writeFiles,
} from './repository.ts';

export interface Trap {
  name: string;
  /** What plants it: settings of the repository, the program in them as `%`. */
  settings: readonly (readonly [key: string, value: string])[];
  /** The commands of plain git, one of which runs it. */
  plain: readonly string[][];
  input?: string;
}

const one = (name: string, key: string, plain: string[], value = '%'): Trap => ({
  name,
  settings: [[key, value]],
  plain: [plain],
});

const COMMIT = ['-c', 'commit.gpgSign=false', 'commit', '--allow-empty', '--message=x'];
const MERGE = ['-c', 'commit.gpgSign=false', 'merge', '--no-ff', '--message=x'];
const TOUCH = ['add', '--renormalize', '.'];

/** An object that is nowhere. */
export const MISSING = '1234567890123456789012345678901234567890';

const hook = (name: string, ...plain: string[][]): Trap => ({ name, settings: [], plain });

const HOOKS: readonly Trap[] = [
  hook('post-checkout', ['checkout', '-b', 'plain']),
  hook('reference-transaction', ['branch', 'plain-too']),
  hook('post-index-change', TOUCH),
  ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'].map((name) =>
    hook(name, COMMIT),
  ),
  hook('post-rewrite', [...COMMIT, '--amend']),
  hook('pre-push', ['push', '.', 'HEAD:refs/heads/pushed']),
  hook('pre-merge-commit', [...MERGE, 'side']),
  hook('post-merge', [...MERGE, 'other-side']),
  hook('pre-rebase', ['rebase', '--force-rebase', 'HEAD~1']),
];

const SETTINGS: readonly Trap[] = [
  one('sequence', 'sequence.editor', ['rebase', '--interactive', 'HEAD~1']),
  one('monitor', 'core.fsmonitor', ['status']),
  one('clean', 'filter.clean.clean', TOUCH),
  one('smudge', 'filter.smudge.smudge', ['cat-file', '--filters', 'HEAD:a.smudge']),
  one('process', 'filter.process.process', TOUCH),
  one('odd-name', 'filter.a=b.clean', TOUCH),
  one('included', 'include.path', TOUCH, 'included.config'),
  one('text-conversion', 'diff.textconv.textconv', ['show', '--no-ext-diff', 'changes']),
  one('diff-driver', 'diff.command.command', ['diff', 'changes~1', 'changes']),
  one('diff-external', 'diff.external', ['diff', 'changes~1', 'changes']),
  one('merge-driver', 'merge.driver.driver', ['merge-tree', '--write-tree', 'main', 'conflict']),
  one('editor', 'core.editor', ['commit', '--allow-empty']),
  {
    name: 'signer',
    settings: [
      ['gpg.program', '%'],
      ['commit.gpgSign', 'true'],
    ],
    plain: [['commit', '--allow-empty', '--message=x']],
  },
  one('ssh', 'core.sshCommand', ['ls-remote', 'ssh://host.invalid/x']),
  one('git-proxy', 'core.gitProxy', ['ls-remote', 'git://host.invalid/x']),
  {
    name: 'credential',
    settings: [
      ['credential.helper', '!%'],
      ['credential.https://host.invalid.helper', '!%'],
    ],
    plain: [['credential', 'fill']],
    input: 'protocol=https\nhost=host.invalid\n\n',
  },
  {
    ...one('ask', 'core.askPass', ['credential', 'fill']),
    input: 'protocol=https\nhost=host.invalid\n\n',
  },
  one('sender', 'remote.origin.uploadpack', ['ls-remote', 'origin']),
  one('receiver', 'remote.origin.receivepack', ['push', 'origin', 'HEAD:refs/heads/r']),
  one('alias', 'alias.st', ['st'], '!%'),
  {
    name: 'transport',
    settings: [
      ['protocol.ext.allow', 'always'],
      ['url.ext::%.insteadOf', 'https://ext.invalid/x'],
    ],
    plain: [['ls-remote', 'https://ext.invalid/x']],
  },
  {
    name: 'missing-object',
    settings: [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'promised'],
      ['remote.promised.url', '.'],
      ['remote.promised.promisor', 'true'],
      ['remote.promised.uploadpack', '%'],
    ],
    plain: [['cat-file', '-p', MISSING]],
  },
];

/** The names of all. */
export const TRAPS: readonly string[] = [...SETTINGS, ...HOOKS].map(({ name }) => name).toSorted();

/** What has to be committed for the traps to be run into. */
export const BAIT: Record<string, string> = {
  'a.clean': 'x\n',
  'a.smudge': 'x\n',
  'a.process': 'x\n',
  'a.odd': 'x\n',
  'a.included': 'x\n',
  'a.textconv': 'x\n',
  'a.command': 'x\n',
  '.gitattributes': [
    '*.clean filter=clean',
    '*.smudge filter=smudge',
    '*.process filter=process',
    '*.odd filter=a=b',
    '*.included filter=included',
    '*.textconv diff=textconv',
    '*.command diff=command',
    '*.merge merge=driver',
    '',
  ].join('\n'),
  '.gitmodules':
    '[submodule "x"]\n\tpath = -x\n\turl = -u./x;touch x\n\tupdate = !touch x\n\tignore = none\n',
};

/** Plants traps in a repository, and says which of them were run into since. */
export const plant = (
  t: TestContext,
  { root, git }: TestRepository,
  traps: readonly Trap[] = [...SETTINGS, ...HOOKS],
): (() => string[]) => {
  const place = temporaryDirectory(t);
  const seen = join(place, 'marks');
  mkdirSync(seen);
  const program = (name: string, folder = 'programs'): string => {
    writeFiles(place, { [`${folder}/${name}`]: `#!/bin/sh\n: > ${seen}/${name}\n` });
    chmodSync(join(place, folder, name), 0o755);
    return join(place, folder, name);
  };
  writeFiles(root, {
    '.git/included.config': `[filter "included"]\n\tclean = ${program('included')}\n`,
  });
  for (const { name, settings } of traps)
    for (const [key, value] of settings)
      git('config', '--add', key.replace('%', program(name)), value.replace('%', program(name)));
  mkdirSync(join(place, 'hooks'));
  for (const { name, settings } of traps) if (settings.length === 0) program(name, 'hooks');
  git('config', 'core.hooksPath', join(place, 'hooks'));
  // Whatever git it took to plant them.
  for (const name of readdirSync(seen)) rmSync(join(seen, name));
  return () => readdirSync(seen).toSorted();
};

/** The traps that plain git runs into, each alone in a repository of its own. */
export const plainGitRunsInto = async (t: TestContext): Promise<string[]> => {
  const made = makeRepository(t, { files: BAIT });
  writeFiles(made.root, { 'second.txt': 'x' });
  made.git('add', '--all');
  made.git('commit', '--quiet', '-m', 'second');
  baitBranches(made.root);
  made.git('remote', 'add', 'origin', makeRepository(t, { bare: true }).root);
  const found: string[] = [];
  for (const trap of [...SETTINGS, ...HOOKS]) {
    const root = temporaryDirectory(t);
    cpSync(made.root, root, { recursive: true });
    const marks = plant(t, { root, git: gitIn(root) }, [trap]);
    for (const args of trap.plain) await plainly(root, args, trap.input);
    found.push(...marks());
  }
  return found.toSorted();
};

// As at an operator's terminal. It may fail: what counts is what was run.
const plainly = (root: string, args: string[], input = ''): Promise<void> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH,
      HOME: root,
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
    };
    const child = execFile('git', args, { cwd: root, env, timeout: 60_000 }, () => resolve());
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });

// Branches to merge and compare.
const baitBranches = (root: string): void => {
  const git = gitIn(root);
  const commitOn = (branch: string, files: Record<string, string>): void => {
    git('checkout', '--quiet', '-b', branch, 'main');
    writeFiles(root, files);
    git('add', '--all');
    git('commit', '--quiet', '-m', branch);
    git('checkout', '--quiet', 'main');
  };
  commitOn('side', { 'side.txt': 'x' });
  commitOn('other-side', { 'other-side.txt': 'x' });
  commitOn('changes', { 'a.textconv': 'y\n', 'a.command': 'y\n', 'plain.txt': 'y\n' });
  commitOn('conflict', { 'a.merge': 'conflict\n' });
  writeFiles(root, { 'a.merge': 'main\n' });
  git('add', '--all');
  git('commit', '--quiet', '-m', 'a.merge');
};
