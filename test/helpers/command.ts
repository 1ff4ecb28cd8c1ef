import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { killAtEnd } from './at-end.ts';
import { DOSSIER } from './daemon.ts';
import { stateOf } from './state-dir.ts';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Runs the command to its end. */
export const dossier = (t: TestContext, ...args: string[]): Promise<Ended> =>
  dossierIn(t, {}, args);

interface Where {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Which only root can ask for. */
  user?: { uid: number; gid: number };
  /** What stands on its standard input. */
  input?: string;
  /** Where its standard output goes, instead of into what is answered. */
  stdout?: number;
}

/** The same, in another environment or directory, or as another user. */
export const dossierIn = async (
  t: TestContext,
  { user, input, stdout: to, ...where }: Where,
  args: readonly string[],
): Promise<Ended> => {
  const child = spawn(process.execPath, [DOSSIER, ...args], {
    stdio: [input === undefined ? 'ignore' : 'pipe', to ?? 'pipe', 'pipe'],
    ...where,
    env: { ...(where.env ?? process.env), ...stateOf(user?.uid) },
    ...user,
  });
  killAtEnd(t, child);
  child.stdin?.end(input);
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => stream?.toArray());
  const [code, signal] = await once(child, 'exit');
  const text = async (parts: Promise<Buffer[]> | undefined) =>
    Buffer.concat((await parts) ?? []).toString();
  return { code, signal, stdout: await text(stdout), stderr: await text(stderr) };
};

/** One sentence or two for the operator, on one line, and no stack. */
export const assertSentence = ({ stderr, stdout }: Ended, pattern: RegExp): void => {
  assert.match(stderr, pattern);
  assert.match(stderr, /^dossier: [^\n]*(?:\.|: (?:dossier|git) [^\n]*)\n$/);
  assert.equal(stdout, '');
};
