import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { killAtEnd } from './at-end.ts';
import { DOSSIER } from './daemon.ts';

/** Why nothing can be typed at a terminal here, or false. */
export const noTerminal =
  process.env.CI !== 'true' && spawnSync('python3', ['--version']).status !== 0
    ? 'python3 is not installed: install the package python3'
    : false;

const PTY =
  'import pty, os, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])) % 256)';

interface Shown {
  code: number | null;
  /** What stood on the terminal, with `^` for its escapes. */
  text: string;
}

/** Runs the command at a terminal. Each answer is typed once what it answers is shown, in this order. */
export const atTerminal = async (
  t: TestContext,
  args: readonly string[],
  answers: readonly (readonly [RegExp, string | (() => unknown)])[] = [],
  { env, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Shown> => {
  const child = spawn('python3', ['-c', PTY, process.execPath, DOSSIER, ...args], {
    env: { ...process.env, TERM: 'xterm', PAGER: 'cat', NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(cwd !== undefined && { cwd }),
  });
  killAtEnd(t, child);
  // Where the command ends while an answer is made, nobody reads it.
  child.stdin.on('error', (error: NodeJS.ErrnoException) => assert.equal(error.code, 'EPIPE'));
  const left = [...answers];
  let [text, seen] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', async (piece: string) => {
    text += piece;
    for (let [next] = left; next !== undefined; [next] = left) {
      const found = next[0].exec(text.slice(seen));
      if (found === null) return;
      left.shift();
      seen += found.index + found[0].length;
      const [, typed] = next;
      child.stdin.write(typeof typed === 'string' ? typed : String(await typed()));
    }
  });
  const [code] = await once(child, 'close');
  return { code, text: text.replaceAll('\u001b', '^').replaceAll('\r\n', '\n') };
};
