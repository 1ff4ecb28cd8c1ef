import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makePlace, removePlace } from './place.ts';

export interface BenchWorkspace {
  root: string;
  ids: string[];
  files: string[];
  remove(): void;
}

const PER_MONTH = 400;

/** A workspace with `count` Work items of the usual size, as if cloned: no daemon has seen it yet. */
export const makeWorkspace = (count: number): BenchWorkspace => {
  const root = makePlace();
  const ids: string[] = [];
  const files: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const id = randomUUID();
    const dir = join(
      root,
      'cases',
      monthOf(index),
      `a-work-item-of-the-usual-size-${id.slice(0, 8)}`,
    );
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'case.md'), textOf(id, index));
    ids.push(id);
    files.push(join(dir, 'case.md'));
  }
  return { root, ids, files, remove: () => removePlace(root) };
};

const FURTHER = [
  'memory/notes.md',
  'memory/tasks.md',
  'proof/checklist.md',
  'sessions/2026-01-01T00-00-00Z-1a2b3c4d/session.md',
  'sessions/2026-01-01T00-00-00Z-1a2b3c4d/plan.md',
];

/** How many files a Work item of a full workspace has. */
export const FILES_OF_FULL = 1 + FURTHER.length;

/** The same with more files in each Work item. */
export const makeFullWorkspace = (count: number): BenchWorkspace => {
  const workspace = makeWorkspace(count);
  for (const file of workspace.files)
    for (const name of FURTHER) {
      const path = join(dirname(file), name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${'x'.repeat(700)}\n`);
    }
  return workspace;
};

// As a workspace grows: some hundred Work items a month.
const monthOf = (index: number): string => {
  const month = Math.floor(index / PER_MONTH);
  return `${2025 - Math.floor(month / 12)}-${String(12 - (month % 12)).padStart(2, '0')}`;
};

const textOf = (id: string, index: number): string =>
  [
    '---',
    `id: ${id}`,
    'title: A Work item of the usual size',
    'type: bug',
    'state: OPEN',
    'outcome: null',
    `created_at: 2026-01-01T00:00:00.${String(index % 1000).padStart(3, '0')}Z`,
    '---',
    '',
    'x'.repeat(600),
    '',
  ].join('\n');
