import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createCallContext } from '../../../store/base/call-context.ts';

const signal = () => {
  let done = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { given, give: () => done() };
};

describe('createCallContext', () => {
  it('carries a value through what a call awaits, and each call its own', async () => {
    const context = createCallContext<string>();
    const read = async (): Promise<(string | undefined)[]> => {
      const first = context.get();
      await turn();
      const timed = await new Promise<string | undefined>((resolve) =>
        setTimeout(() => resolve(context.get()), 1),
      );
      return [first, timed, context.get()];
    };
    const both = ['a', 'b'].map((value) => context.run(value, read));
    assert.deepEqual(await Promise.all(both), [
      ['a', 'a', 'a'],
      ['b', 'b', 'b'],
    ]);
    assert.equal(context.get(), undefined);
  });

  it('keeps the value of a call that began before the others ended, and of one that begins later', async () => {
    const context = createCallContext<string>();
    const ended = signal();
    const long = context.run('long', async () => {
      await ended.given;
      await turn();
      return context.get();
    });
    await context.run('short', turn);
    ended.give();
    assert.equal(await long, 'long');
    assert.equal(await context.run('later', async () => turn(context.get())), 'later');
  });

  it('carries nothing after the call ended, whatever it left running, and while another runs', async () => {
    const context = createCallContext<string>();
    const ended = signal();
    const left: Promise<string | undefined>[] = [];
    const call = () =>
      context.run('call', async () => {
        left.push(ended.given.then(() => context.get()));
      });
    await call();
    await context.run('other', async () => {
      await call();
      ended.give();
      await left[1];
    });
    assert.deepEqual(await Promise.all(left), [undefined, undefined]);
  });

  it('carries nothing into what is not the call’s own, and ends with an error as with an answer', async () => {
    const context = createCallContext<string>();
    const refused = context.run('call', async () => {
      const seen = [context.without(() => context.get()), context.get()];
      await turn();
      throw new Error(String(seen));
    });
    await assert.rejects(refused, /^Error: ,call$/);
    assert.equal(context.get(), undefined);
  });
});
