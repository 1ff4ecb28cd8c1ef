/** A turn's repository while the operator goes on: nothing of either is lost, whoever dies. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { stateOf } from '../../lib/code/worktrees/inspect/status.ts';
import { getWorktree } from '../../lib/code/worktrees/read.ts';
import type { TurnNotice } from '../../lib/code/worktrees/turn/notices.ts';
import { type OpenTurn, openTurn } from '../../lib/code/worktrees/turn/open.ts';
import type { Case } from '../../store/records/case.ts';
import { turnOwners, turnPlaces } from '../../store/worktrees/turn-records.ts';
import { gitScene, type Scene, skipOf } from '../helpers/git-scene.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { gitIn, makeRepository, type TestRepository, writeFiles } from '../helpers/repository.ts';

const ME = ['-c', 'user.name=a', '-c', 'user.email=a@b'];

interface Begun extends Scene {
  turn: OpenTurn;
  /** The turn's repository. */
  dir: string;
  /** Its git there, as an agent's. */
  agent: (...args: string[]) => string;
  /** Ends the turn, and answers what is told. */
  end: () => Promise<TurnNotice[]>;
}

// Without an agent: the test is it.
const begun = async (t: TestContext, sandbox: 'auto' | 'off' = 'off'): Promise<Begun> => {
  const on = await gitScene(t, sandbox);
  const { service } = on.test.running;
  const { dir } = turnPlaces(service.store.layout, on.test.item.id);
  const turn = await openTurn(service, getWorktree(service.store, on.test.item.id), {
    marker: NOBODY,
    session_id: NOBODY,
  });
  const agent = (...args: string[]): string =>
    gitIn(on.path)(...ME, `--git-dir=${dir}`, `--work-tree=${on.path}`, ...args);
  const end = async (): Promise<TurnNotice[]> => {
    const all: TurnNotice[] = [];
    await turn.close((told) => all.push(...told));
    return all;
  };
  return { ...on, turn, dir, agent, end };
};

describe('the repository of a turn without a sandbox', () => {
  it('is where the .git file of the worktree leads meanwhile, and the daemon knows', async (t) => {
    const on = await begun(t);
    const { service } = on.test.running;
    const record = () => getWorktree(service.store, on.test.item.id);
    assert.equal(on.git('rev-parse', '--absolute-git-dir').trim(), on.dir);
    assert.equal(await stateOf(record()), 'ok');
    on.git(...ME, 'commit', '-q', '--allow-empty', '-m', 'by the operator, in the worktree');
    assert.deepEqual(await on.end(), []);
    assert.equal(on.git('rev-parse', '--absolute-git-dir').trim(), record().git_dir);
    assert.deepEqual([await stateOf(record()), record().turn_dir], ['ok', undefined]);
    assert.match(on.git('log', '-1', '--format=%s'), /by the operator/);
  });

  it('has no stash of another worktree to pop', async (t) => {
    const on = await begun(t);
    assert.equal(on.git('stash', 'list'), '');
    assert.throws(() => on.git('stash', 'pop'));
    await on.end();
    assert.match(on.main('stash', 'list'), /mine/);
  });

  it('is taken in by the next daemon, where one is killed: once, with all that it says', async (t) => {
    const on = await begun(t);
    writeFiles(on.path, { 'b.txt': 'b\n', 'c.txt': 'c\n' });
    on.git('add', 'b.txt');
    on.git(...ME, 'commit', '-qm', 'before the end');
    on.git('branch', 'aside');
    on.git('add', 'c.txt');
    const { running, item } = on.test;
    await running.restart();
    const { layout } = running.service.store;
    assert.deepEqual(readdirSync(layout.repositories), []);
    assert.equal(on.git('log', '-1', '--format=%s').trim(), 'before the end');
    assert.equal(on.git('status', '--short'), 'A  c.txt\n');
    assert.equal(await stateOf(getWorktree(running.service.store, item.id)), 'ok');
    assert.match(
      on.main('for-each-ref', '--format=%(refname)', 'refs/dossier/undone'),
      /heads\/aside/,
    );
    await running.restart();
    assert.equal(on.git('log', '-1', '--format=%s').trim(), 'before the end');
  });
});

