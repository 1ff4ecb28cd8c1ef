import { lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from '../run/git.ts';

/** One update of a ref. */
export interface LogLine {
  /** What it pointed to before and after; null: it was not there. */
  from: string | null;
  to: string | null;
  /** Who did it, as git had it in its environment: `Name <address>`. */
  by: string;
  message: string;
  /** The whole of it, as it stands in the log. */
  text: string;
}

/**
 * What git noted of a ref's updates, oldest first; none where it notes nothing, or elsewhere than in a file. The ref is
 * named as read in latin1, byte for byte, and so are the answers. Read directly: there is no command that lists what has no commit.
 */
export const readRefLog = async ({ common_dir }: Checkout, ref: string): Promise<LogLine[]> => {
  const text = await contentOf(pathOf(common_dir, ref));
  return text.split('\n').flatMap((line) => lineOf(line) ?? []);
};

/** Makes lines the log of a ref, instead of what it has. */
export const writeRefLog = async (
  { common_dir }: Checkout,
  ref: string,
  lines: readonly LogLine[],
): Promise<void> => {
  const path = pathOf(common_dir, ref);
  const temporary = Buffer.concat([path, Buffer.from('.dossier')]);
  await writeFile(temporary, Buffer.from(lines.map(({ text }) => `${text}\n`).join(''), 'latin1'));
  await rename(temporary, path);
};

const pathOf = (common_dir: string, ref: string): Buffer =>
  Buffer.concat([Buffer.from(`${join(common_dir, 'logs')}/`), Buffer.from(ref, 'latin1')]);

// An agent may have put anything in its place, a pipe that nobody writes to among it.
const contentOf = async (path: Buffer): Promise<string> => {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() !== true) return '';
  return readFile(path, 'latin1').catch(() => '');
};

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.*>) \d+ [+-]\d{4}(?:\t(.*))?$/;

const lineOf = (text: string): LogLine | undefined => {
  const [, from, to, by, message = ''] = LINE.exec(text) ?? [];
  if (from === undefined || to === undefined || by === undefined) return undefined;
  return { from: orNull(from), to: orNull(to), by, message, text };
};

const orNull = (oid: string): string | null => (/^0+$/.test(oid) ? null : oid);
