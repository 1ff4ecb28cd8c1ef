import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** The files that the browser loads. Their names change with their content. */
interface Assets {
  style: string;
  script: string;
  worker: string;
  /** The files that each module of pages/ needs, by the module's name. */
  parts: Readonly<Record<string, readonly string[]>>;
}

const MANIFEST = 'manifest.json';

// Next to the bundle's chunks, or next to the compiled modules; both are below dist.
const FOLDER = ['../console/', '../../console/']
  .map((path) => new URL(path, import.meta.url))
  .find((folder) => existsSync(new URL(MANIFEST, folder)));

/** The manifest of the build. */
export const assets: Assets = JSON.parse(readFileSync(new URL(MANIFEST, FOLDER), 'utf8'));

/** Reads a file that pages load; undefined if there is none of that name. */
export const asset = async (name: string): Promise<{ bytes: Buffer; type: string } | undefined> => {
  const [, kind = ''] = /^[\w-]+\.(js|css)$/.exec(name) ?? [];
  const path = new URL(name, FOLDER);
  if (kind === '' || !existsSync(path)) return undefined;
  const type = kind === 'js' ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8';
  return { bytes: await readFile(path), type };
};
