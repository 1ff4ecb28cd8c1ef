import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { type Layout, layoutOf } from '../../store/layout.ts';
import type { LOCK_PACE } from '../../store/workspace/daemon-lock.ts';
import type { Owner } from '../../store/workspace/owner.ts';
import { atEnd } from './at-end.ts';
import { temporaryDirectory } from './repository.ts';

export const IGNORE = { lost: () => undefined, regained: () => undefined };

export const place = (t: TestContext): Layout => {
  const layout = layoutOf(temporaryDirectory(t));
  mkdirSync(layout.dossier, { recursive: true });
  return layout;
};

export const ownerOf = ({ owner }: Layout): Owner =>
  JSON.parse(readFileSync(owner, 'utf8')) as Owner;

export interface Other {
  process: ChildProcess;
  /** What came of it: `won`, or why not. */
  said: Promise<string>;
  go(): void;
}

export const MODULES = ['workspace/daemon-lock.js', 'layout.js'].map(
  (name) => new URL(`../../store/${name}`, import.meta.url).href,
);
const SCRIPT = `
import { once } from 'node:events';
const [{ lockWorkspace, LOCK_PACE }, { layoutOf }] = await Promise.all(${JSON.stringify(MODULES)}.map((url) => import(url)));
process.stdout.write('ready\\n');
await once(process.stdin, 'data');
const ignore = () => undefined;
const pace = { ...LOCK_PACE, ...JSON.parse(process.argv[2]) };
const said = await lockWorkspace(layoutOf(process.argv[1]), { lost: ignore, regained: ignore }, pace).then(
  () => 'won',
  (error) => error.name + ': ' + error.message,
);
process.stdout.write(said.replaceAll('\\n', ' ') + '\\n');
setInterval(ignore, 1000);
`;

/** Another process that takes the lock when told to, and then stays; started by the program that `by` names. */
export const otherLock = async (
  t: TestContext,
  { root }: Layout,
  { by = [], pace = {} }: { by?: readonly string[]; pace?: Partial<typeof LOCK_PACE> } = {},
): Promise<Other> => {
  const node = [process.execPath, '--input-type=module', '-e', SCRIPT, root, JSON.stringify(pace)];
  const [file = '', ...args] = [...by, ...node];
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(t, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'ready');
  return {
    process: child,
    said: lines.next().then(({ value }) => String(value)),
    go: () => child.stdin.write('go\n'),
  };
};

/** A lock whose process was killed while it held it. */
export const deadLock = async (t: TestContext, layout: Layout): Promise<Owner> => {
  const one = await otherLock(t, layout);
  one.go();
  assert.equal(await one.said, 'won');
  one.process.kill('SIGKILL');
  await once(one.process, 'exit');
  return ownerOf(layout);
};
