/** Agents in Work mode that do their worst to the operator's repository, by git and past it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
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

    it('commits a file whose name differs only in case, whatever the repository says', async (t) => {
      const on = await gitScene(t, sandbox);
      on.main('config', 'core.ignoreCase', 'true');
      await on.work('echo upper > A.txt; git add --all; git commit -qm mine');
      assert.deepEqual(
        [on.git('show', 'HEAD:A.txt'), on.git('show', 'HEAD:a.txt')],
        ['upper\n', 'one\n'],
      );
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

    // What only the repository of the turn decides, is so with the least that can be written.
    if (sandbox === 'off') return;

    it("keeps house in the turn's repository as anywhere, and all that it made is taken in", async (t) => {
      const on = await gitScene(t, sandbox);
      const before = pictureOf(on);
      const output = await on.work(
        `for n in 1 2 3; do echo $n > $n.txt; git add $n.txt; git commit -qm $n; done; git branch aside; echo s > s.txt; git add s.txt
for what in 'gc --quiet' 'repack -adq' 'maintenance run' 'maintenance run --task=commit-graph --task=loose-objects --task=incremental-repack' 'repack -dq --write-midx' 'gc --aggressive --quiet --prune=now' 'fsck --full --strict' 'log --oneline main other v1'; do git $what > out 2>&1 && echo "did $what" || { echo "FAILED $what"; cat out; }; done; rm out`,
      );
      assert.equal(output.match(/^did /gm)?.length, 8, output);
      assert.equal(on.git('log', '--format=%s', '-3'), '3\n2\n1\n');
      assert.equal(on.git('status', '--short'), 'A  s.txt\n');
      on.main('fsck', '--full', '--strict');
      assert.deepEqual(pictureOf(on), { ...before, objects: pictureOf(on).objects });
      const [{ refs } = {}] = await on.told();
      const [{ ref, kept_ref } = { ref: '', kept_ref: '' }] = refs as Record<string, string>[];
      assert.equal(ref, 'refs/heads/aside');
      assert.equal(on.main('rev-parse', kept_ref ?? ''), on.git('rev-parse', 'HEAD'));
    });

    it('has its own branches, tags and stashes again when its session goes on, and no others', async (t) => {
      const on = await gitScene(t, sandbox);
      const before = pictureOf(on);
      const script = `if [ -e second ]; then rm second; git stash list; git for-each-ref --format='%(refname) %(contents:subject)' refs/heads/aside refs/heads/moved refs/tags/own refs/heads/main; git fsck; git stash pop -q && cat a.txt && git branch -D aside -q && echo done
else git branch aside; git branch other2; git commit -q --allow-empty -m mine; git tag -a own -m 'of its own'; git branch moved; git commit -q --allow-empty -m more; git update-ref refs/heads/main HEAD; echo stashed-here >> a.txt; git stash push -q -m 'for later'; touch second; sleep 300; fi`;
      const ended = on.work(script, 'paused');
      await eventually(() => assert.ok(existsSync(join(on.path, 'second'))));
      assert.equal((await on.test.control('pause')).status, 200);
      await ended;
      assert.equal(on.git('stash', 'list').includes('for later'), false);
      const { body: sessions } = await on.test.running.call<{ id: string }[]>(
        'GET',
        `/cases/${on.test.item.id}/sessions`,
      );
      const id = sessions[0]?.id ?? '';
      assert.equal((await on.test.control('resume')).status, 200);
      await on.test.until(id, 'completed');
      const output = (await on.test.eventsOf(id)).map(({ data }) => data.output ?? '').join('');
      assert.match(output, /^stash@\{0\}: On work\/.*: for later$/m);
      assert.doesNotMatch(output, /stash@\{1\}/);
      assert.match(
        output,
        /^refs\/heads\/aside start\n.*main start\n.*moved mine\n.*own of its own$/m,
      );
      assert.match(output, /stashed-here\ndone/);
      assert.equal(pictureOf(on).refs, before.refs);
      assert.equal(pictureOf(on).stash, before.stash);
      const told = (await on.told()).flatMap(
        ({ refs }) => (refs ?? []) as { ref: string; after: string | null }[],
      );
      const names = told.map(
        ({ ref, after }) => `${ref.replace(/@.*/, '')} ${after === null ? 'gone' : 'kept'}`,
      );
      assert.deepEqual(names.toSorted(), [
        'refs/heads/aside gone',
        'refs/heads/aside kept',
        'refs/heads/main kept',
        'refs/heads/moved kept',
        'refs/heads/other2 kept',
        'refs/stash gone',
        'refs/stash kept',
        'refs/tags/own kept',
      ]);
    });
  });
}
