import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import { gitIn, writeFiles } from './repository.ts';
import { newestSession } from './service.ts';
import { type SessionTest, withCase, withScript } from './sessions.ts';

const { kind, reason } = createSandbox('auto', { PATH: process.env.PATH ?? '' });

/** Why a test of that sandbox is skipped. */
export const skipOf = (sandbox: 'auto' | 'off'): string | false =>
  sandbox === 'auto' && kind === 'none' && (reason ?? 'no sandbox');

const AS_AGENT =
  'git config --global user.name x 2>/dev/null; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b';

export interface Scene {
  test: SessionTest;
  /** The worktree. */
  path: string;
  /** git as the operator runs it in the worktree, and in the main checkout. */
  git: (...args: string[]) => string;
  main: (...args: string[]) => string;
  /** Runs one session to the end of its work with this as the agent's script, and answers what its shell wrote. */
  work: (script: string, end?: string) => Promise<string>;
  told: () => Promise<Record<string, unknown>[]>;
  /** What session.md says. */
  summary: () => string;
}

/** A Work item with a worktree, in a repository with a stash, a tag and another branch, and an agent that runs a script. */
export const gitScene = async (
  t: TestContext,
  sandbox: 'auto' | 'off',
  // What a turn leaves is looked at as it left it.
  settings = 'worktrees: { commit: never }',
  /** What the base has in addition. */
  files: Record<string, string> = {},
): Promise<Scene> => {
  const options = withScript(t, {}, sandbox);
  options.settings += `\n${settings}`;
  const test = await withCase(t, 'Work.', options);
  const { running, item } = test;
  const { root, git: main } = running.repository;
  main('branch', 'other');
  main('tag', '-a', 'v1', '-m', 'v1');
  writeFiles(root, { 'a.txt': 'stashed\n' });
  main('stash', 'push', '--quiet', '-m', 'mine');
  writeFiles(root, files);
  main('add', '--all', '--force');
  if (Object.keys(files).length > 0) main('commit', '--quiet', '-m', 'files');
  const made = await running.call<{ path: string }>('POST', '/api/worktrees', { case_id: item.id });
  assert.equal(made.status, 201, made.text);
  const { path } = made.body;
  let id = '';
  return {
    ...{ test, path, main },
    git: gitIn(path),
    work: async (script, end = 'completed') => {
      const text = `${AS_AGENT}\n${script.replaceAll('$main', root)}`;
      writeFiles(join(options.env?.HOME ?? '', '.test-agent'), { 'work.sh': text });
      ({ id } = await test.start());
      await test.until(id, 'plan_ready');
      assert.equal((await test.post(`/sessions/${id}/approve`)).status, 200);
      await test.until(id, end);
      return (await test.eventsOf(id)).map(({ data }) => data.output ?? '').join('');
    },
    told: async () =>
      (await test.eventsOf(id)).filter(({ event }) => event === 'error').map(({ data }) => data),
    summary: () => readFileSync(join(newestSession(test.running, test.item), 'session.md'), 'utf8'),
  };
};

/** Everything of the operator's repository that is not the worktree's own branch, or what Dossier keeps. */
export const pictureOf = ({ test, main, git }: Scene): Record<string, string> => {
  const { root } = test.running.repository;
  const own = git('symbolic-ref', 'HEAD').trim();
  const dir = join(root, '.git');
  const refs = main('for-each-ref', '--format=%(objectname) %(refname)').split('\n');
  return {
    refs: refs.filter((line) => !line.includes(own) && !line.includes('refs/dossier/')).join('\n'),
    stash: main('stash', 'list', '--format=%H %gs'),
    whole: main('fsck', '--full', '--connectivity-only', '--no-dangling'),
    files: hashOf(
      dir,
      /^(?:config|HEAD|hooks|info|logs\/(?:HEAD|refs\/(?:stash|heads\/(?:main|other)))|packed-refs)/,
    ),
    objects: main('cat-file', '--batch-all-objects', '--batch-check')
      .split('\n')
      .slice(0, 5)
      .join('\n'),
  };
};

const hashOf = (dir: string, wanted: RegExp): string => {
  const hash = createHash('sha256');
  for (const name of (readdirSync(dir, { recursive: true }) as string[]).toSorted())
    if (wanted.test(name) && lstatSync(join(dir, name)).isFile())
      hash.update(`${name}\0`).update(readFileSync(join(dir, name)));
  return hash.digest('hex');
};
