/** Two Work items with sessions at once: the agent of one tries all that git and a shell have on the other's work. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { skipOf } from '../helpers/git-scene.ts';
import { gitIn, writeFiles } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';

const block = (...lines: string[]): string => `\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;

interface Worked {
  caseId: string;
  sid: string;
  path: string;
  git: (...args: string[]) => string;
  until: (status: string) => Promise<Session>;
}

/** A Work item whose session carries these blocks out. */
const begin = async (running: Running, title: string, description: string): Promise<Worked> => {
  const item = { title, type: 'bug', description };
  const { id: caseId } = (await running.call<Case>('POST', '/cases', item)).body;
  const made = await running.call<{ path: string }>('POST', '/api/worktrees', { case_id: caseId });
  assert.equal(made.status, 201, made.text);
  const sessions = `/cases/${caseId}/sessions`;
  const { body } = await running.call<Session>('POST', sessions, { type: 'implementing' });
  const until = (status: string): Promise<Session> =>
    eventually(async () => {
      const now = (await running.call<Session>('GET', `${sessions}/${body.id}`)).body;
      assert.equal(now.status, status, now.error ?? undefined);
      return now;
    });
  await until('plan_ready');
  const approved = await running.call('POST', `${sessions}/${body.id}/approve`);
  assert.equal(approved.status, 200, approved.text);
  const { path } = made.body;
  return { caseId, sid: body.id, path, git: gitIn(path), until };
};

/** A is in the middle of its turn: one commit, a stash, a staged file. Its turn ends when `go` is there. */
const scene = async (t: TestContext, sandbox: 'auto' | 'off') => {
  const files = { 'a.txt': 'one\n' };
  const settings = `sandbox: ${sandbox}\nmax_sessions: 3\nworktrees: { commit: never }`;
  const running = await startForTest(t, { files, settings });
  const { git: main } = running.repository;
  const a = await begin(
    running,
    'A',
    block(
      'echo a > of-a.txt; git add of-a.txt; git commit -qm "of A"',
      'echo stashed > a.txt; git stash push -q -m "stash of A"',
      'echo staged > staged.txt; git add staged.txt; echo ready > ready',
      'while [ ! -e go ]; do sleep 0.05; done; rm go ready; git stash list > stashes.txt',
    ),
  );
  await eventually(() => assert.ok(existsSync(join(a.path, 'ready'))));
  const end = async (): Promise<void> => {
    writeFileSync(join(a.path, 'go'), '');
    await a.until('completed');
  };
  return { running, main, a, end };
};

const assertWhole = ({ git, path }: Worked): void => {
  assert.equal(git('log', '-1', '--format=%s').trim(), 'of A');
  assert.equal(git('show', 'HEAD:of-a.txt'), 'a\n');
  assert.equal(git('status', '--short'), 'A  staged.txt\n?? stashes.txt\n');
  assert.match(readFileSync(join(path, 'stashes.txt'), 'utf8'), /^stash@\{0\}: .*stash of A\n$/);
  git('fsck', '--full', '--no-dangling');
};

for (const sandbox of ['auto', 'off'] as const)
  describe(`an agent beside another Work item's (sandbox: ${sandbox})`, {
    skip: skipOf(sandbox),
  }, () => {
    it('has no stash, branch, tag or log of it to drop, move or delete, by plain git', async (t) => {
      const { running, main, a, end } = await scene(t, sandbox);
      const branch = a.git('symbolic-ref', '--short', 'HEAD').trim();
      const b = await begin(
        running,
        'B',
        block(
          `git stash pop || true; git stash drop || true; git stash clear || true`,
          `git branch -D ${branch} || true; git update-ref -d refs/heads/${branch} || true`,
          `git branch -f ${branch} HEAD || true; git update-ref refs/heads/${branch} "$(git commit-tree -m false 'HEAD^{tree}')"`,
          'git reflog expire --expire=now --all; git gc -q --prune=now || true; git worktree prune',
          `git worktree remove --force ${a.path} || true; git worktree list > list.txt`,
          'git symbolic-ref refs/heads/link refs/heads/main; git pack-refs --all || true',
        ),
      );
      await b.until('completed');
      assert.equal(readFileSync(join(b.path, 'a.txt'), 'utf8'), 'one\n');
      await end();
      assertWhole(a);
      assert.equal(
        main('for-each-ref', '--format=%(refname)', 'refs/stash', 'refs/heads/link'),
        '',
      );
      const kept = main('stash', 'list');
      assert.equal(kept, '', 'what A stashed is kept beside, and told');
      const undone = main('for-each-ref', '--format=%(subject)', 'refs/dossier/undone');
      assert.match(undone, /stash of A/);
    });

    it("finds none of A's that is taken in already, nor of the operator's", async (t) => {
      const { running, main, a, end } = await scene(t, sandbox);
      await end();
      writeFiles(running.repository.root, { 'a.txt': 'mine\n' });
      main('stash', 'push', '-q', '-m', 'mine');
      const branch = a.git('symbolic-ref', '--short', 'HEAD').trim();
      const refs = () =>
        main('for-each-ref', 'refs/stash', 'refs/heads/main', `refs/heads/${branch}`);
      const before = refs();
      const b = await begin(
        running,
        'B',
        block(
          'git stash pop || true; git stash clear',
          `git branch -D ${branch}; git update-ref refs/heads/main "$(git commit-tree -m false 'HEAD^{tree}')"`,
          'git for-each-ref --format="delete %(refname)" refs/dossier | git update-ref --stdin',
        ),
      );
      await b.until('completed');
      assert.equal(refs(), before);
      assert.match(main('stash', 'list'), /mine/);
      assertWhole(a);
      assert.match(
        main('for-each-ref', '--format=%(subject)', 'refs/dossier/undone'),
        /stash of A/,
      );
    });
  });

describe('an agent in the sandbox', { skip: skipOf('auto') }, () => {
  it("cannot write another's files, repository, index or pointer, past git either", async (t) => {
    const { running, a, end } = await scene(t, 'auto');
    const { layout } = running.service.store;
    const own = a.git('rev-parse', '--absolute-git-dir').trim();
    const link = readFileSync(join(a.path, '.git'), 'utf8');
    const targets = [
      ...[join(a.path, 'of-a.txt'), join(a.path, '.git'), join(own, 'index'), join(own, 'HEAD')],
      join(layout.repositories, a.caseId, 'git', 'HEAD'),
      join(layout.repositories, a.caseId, 'git', 'refs/stash'),
      join(layout.repositories, a.caseId, 'git', 'logs/refs/stash'),
      join(layout.repositories, `${a.caseId}.json`),
      join(layout.worktrees, `${a.caseId}.json`),
      join(running.repository.root, '.git', 'packed-refs'),
    ];
    const b = await begin(
      running,
      'B',
      block(
        ...targets.map(
          (path) => `(echo evil > ${path}) 2>/dev/null || true; rm -f ${path} || true`,
        ),
        `git --git-dir=${join(layout.repositories, a.caseId, 'git')} --work-tree=${a.path} stash clear || true`,
        `git -C ${a.path} reset -q --hard HEAD~1 || true; git -C ${a.path} clean -fdq || true`,
        `git --git-dir=${join(running.repository.root, '.git')} update-ref -d refs/heads/main || true`,
      ),
    );
    await b.until('completed');
    assert.equal(readFileSync(join(a.path, '.git'), 'utf8'), link);
    await end();
    assertWhole(a);
    assert.deepEqual(readdirSync(layout.repositories), []);
  });
});
