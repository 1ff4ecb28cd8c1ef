import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import { type OpenOptions, type OpenStore, openStore } from '../../store/open.ts';
import { atEnd } from './at-end.ts';
import { STATE_DIR } from './state-dir.ts';

export interface TestWorkspace extends OpenStore {
  root: string;
  /** What went wrong where nobody waited. */
  reported: [string, unknown][];
}

export const makeRoot = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'dossier-')));

/** A store on this root, compared with its files. */
export const openCompared = async (root: string, options: OpenOptions): Promise<OpenStore> => {
  const open = await openStore(root, options);
  await open.compare().catch(async (error: unknown) => {
    await open.close();
    throw error;
  });
  return open;
};

/** A real store on this root, as the next life of a daemon opens it. */
export const openRoot = async (root: string): Promise<TestWorkspace> => {
  const reported: TestWorkspace['reported'] = [];
  const open = await openCompared(root, {
    state: STATE_DIR,
    clock: () => new Date(),
    follow: () => undefined,
    report: (error, what) => reported.push([what, error]),
    trust: true,
  });
  return Object.assign(open, { root, reported });
};

/** A real store on a temporary root, both gone when the test is over. */
export const openWorkspace = async (t: TestContext): Promise<TestWorkspace> => {
  const open = await openRoot(makeRoot());
  atEnd(t, async () => {
    await open.close();
    rmSync(open.root, { recursive: true, force: true });
  });
  return open;
};

/** Every file outside `.dossier/`, with its text. */
export const filesOf = (root: string): Map<string, string> => {
  const files = filesBelow(root)
    .map((path) => relative(root, path))
    .filter((name) => !name.startsWith('.dossier'));
  return new Map(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
};

// Not readdir's own `recursive`: in newer Nodes it follows links.
const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
