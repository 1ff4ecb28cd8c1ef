import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, orElse } from '../../../store/base/attempt.ts';
import { editFile } from '../../tools/process/terminal.ts';
import { Refusal } from '../args/refusal.ts';
import { isTerminal } from './terminal.ts';

interface Text {
  text: string;
  /** The file's name, from which editors derive the language. */
  name: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Opens a text in the operator's editor, and calls `then` with the saved text. If that fails, a changed text is kept in a file
 * that the Refusal names.
 */
export const editText = async <T>(
  { text, name, env }: Text,
  then: (text: string) => Promise<T>,
): Promise<T> => {
  // Without a terminal, vi never ends.
  if (!isTerminal() && !env.VISUAL && !env.EDITOR)
    throw new Refusal(
      'There is no terminal for an editor. Set EDITOR to a program that needs none',
    );
  const place = mkdtempSync(join(tmpdir(), 'dossier-'));
  const path = join(place, name);
  writeFileSync(path, text, { mode: 0o600 });
  try {
    const failed = await editFile(path, env);
    if (failed !== undefined) throw new Refusal(failed);
    const done = await then(readFileSync(path, 'utf8'));
    rmSync(place, { recursive: true, force: true });
    return done;
  } catch (error) {
    if (orElse(() => readFileSync(path, 'utf8'), text, 'ENOENT') === text) {
      rmSync(place, { recursive: true, force: true });
      throw error;
    }
    throw new Refusal(`${messageOf(error)} Your text is kept in ${path}`);
  }
};
