import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockOn } from '../../base/locks.ts';
import { apart, createTurns, followLocks, holding } from '../../base/turns.ts';

const done = async (): Promise<void> => undefined;

describe('turns', () => {
  it('follow nothing until they are told to: the work is run as it is, and nested as anybody likes', async () => {
    assert.equal(holding(lockOn.git('r'), done), done);
    const turns = createTurns();
    await turns.take(lockOn.git('r'), () => turns.take(lockOn.item('a'), done));
    followLocks();
  });

  it('come one by one for a lock, and beside one another for two', async () => {
    const turns = createTurns();
    const said: string[] = [];
    let go: () => void = () => undefined;
    const first = turns.take(
      lockOn.item('a'),
      () => new Promise<void>((resolve) => (go = resolve)),
    );
    const second = turns.take(lockOn.item('a'), async () => void said.push('second'));
    await turns.take(lockOn.item('b'), async () => void said.push('beside'));
    assert.ok(turns.isBusy(lockOn.item('a')));
    go();
    await Promise.all([first, second]);
    assert.deepEqual(said, ['beside', 'second']);
    await turns.idle(lockOn.item('a'));
    assert.equal(turns.isBusy(lockOn.item('a')), false);
  });

  it('tell two kinds with the same name of something from one another', async () => {
    const turns = createTurns();
    const left: unknown[] = [];
    const told = createTurns((lock) => left.push(lock));
    await turns.take(lockOn.pull('a'), () => turns.take(lockOn.item('a'), done));
    await told.take(lockOn.pull('a'), done);
    assert.deepEqual(left, [{ kind: 'pull', of: 'a' }]);
  });

  it('go on after one that failed', async () => {
    const turns = createTurns();
    const failing = turns.take(lockOn.settings(), () => Promise.reject(new Error('no')));
    await Promise.all([assert.rejects(failing, /no/), turns.take(lockOn.settings(), done)]);
  });
});

describe('the order of locks', () => {
  it('is kept from the outside in', async () => {
    const turns = createTurns();
    const within = holding(lockOn.sessions('a'), () => turns.take(lockOn.item('a'), done));
    await turns.take(lockOn.worktree('a'), within);
  });

  it('refuses one that comes before what is held, in a sentence that names both', async () => {
    const turns = createTurns();
    const against = turns.take(lockOn.item('a'), async () =>
      turns.take(lockOn.worktree('a'), done),
    );
    await assert.rejects(against, /^Error: worktree a is asked for while item a is held: /);
    const waiting = turns.take(lockOn.item('a'), () => turns.idle(lockOn.decision('a')));
    await assert.rejects(waiting, /decision a is asked for while item a is held/);
    const other = createTurns();
    const elsewhere = turns.take(lockOn.host('h'), async () => other.take(lockOn.git('r'), done));
    await assert.rejects(elsewhere, /git r is asked for while host h is held/);
  });

  it('refuses whoever would wait for himself, and two of a kind', async () => {
    const turns = createTurns();
    const again = turns.take(lockOn.item('a'), async () => turns.take(lockOn.item('a'), done));
    await assert.rejects(again, /Whoever holds item a asks for it again, and would wait for ever/);
    const idle = turns.take(lockOn.start(), () => turns.idle(lockOn.start()));
    await assert.rejects(idle, /Whoever holds start asks for it again/);
    const two = turns.take(lockOn.item('a'), async () => turns.take(lockOn.item('b'), done));
    await assert.rejects(two, /item b is asked for while item a is held/);
  });

  it('does not bind what was begun in a turn that is over, nor what nobody in it waits for', async () => {
    const turns = createTurns();
    let go: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => (go = resolve));
    let later: Promise<void> = Promise.resolve();
    await turns.take(lockOn.item('a'), async () => {
      later = gone.then(() => turns.take(lockOn.worktree('a'), done));
      void apart(() => turns.take(lockOn.worktree('a'), done));
    });
    go();
    await later;
  });
});
