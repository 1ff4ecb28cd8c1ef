import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findBacklog } from '../../../store/archive/backlog-files.ts';
import { isDirectoryItself, statsAt } from '../../../store/fs/plain-path.ts';
import { beginningOf, type TaskSource } from './task-source.ts';

/** Tasks of another tool that were found but not read yet. */
export interface FoundTasks {
  tool: string;
  /** The path that leads to these tasks alone. */
  path: string;
  read: (env: NodeJS.ProcessEnv) => Promise<TaskSource>;
}

interface Tool {
  tool: string;
  /** The path of the tool's tasks in a path; undefined if there are none. */
  find: (path: string) => string | undefined;
  /** Loads the reader. */
  open: () => Promise<{
    readTasks: (path: string, env: NodeJS.ProcessEnv) => TaskSource | Promise<TaskSource>;
  }>;
}

/** The tasks of all known tools in a file or directory. */
export const findTasks = (path: string): FoundTasks[] =>
  TOOLS.flatMap(({ tool, find, open }) => {
    const at = find(path);
    if (at === undefined) return [];
    return [{ tool, path: at, read: async (env) => (await open()).readTasks(at, env) }];
  });

const findBelow = (path: string, name: string, ...inside: string[]): string | undefined => {
  if (basename(path) === name && inside.some((each) => isThere(join(path, each)))) return path;
  const dir = join(path, name);
  return inside.some((each) => isThere(join(dir, each))) ? dir : undefined;
};

const isThere = (path: string): boolean => statsAt(path) !== undefined;
const isFile = (path: string): boolean => statsAt(path)?.isFile() === true;

const firstFile = (path: string, names: readonly string[]): string | undefined =>
  names.map((name) => join(path, name)).find(isFile);

// Returns the project's own folder if that alone identifies the project.
const findProject = (path: string): string | undefined => {
  const place = findBacklog(path);
  if (place === undefined) return undefined;
  const isWhole = dirname(place.config) === place.dir && isThere(join(place.dir, 'tasks'));
  return isWhole ? place.dir : path;
};

const findBeads = (path: string): string | undefined => {
  if (isFile(path)) return path.endsWith('.jsonl') ? path : undefined;
  const dir = basename(path) === '.beads' ? path : join(path, '.beads');
  if (!isDirectoryItself(dir)) return undefined;
  return firstFile(dir, BEADS) ?? onlyFile(dir);
};

const BEADS = ['issues.jsonl', 'beads.jsonl'];
// Other files that beads keeps beside the issues.
const NO_ISSUES =
  /^(?:deletions|interactions|routes|molecules|events)|\.(?:base|left|right|orig)\./;

// The name can be configured (`export.path`).
const onlyFile = (dir: string): string | undefined => {
  const names = readdirSync(dir).filter(
    (name) => name.endsWith('.jsonl') && !NO_ISSUES.test(name) && isFile(join(dir, name)),
  );
  return names.length === 1 ? join(dir, names[0] ?? '') : undefined;
};

const BOARD = 'board.json';

const findBoards = (path: string): string | undefined => {
  if (basename(path) === BOARD && isFile(path)) return dirname(path);
  if (isFile(join(path, BOARD))) return path;
  return findBelow(path, 'workspaces', 'index.json');
};

const findDatabase = (path: string): string | undefined => {
  const file = isFile(path) ? path : firstFile(path, ['db.v2.sqlite', 'db.sqlite']);
  return file !== undefined && beginningOf(file, 16) === 'SQLite format 3\0' ? file : undefined;
};

const TOOLS: readonly Tool[] = [
  {
    tool: 'Backlog.md',
    find: findProject,
    open: () => import('./from-backlog.ts'),
  },
  { tool: 'beads', find: findBeads, open: () => import('./from-beads.ts') },
  {
    tool: 'veritas-kanban',
    find: (path) => findBelow(path, 'tasks', 'active', 'backlog'),
    open: () => import('./from-veritas.ts'),
  },
  { tool: 'Cline Kanban', find: findBoards, open: () => import('./from-cline.ts') },
  { tool: 'vibe-kanban', find: findDatabase, open: () => import('./from-vibe.ts') },
];
