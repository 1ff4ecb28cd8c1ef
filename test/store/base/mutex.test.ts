import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockOn } from '../../../store/base/locks.ts';
import { asHolder, checkLockOrder, createLocks, withoutLocks } from '../../../store/base/mutex.ts';

const done = async (): Promise<void> => undefined;

describe('turns', () => {
  it('follow nothing until they are told to: the work is run as it is, and nested as anybody likes', async () => {
    assert.equal(asHolder(lockOn.git('r'), done), done);
    const locks = createLocks();
    await locks.take(lockOn.git('r'), () => locks.take(lockOn.item('a'), done));
    checkLockOrder();
  });

  it('come one by one for a lock, and beside one another for two', async () => {
    const locks = createLocks();
    const said: string[] = [];
    let go: () => void = () => undefined;
    const first = locks.take(
      lockOn.item('a'),
      () => new Promise<void>((resolve) => (go = resolve)),
    );
    const second = locks.take(lockOn.item('a'), async () => void said.push('second'));
    await locks.take(lockOn.item('b'), async () => void said.push('beside'));
    assert.ok(locks.isTaken(lockOn.item('a')));
    go();
    await Promise.all([first, second]);
    assert.deepEqual(said, ['beside', 'second']);
    await locks.whenFree(lockOn.item('a'));
    assert.equal(locks.isTaken(lockOn.item('a')), false);
  });

  it('tell two kinds with the same name of something from one another', async () => {
    const locks = createLocks();
    const left: unknown[] = [];
    const told = createLocks((lock) => left.push(lock));
    await locks.take(lockOn.pull('a'), () => locks.take(lockOn.item('a'), done));
    await told.take(lockOn.pull('a'), done);
    assert.deepEqual(left, [{ kind: 'pull', of: 'a' }]);
  });

  it('go on after one that failed', async () => {
    const locks = createLocks();
    const failing = locks.take(lockOn.settings(), () => Promise.reject(new Error('no')));
    await Promise.all([assert.rejects(failing, /no/), locks.take(lockOn.settings(), done)]);
  });
});

describe('the order of locks', () => {
  it('is kept from the outside in', async () => {
    const locks = createLocks();
    const within = asHolder(lockOn.sessions('a'), () => locks.take(lockOn.item('a'), done));
    await locks.take(lockOn.worktree('a'), within);
  });

  it('refuses one that comes before what is held, in a sentence that names both', async () => {
    const locks = createLocks();
    const against = locks.take(lockOn.item('a'), async () =>
      locks.take(lockOn.worktree('a'), done),
    );
    await assert.rejects(against, /^Error: worktree a is requested while item a is held: /);
    const waiting = locks.take(lockOn.item('a'), () => locks.whenFree(lockOn.decision('a')));
    await assert.rejects(waiting, /decision a is requested while item a is held/);
    const other = createLocks();
    const elsewhere = locks.take(lockOn.host('h'), async () => other.take(lockOn.git('r'), done));
    await assert.rejects(elsewhere, /git r is requested while host h is held/);
  });

  it('refuses whoever would wait for himself, and two of a kind', async () => {
    const locks = createLocks();
    const again = locks.take(lockOn.item('a'), async () => locks.take(lockOn.item('a'), done));
    await assert.rejects(again, /Deadlock: item a is requested by its holder/);
    const idle = locks.take(lockOn.start(), () => locks.whenFree(lockOn.start()));
    await assert.rejects(idle, /Deadlock: start is requested by its holder/);
    const two = locks.take(lockOn.item('a'), async () => locks.take(lockOn.item('b'), done));
    await assert.rejects(two, /item b is requested while item a is held/);
  });

  it('does not bind what was begun in a turn that is over, nor what nobody in it waits for', async () => {
    const locks = createLocks();
    let go: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => (go = resolve));
    let later: Promise<void> = Promise.resolve();
    await locks.take(lockOn.item('a'), async () => {
      later = gone.then(() => locks.take(lockOn.worktree('a'), done));
      void withoutLocks(() => locks.take(lockOn.worktree('a'), done));
    });
    go();
    await later;
  });
});
