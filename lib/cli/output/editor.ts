import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, orElse } from '../../../store/base/attempt.ts';
import { editFile } from '../../tools/process/terminal.ts';
import { Refusal } from '../args/refusal.ts';

interface Text {
  text: string;
  /** Of the file, by which editors know what it is. */
  name: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Lets the operator edit a text, and does `then` with what was saved. Where that fails, the text stays in a file that the
 * Refusal names; one that is as it was is not kept.
 */
export const edited = async <T>(
  { text, name, env }: Text,
  then: (text: string) => Promise<T>,
): Promise<T> => {
  const place = mkdtempSync(join(tmpdir(), 'dossier-'));
  const path = join(place, name);
  writeFileSync(path, text, { mode: 0o600 });
  try {
    const done = await editAndDo(path, env, then);
    rmSync(place, { recursive: true, force: true });
    return done;
  } catch (error) {
    if (orElse(() => readFileSync(path, 'utf8'), text, 'ENOENT') === text) {
      rmSync(place, { recursive: true, force: true });
      throw error;
    }
    throw new Refusal(`${messageOf(error)} What you wrote is kept in ${path}`);
  }
};

const editAndDo = async <T>(
  path: string,
  env: NodeJS.ProcessEnv,
  then: (text: string) => Promise<T>,
): Promise<T> => {
  const failed = await editFile(path, env);
  if (failed !== undefined) throw new Refusal(failed);
  return then(readFileSync(path, 'utf8'));
};
