/** `dossier attach` at a terminal of tmux, which answers what interfaces ask of their terminal, and can be looked at. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from '../../helpers/at-end.ts';
import { DOSSIER } from '../../helpers/daemon.ts';
import { eventually } from '../../helpers/eventually.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import type { RealSession } from './session.ts';

export interface Screen {
  text(): string;
  /** Resolves once the screen shows this. */
  shows(wanted: RegExp): Promise<void>;
  /** Types words, and enters them until this holds. */
  enter(words: string, holds: () => void): Promise<void>;
  press(key: string): void;
  /** Whether modes of the line and of the terminal are as before the command. */
  isRestored(): boolean;
  /** Closes the terminal with all that runs there. */
  close(): void;
}

const PATIENCE_MS = 60_000;
// For Codex, Enter soon after fast typing belongs to a paste.
const AGAIN_MS = 3000;

/** Attaches to the session of a Work item at a terminal of its own. Once it has ended, the screen shows `ended` and its code. */
export const attachAt = (t: TestContext, { workspace, id }: RealSession): Screen => {
  const dir = temporaryDirectory(t);
  const server = `dossier-${randomUUID()}`;
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  const attach = `'${process.execPath}' '${DOSSIER}' attach ${id} --workspace '${workspace}'`;
  const modes = (name: string): string => `stty -g > '${join(dir, name)}'`;
  const script = `${modes('before')}; ${attach}; code=$?; ${modes('after')}; echo "ended $code"; cat`;
  tmux('new-session', '-d', '-x', '120', '-y', '40', script);
  const close = (): void => {
    tmux('kill-server');
  };
  atEnd(t, () => {
    try {
      close();
    } catch {
      // It was closed before.
    }
  });
  const text = (): string => tmux('capture-pane', '-p');
  const shows = (wanted: RegExp): Promise<void> =>
    eventually(() => assert.match(text(), wanted), PATIENCE_MS);
  const press = (key: string): void => {
    tmux('send-keys', key);
  };
  return {
    ...{ text, shows, press, close },
    enter: async (words, holds) => {
      tmux('send-keys', '-l', words);
      await shows(new RegExp(words));
      await eventually(() => {
        press('Enter');
        return eventually(holds, AGAIN_MS);
      }, PATIENCE_MS);
    },
    isRestored: () => {
      const [before, after] = ['before', 'after'].map((name) => readFileSync(join(dir, name)));
      const flags = '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag}';
      return (
        before?.equals(after as Buffer) === true &&
        tmux('display', '-p', flags).trim() === '0 1 0 0'
      );
    },
  };
};
