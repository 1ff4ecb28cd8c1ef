/** Agents in Work mode that do their worst to the operator's repository, by git and past it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gitScene, pictureOf, skipOf } from '../helpers/git-scene.ts';
import { newestSession } from '../helpers/service.ts';

for (const sandbox of ['auto', 'off'] as const) {
  describe(`an agent in Work mode (sandbox: ${sandbox})`, {
    skip: skipOf(sandbox),
  }, () => {
    it('commits on the branch of its worktree, and what it staged stays staged', async (t) => {
      const on = await gitScene(t, sandbox);
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
      const on = await gitScene(t, sandbox);
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
      assert.match(on.summary(), /refs\/heads\/main: moved/);
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
