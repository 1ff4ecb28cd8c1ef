import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../base/or-else.ts';

export interface Guide {
  /** Its title, as a word. */
  topic: string;
  /** Its first line: what it is about. */
  summary: string;
  text: string;
}

// The bundle's chunks are in dist/chunks, and the guides in their folders beside dist: in a clone and in the package.
const ROOT = join(import.meta.dirname, '../..');

/** The guides for operators: each README.md below lib/, routes/ and store/, and SECURITY.md. By topic; none where they are not there. */
export const readGuides = (root = ROOT): Guide[] =>
  ['.github', 'lib', 'routes', 'store']
    .flatMap((folder) => filesIn(join(root, folder)))
    .filter((path) => /(?:README|SECURITY)\.md$/.test(path))
    .map((path) => guideOf(readFileSync(path, 'utf8')))
    .toSorted((a, b) => (a.topic < b.topic ? -1 : 1));

/** The guide whose topic this is, or whose topic has it as one of its words. */
export const guideFor = (guides: readonly Guide[], word: string): Guide | undefined =>
  guides.find(({ topic }) => topic === word) ??
  guides.find(({ topic }) => topic.split('-').includes(word));

// None where the bundle was copied to another place by itself.
const filesIn = (folder: string): string[] =>
  orElse(() => readdirSync(folder, { recursive: true }), []).map((name) =>
    join(folder, String(name)),
  );

const guideOf = (text: string): Guide => {
  const [title = '', summary = ''] = text.split('\n').filter((line) => line !== '');
  const topic = title.replace(/^# /, '').toLowerCase().replaceAll(' ', '-');
  return { topic, summary, text };
};
