import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** What the browser loads, under names that change with their content. */
export interface Assets {
  style: string;
  script: string;
  worker: string;
  /** Of each file of pages/, the files that it cannot run without. */
  parts: Readonly<Record<string, readonly string[]>>;
}

const MANIFEST = 'manifest.json';

// Beside the bundle's chunks, or beside what the compiler makes of each file: in both below dist.
const FOLDER = ['../console/', '../../console/']
  .map((path) => new URL(path, import.meta.url))
  .find((folder) => existsSync(new URL(MANIFEST, folder)));

/** As the build made them. */
export const assets: Assets = JSON.parse(readFileSync(new URL(MANIFEST, FOLDER), 'utf8'));

/** A file that pages load, by its name; undefined where there is none. */
export const asset = async (name: string): Promise<{ bytes: Buffer; type: string } | undefined> => {
  const [, kind = ''] = /^[\w-]+\.(js|css)$/.exec(name) ?? [];
  const path = new URL(name, FOLDER);
  if (kind === '' || !existsSync(path)) return undefined;
  const type = kind === 'js' ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8';
  return { bytes: await readFile(path), type };
};
