/** Agents in Work mode that do their worst to the operator's repository, by git and past it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../lib/tools/sandbox.ts';
import { gitIn, writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withCase, withScript } from '../helpers/sessions.ts';

const { kind, reason } = createSandbox('auto', { PATH: process.env.PATH ?? '' });
const skip = kind === 'none' && (reason ?? 'no sandbox');

const AS_AGENT =
  'git config --global user.name x 2>/dev/null; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b';

interface Scene {
  test: SessionTest;
  /** The worktree. */
  path: string;
  /** git as the operator runs it in the worktree, and in the main checkout. */
  git: (...args: string[]) => string;
  main: (...args: string[]) => string;
  /** Runs one session to the end of its work with this as the agent's script, and answers what its shell wrote. */
  work: (script: string, end?: string) => Promise<string>;
  told: () => Promise<Record<string, unknown>[]>;
}

const scene = async (t: TestContext, sandbox: 'auto' | 'off'): Promise<Scene> => {
  const options = withScript(t, {}, sandbox);
  const test = await withCase(t, 'Work.', options);
  const { running, item } = test;
  const { root, git: main } = running.repository;
  main('branch', 'other');
  main('tag', '-a', 'v1', '-m', 'v1');
  writeFiles(root, { 'a.txt': 'stashed\n' });
  main('stash', 'push', '--quiet', '-m', 'mine');
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
  };
};

/** Everything of the operator's repository that is not the worktree's own branch, or what Dossier keeps. */
const pictureOf = ({ test, main, git }: Scene): Record<string, string> => {
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

for (const sandbox of ['auto', 'off'] as const) {
  describe(`an agent in Work mode (sandbox: ${sandbox})`, {
    skip: sandbox === 'auto' && skip,
  }, () => {
    it('commits on the branch of its worktree, and what it staged stays staged', async (t) => {
      const on = await scene(t, sandbox);
      const before = pictureOf(on);
      const output = await on.work(
        'echo two >> a.txt; git commit -qam mine; echo s > staged.txt; git add staged.txt; echo u > new.txt; echo three >> a.txt; git status --short; git rev-parse --git-dir; cat .git',
      );
      assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine', output);
      assert.equal(on.git('status', '--short'), ' M a.txt\nA  staged.txt\n?? new.txt\n');
      assert.equal(on.git('show', ':staged.txt'), 's\n');
      assert.deepEqual(pictureOf(on), { ...before, objects: pictureOf(on).objects });
      assert.deepEqual(await on.told(), []);
      const { dossier, repositories } = on.test.running.service.store.layout;
      assert.deepEqual(readdirSync(repositories), []);
      assert.deepEqual(readdirSync(join(dossier, 'tmp')), []);
      assert.equal(on.main('for-each-ref', 'refs/dossier/pins'), '');
      const patch = readFileSync(
        join(newestSession(on.test.running, on.test.item), 'diff.patch'),
        'utf8',
      );
      assert.match(patch, /\+two\n\+three[\s\S]*\+s\n/);
    });

    it('moves no other branch, and drops no stash: what it did is kept and told', async (t) => {
      const on = await scene(t, sandbox);
      const before = pictureOf(on);
      await on.work(
        'git commit -q --allow-empty -m mine; git update-ref refs/heads/main HEAD; git branch -f other HEAD; git tag -d v1; git branch made; echo x >> a.txt; git stash -q; git stash list; git reflog expire --expire=now --all; git gc --quiet --prune=now',
      );
      assert.deepEqual(pictureOf(on), { ...before, objects: pictureOf(on).objects });
      const [told, ...more] = await on.told();
      assert.deepEqual([told?.code, more], ['refs_kept', []], JSON.stringify(told));
      const refs = told?.refs as { ref: string; after: string | null; kept_ref: string | null }[];
      const names = refs.map(({ ref }) => ref.replace(/@.*/, ''));
      assert.deepEqual(names.toSorted(), [
        'refs/heads/made',
        'refs/heads/main',
        'refs/heads/other',
        'refs/stash',
        'refs/tags/v1',
      ]);
      for (const { after, kept_ref } of refs)
        if (after !== null) assert.equal(on.main('rev-parse', kept_ref ?? '').trim(), after);
      const summary = readFileSync(
        join(newestSession(on.test.running, on.test.item), 'session.md'),
        'utf8',
      );
      assert.match(summary, /refs\/heads\/main: moved/);
      const { body } = await on.test.running.call<{ kind: string }[]>(
        'GET',
        `/api/worktrees/${on.test.item.id}/recoveries`,
      );
      assert.ok(
        body.some((each) => each.kind === 'refs'),
        JSON.stringify(body),
      );
    });
  });
}
