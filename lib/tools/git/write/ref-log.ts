import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from '../run/git.ts';
import { plainText } from '../run/plain-file.ts';

/** One update of a ref. */
export interface LogLine {
  /** The objects before and after; null if the ref did not exist. */
  from: string | null;
  to: string | null;
  /** The committer: `Name <address>`. */
  by: string;
  message: string;
  /** The raw line. */
  text: string;
}

/**
 * Reads the reflog of a ref, oldest entry first; empty without a log file. Names and lines are latin1. Reads the file, because
 * no git command lists entries of refs without commits.
 */
export const readRefLog = async ({ common_dir }: Checkout, ref: string): Promise<LogLine[]> => {
  // An agent may have replaced the file, for example with a pipe, which would block.
  const text = plainText(pathOf(common_dir, ref), Number.MAX_SAFE_INTEGER) ?? '';
  return text.split('\n').flatMap((line) => lineOf(line) ?? []);
};

/** Replaces the reflog of a ref. */
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

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.*>) \d+ [+-]\d{4}(?:\t(.*))?$/;

const lineOf = (text: string): LogLine | undefined => {
  const [, from, to, by, message = ''] = LINE.exec(text) ?? [];
  if (from === undefined || to === undefined || by === undefined) return undefined;
  return { from: orNull(from), to: orNull(to), by, message, text };
};

const orNull = (oid: string): string | null => (/^0+$/.test(oid) ? null : oid);
