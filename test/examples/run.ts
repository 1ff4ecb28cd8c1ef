import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { killAtEnd } from '../helpers/at-end.ts';
import { eventually } from '../helpers/eventually.ts';

/** The root of the project: where README.md and examples/workspace are. */
export const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

export interface Example {
  /** What it wrote so far, to standard output and standard error. */
  written(): string;
  /** Resolves once it has written this. */
  says(pattern: RegExp): Promise<void>;
  /** What the operator types. */
  type(text: string): void;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<number | null>;
}

const LONGEST_MS = 60_000;

/** Runs an example the way its head comment says, in a process of its own that does not outlive the test. */
export const runExample = (
  t: TestContext,
  name: string,
  args: string[],
  env: Record<string, string> = {},
): Example => {
  const path = fileURLToPath(new URL(`../../examples/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...process.env, ...env },
    timeout: LONGEST_MS,
  });
  killAtEnd(t, child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return {
    written: () => text,
    says: (pattern) =>
      eventually(() => {
        if (!pattern.test(text)) throw new Error(`${name} did not say ${pattern}, but: ${text}`);
      }),
    type: (typed) => child.stdin.end(typed),
    signal: (signal) => {
      child.kill(signal);
    },
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
};
