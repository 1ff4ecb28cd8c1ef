import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from '../layout.ts';

/** Runs work in an empty directory of this machine's own, which is removed with all in it when the work has ended. */
export const inScratch = async <T>(
  { tmp }: Layout,
  work: (dir: string) => Promise<T>,
): Promise<T> => {
  const dir = join(tmp, randomUUID());
  mkdirSync(dir, { mode: 0o700 });
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

/** The same with texts in it, by the names of their files. */
export const withTexts = <T>(
  layout: Layout,
  texts: Readonly<Record<string, string>>,
  work: (dir: string) => Promise<T>,
): Promise<T> =>
  inScratch(layout, (dir) => {
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(dir, name), text);
    return work(dir);
  });