describe('a turn', () => {
  it('keeps all that it began with from git gc, whatever the operator deletes', async (t) => {
    const on = await begun(t, 'auto');
    on.main('switch', '-q', '-c', 'gone');
    on.main(...ME, 'commit', '-q', '--allow-empty', '-m', 'gone');
    await on.end();
    const { service } = on.test.running;
    const again = await openTurn(service, getWorktree(service.store, on.test.item.id), {
      marker: NOBODY,
      session_id: NOBODY,
    });
    on.main('switch', '-q', 'main');
    on.main('branch', '-q', '-D', 'gone', 'other');
    on.main('tag', '-d', 'v1');
    on.main('reflog', 'expire', '--expire=now', '--all');
    on.main('gc', '--quiet', '--prune=now');
    assert.equal(on.agent('log', '-1', '--format=%s', 'gone').trim(), 'gone');
    assert.equal(on.agent('cat-file', '-t', 'v1').trim(), 'tag');
    on.agent('fsck');
    on.agent('commit', '-q', '--allow-empty', '-m', 'mine');
    await again.close(() => undefined);
    assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine');
    assert.throws(() => on.main('rev-parse', '--verify', '--quiet', 'refs/heads/gone'));
    assert.equal(on.main('for-each-ref', 'refs/dossier/pins'), '');
  });

  it('moves no branch that the operator moved meanwhile: both have what they did', {
    skip: skipOf('auto'),
  }, async (t) => {
    const on = await begun(t, 'auto');
    on.git(...ME, 'commit', '-q', '--allow-empty', '-m', 'the operator');
    const mine = on.git('rev-parse', 'HEAD');
    on.agent('commit', '-q', '--allow-empty', '-m', 'the agent');
    const its = on.agent('rev-parse', 'HEAD').trim();
    const told = await on.end();
    assert.deepEqual(
      told.map(({ code }) => code),
      ['branch_held', 'refs_kept'],
    );
    assert.equal(on.git('rev-parse', 'HEAD'), mine);
    assert.equal(on.main('rev-parse', told[1]?.refs?.[0]?.kept_ref ?? '').trim(), its);
  });

  it('moves no branch that is checked out elsewhere, too', { skip: skipOf('auto') }, async (t) => {
    const on = await begun(t, 'auto');
    const before = on.git('rev-parse', 'HEAD');
    on.main(
      'checkout',
      '-q',
      '--ignore-other-worktrees',
      on.git('branch', '--show-current').trim(),
    );
    on.agent('commit', '-q', '--allow-empty', '-m', 'the agent');
    const [held] = await on.end();
    assert.match(held?.message ?? '', /checked out at/);
    assert.deepEqual([on.git('rev-parse', 'HEAD'), on.main('status', '--short')], [before, '']);
  });

  it('keeps commits that were made on no branch', {
    skip: skipOf('auto'),
  }, async (t) => {
    const on = await begun(t, 'auto');
    on.agent('checkout', '-q', '--detach');
    on.agent('commit', '-q', '--allow-empty', '-m', 'on no branch');
    const detached = on.agent('rev-parse', 'HEAD').trim();
    on.agent('checkout', '-q', '-');
    on.agent('checkout', '-q', '--detach', detached);
    const told = await on.end();
    assert.deepEqual(
      told.map(({ code, refs }) => [code, refs?.map(({ ref }) => ref)]),
      [['refs_kept', ['refs/HEAD']]],
    );
    assert.equal(on.main('rev-parse', told[0]?.refs?.[0]?.kept_ref ?? '').trim(), detached);
    assert.match(on.git('symbolic-ref', 'HEAD'), /refs\/heads\/work/);
  });

  it("keeps commits that were reset away, the operator's among them", async (t) => {
    const on = await begun(t);
    writeFiles(on.path, { 'b.txt': 'b\n' });
    on.git('add', 'b.txt');
    on.git(...ME, 'commit', '-qm', 'mine');
    const mine = on.git('rev-parse', 'HEAD').trim();
    on.agent('reset', '-q', '--hard', 'HEAD~1');
    on.agent('commit', '-q', '--allow-empty', '-m', 'its own');
    on.agent('commit', '-q', '--amend', '--allow-empty', '-m', 'better');
    const [told, ...more] = await on.end();
    assert.deepEqual([told?.refs?.length, more], [1, []]);
    const ref = told?.refs?.[0]?.kept_ref ?? '';
    assert.match(told?.message ?? '', /reset away/);
    assert.match(
      on.main('log', '--format=%s', ref),
      /^its own$[\s\S]*^mine$|^mine$[\s\S]*^its own$/m,
    );
    assert.equal(on.main('show', `${mine}:b.txt`), 'b\n');
    assert.equal(on.git('log', '-1', '--format=%s').trim(), 'better');
  });

  for (const [how, args] of [
    ['reset away', ['reset', '-q', '--hard', 'HEAD~1']],
    ['amended', ['commit', '-q', '--amend', '-m', 'other']],
  ] as const)
    for (const sandbox of ['off', 'auto'] as const)
      it(`keeps the commit that it began with, ${how} with the sandbox ${sandbox}, and names it`, {
        skip: skipOf(sandbox),
      }, async (t) => {
        const on = await gitScene(t, sandbox);
        writeFiles(on.path, { 'mine.txt': 'mine\n' });
        on.git('add', 'mine.txt');
        on.git(...ME, 'commit', '-qm', 'mine');
        const mine = on.git('rev-parse', 'HEAD').trim();
        await on.work(`git ${args.join(' ')}; echo 2 > two.txt`);
        assert.throws(() => on.git('merge-base', '--is-ancestor', mine, 'HEAD'));
        const ref = on.main('for-each-ref', '--format=%(refname)', '--contains', mine).trim();
        assert.match(ref, /^refs\/dossier\/undone\/.*\/replaced-commits$/);
        const [told, ...more] = await on.told();
        assert.deepEqual([told?.code, more], ['refs_kept', []]);
        for (const text of [String(told?.message), on.summary()])
          assert.ok(
            text.includes(
              `commits, including ${mine.slice(0, 12)}, which it started from. They are kept, as the parents of ${ref}.`,
            ),
            text,
          );
        assert.match(on.summary(), /^## Git, besides the branch$/m);
        const kept = await on.test.running.call<{ ref: string }[]>(
          'GET',
          `/api/worktrees/${on.test.item.id}/recoveries`,
        );
        assert.deepEqual(
          kept.body.map((one) => one.ref),
          [ref.replace('/replaced-commits', '')],
        );
        on.main('reflog', 'expire', '--expire=now', '--all');
        on.git('reflog', 'expire', '--expire=now', '--all');
        on.main('gc', '--quiet', '--prune=now');
        assert.equal(on.main('show', `${mine}:mine.txt`), 'mine\n');
      });

  it('keeps the commit that it began with, where a daemon is killed meanwhile, each time', async (t) => {
    const on = await begun(t);
    const refs = () => on.main('for-each-ref', '--format=%(refname)', '--contains', mine).trim();
    await on.end();
    on.git(...ME, 'commit', '-q', '--allow-empty', '-m', 'mine');
    const mine = on.git('rev-parse', 'HEAD').trim();
    const { running, item } = on.test;
    const begin = () =>
      openTurn(running.service, getWorktree(running.service.store, item.id), {
        marker: NOBODY,
        session_id: NOBODY,
      });
    await begin();
    on.git('reset', '-q', '--hard', 'HEAD~1');
    await running.restart();
    assert.match(refs(), /^refs\/dossier\/undone\/\S+\/replaced-commits$/);
    // It is on the branch again, and lost once more: it is told once more.
    on.git('reset', '-q', '--hard', mine);
    const turn = await begin();
    on.git('reset', '-q', '--hard', 'HEAD~1');
    const told: TurnNotice[] = [];
    await turn.close((all) => told.push(...all));
    assert.deepEqual(
      told.flatMap(({ refs: kept }) => kept ?? []).map(({ before }) => before),
      [mine],
    );
    assert.equal(refs().split('\n').length, 2);
  });

  it('says nothing of commits that it went on from, or that another branch has', async (t) => {
    const on = await begun(t);
    on.git('branch', 'backup');
    on.git(...ME, 'commit', '-q', '--allow-empty', '-m', 'more');
    on.git('switch', '-q', 'backup');
    on.git('switch', '-q', '-');
    const told = await on.end();
    assert.deepEqual(
      told.flatMap(({ refs = [] }) => refs.map(({ ref }) => ref)),
      ['refs/heads/backup'],
    );
  });

  it('takes in what git-lfs stored, if it is what its name says', async (t) => {
    const on = await begun(t);
    const text = 'a large file\n';
    const oid = createHash('sha256').update(text).digest('hex');
    const place = (id: string) => join('lfs/objects', id.slice(0, 2), id.slice(2, 4));
    const lie = 'f'.repeat(64);
    for (const id of [oid, lie]) {
      mkdirSync(join(on.dir, place(id)), { recursive: true });
      writeFileSync(join(on.dir, place(id), id), text);
    }
    await on.end();
    const common = join(on.test.running.repository.root, '.git');
    assert.equal(readFileSync(join(common, place(oid), oid), 'utf8'), text);
    assert.equal(existsSync(join(common, place(lie), lie)), false);
  });
});

const attachedClone = async (on: Scene, clone: TestRepository): Promise<void> => {
  const { running, item } = on.test;
  await running.call('DELETE', `/api/cases/${item.id}/worktree`);
  const attached = await running.call<Case>('POST', `/api/worktrees/${item.id}/attach`, {
    path: clone.root,
  });
  assert.equal(attached.status, 201, attached.text);
};

const cloneWithCommit = async (t: TestContext, on: Scene) => {
  const clone = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  clone.git('switch', '-q', '-c', 'work');
  clone.git(...ME, 'commit', '-q', '--allow-empty', '-m', 'mine');
  await attachedClone(on, clone);
  return { clone, mine: clone.git('rev-parse', 'HEAD').trim() };
};

describe('an attached clone without a sandbox whose daemon is killed in a turn', () => {
  it('keeps the commit that the turn began with and reset away, and the session names it', async (t) => {
    const on = await gitScene(t, 'off');
    const { clone, mine } = await cloneWithCommit(t, on);
    const { running, item, planned, eventsOf } = on.test;
    const { id } = await planned();
    await openTurn(running.service, getWorktree(running.service.store, item.id), {
      marker: NOBODY,
      session_id: id,
    });
    clone.git('reset', '-q', '--hard', 'HEAD~1');
    clone.git('reflog', 'expire', '--expire=now', '--all');
    clone.git('gc', '--quiet', '--prune=now');
    await running.restart();
    const refs = clone.git('for-each-ref', '--format=%(refname)', '--contains', mine).trim();
    assert.match(refs, /^refs\/dossier\/undone\/\S+\/replaced-commits$/);
    const told = (await eventsOf(id)).filter(({ data }) => data.code === 'refs_kept');
    assert.deepEqual(
      told.map(({ data }) =>
        String(data.message).includes(`${mine.slice(0, 12)}, which it started from`),
      ),
      [true],
    );
  });

  it('starts without a word where the clone is gone', async (t) => {
    const on = await gitScene(t, 'off');
    const { clone } = await cloneWithCommit(t, on);
    const { running, item, planned, eventsOf } = on.test;
    const { id } = await planned();
    const { layout } = running.service.store;
    await openTurn(running.service, getWorktree(running.service.store, item.id), {
      marker: NOBODY,
      session_id: id,
    });
    rmSync(clone.root, { recursive: true });
    await running.restart();
    assert.deepEqual(
      (await eventsOf(id)).filter(({ data }) => data.code === 'repository_kept'),
      [],
    );
    assert.deepEqual(turnOwners(layout), []);
  });
});

describe('an attached clone, with the sandbox off or on', () => {
  for (const sandbox of ['off', 'auto'] as const)
    it(`keeps its commit that a session reset away, with the sandbox ${sandbox}`, {
      skip: skipOf(sandbox),
    }, async (t) => {
      const on = await gitScene(t, sandbox);
      const { clone, mine } = await cloneWithCommit(t, on);
      await on.work('git reset -q --hard HEAD~1; echo 2 > two.txt');
      assert.match(
        clone.git('for-each-ref', '--format=%(refname)', '--contains', mine).trim(),
        /^refs\/dossier\/undone\/\S+\/replaced-commits$/,
      );
      assert.match(
        on.summary(),
        new RegExp(`including ${mine.slice(0, 12)}, which it started from`),
      );
    });
});

describe('an attached clone', { skip: skipOf('auto') }, () => {
  it('is worked in by a repository that lies over its own, and comes to no other harm', async (t) => {
    const on = await gitScene(t, 'auto');
    const clone = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    clone.git('switch', '-q', '-c', 'work');
    clone.git('tag', '-a', 'v1', '-m', 'v1');
    writeFiles(clone.root, { 'a.txt': 'stashed\n' });
    clone.git('stash', 'push', '-q');
    await attachedClone(on, clone);
    const before = [
      clone.git('rev-parse', 'refs/heads/main', 'v1', 'refs/stash'),
      readFileSync(join(clone.root, '.git/config'), 'utf8'),
    ];
    const output = await on.work(
      'git log --oneline -1; git cat-file -t v1; echo evil > .git/commondir; git config core.fsmonitor x; echo x >> a.txt; rm .git/commondir; git commit -qam mine && echo committed; git update-ref refs/heads/main HEAD; git stash list; echo evil > .git/commondir; rm -rf .git/objects/info .git/refs/tags; echo y > b.txt',
    );
    assert.match(output, /start\ntag\n[\s\S]*committed/);
    assert.deepEqual(
      [
        clone.git('rev-parse', 'refs/heads/main', 'v1', 'refs/stash'),
        readFileSync(join(clone.root, '.git/config'), 'utf8'),
      ],
      before,
    );
    assert.equal(existsSync(join(clone.root, '.git/commondir')), false);
    assert.equal(clone.git('log', '-1', '--format=%s').trim(), 'mine');
    assert.equal(clone.git('status', '--short'), '?? b.txt\n');
  });
});
