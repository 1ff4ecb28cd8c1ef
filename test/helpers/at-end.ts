import type { ChildProcess } from 'node:child_process';
import type { TestContext } from 'node:test';

type Undo = () => unknown;

const undone = new WeakMap<TestContext, Undo[]>();

/**
 * Does this when the test is over: the last thing asked for first, so that a directory outlives the daemon that was
 * started on it. (`t.after` goes in the order of asking.) Each is done whatever became of the others.
 */
export const atEnd = (t: TestContext, undo: Undo): void => {
  const known = undone.get(t);
  if (known !== undefined) {
    known.push(undo);
    return;
  }
  const all = [undo];
  undone.set(t, all);
  t.after(async () => {
    const failed: unknown[] = [];
    // node:test keeps what a test was handed until all have run: a whole service would be held by each.
    for (const each of all.splice(0).toReversed()) {
      try {
        await each();
      } catch (error) {
        failed.push(error);
      }
    }
    if (failed.length > 0) throw failed[0];
  });
};

/** Kills this process when the test is over, if it is still there, and waits until it is gone. */
export const killAtEnd = (t: TestContext, child: ChildProcess): void => {
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  atEnd(t, () => {
    child.kill('SIGKILL');
    return gone;
  });
};
