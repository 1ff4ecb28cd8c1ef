import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { runScript } from '../../../lib/agents/script.ts';
import type { SandboxView } from '../../../lib/sandbox/view.ts';
import { missing } from '../../helpers/inside.ts';
import { depsFor, makePlace, specFor } from './fixture.ts';

const LIVE = { add: () => undefined, end: () => undefined };

// In a directory that is read-only inside, as where a socket was removed before bubblewrap could cover it.
const GONE = ['--ro-bind', '/dev/null', '/usr/gone.sock'];

/** Runs a script whose sandbox fails to cover a file so many times; also answers how often it was made. */
const run = async (t: TestContext, script: string, fails: number, end = false) => {
  const place = makePlace(t);
  const deps = depsFor(place, 'auto');
  let made = 0;
  const wrap = (argv: readonly string[], view: SandboxView): string[] => {
    const words = deps.sandbox.wrap(argv, view);
    made += 1;
    const at = words.indexOf('--ro-bind');
    return made > fails ? words : words.toSpliced(at + 3, 0, ...GONE);
  };
  const spec = specFor(place, 'work');
  const argv = ['/bin/sh', '-c', script];
  const box = { ...deps, sandbox: { ...deps.sandbox, wrap } };
  const ran = await runScript(spec, { argv, live: LIVE }, box, (program) => {
    if (end) void program.end();
  });
  return { ...ran, made };
};

describe('a script', { skip: missing }, () => {
  it('is started again where its sandbox failed before it began, and has no exit code where it never did', async (t) => {
    const script = 'echo once >> times; cat times';
    const { output, failure, exit_code, made } = await run(t, script, 2);
    assert.deepEqual([output, failure, exit_code, made], ['once\n', undefined, 0, 3]);
    const never = await run(t, script, 9);
    assert.deepEqual([never.exit_code, never.made], [null, 3]);
    assert.match(never.failure ?? '', /^could not be started: bwrap: .*gone\.sock.*[^\n]$/);
  });

  it('runs once, with its own exit code, whatever it says', async (t) => {
    const script = 'echo "bwrap: no" >&2; echo x >> times; cat times; exit 1';
    const { output, exit_code, made } = await run(t, script, 0);
    assert.deepEqual([output, exit_code, made], ['bwrap: no\nx\n', 1, 1]);
    const { failure, made: tries } = await run(t, 'exec /no/such/program', 0);
    assert.match(failure ?? '', /exit code 127/);
    assert.equal(tries, 1);
  });

  it('is not started again where it was ended', async (t) => {
    const { made } = await run(t, 'sleep 60', 9, true);
    assert.equal(made, 1);
  });
});

describe('a script whose network does not close', () => {
  it('has begun, as what it did is not known', async (t) => {
    const place = makePlace(t);
    const deps = depsFor(place);
    const open: typeof deps.network.open = (given) => ({
      ...deps.network.open(given),
      close: () => Promise.reject(new Error('no disk')),
    });
    const argv = ['/bin/sh', '-c', 'echo done'];
    const ran = await runScript(
      specFor(place, 'work'),
      { argv, live: LIVE },
      { ...deps, network: { ...deps.network, open } },
      () => undefined,
    );
    assert.deepEqual(
      [ran.failure, ran.exit_code, ran.not_begun, ran.output],
      ['ran, but its result is unknown: no disk', null, false, 'done\n'],
    );
  });
});
