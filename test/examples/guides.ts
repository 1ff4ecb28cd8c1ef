import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './run.ts';

export interface Text {
  /** In the project. */
  path: string;
  text: string;
}

const textsBelow = (folder: string): Text[] =>
  readdirSync(join(PROJECT, folder), { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((path) => /(?:GUIDE|SECURITY|\bguides\/[\w-]+)\.md$/.test(path))
    .toSorted()
    .map(textAt);

const textAt = (path: string): Text => ({ path, text: readFileSync(join(PROJECT, path), 'utf8') });

export const README = textAt('README.md').text;

/** Each guide for operators, wherever it stands. */
export const GUIDES = ['.github', 'lib', 'routes', 'store'].flatMap(textsBelow);

/** What an operator reads, and what a contributor reads. */
export const TEXTS = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'examples/README.md'].map(
    textAt,
  ),
  ...GUIDES,
  ...textsBelow('test'),
];

interface Block extends Text {
  language: string;
}

/** The fenced blocks of README.md and of every guide. */
export const BLOCKS: Block[] = [{ path: 'README.md', text: README }, ...GUIDES].flatMap(
  ({ path, text }) =>
    [...text.matchAll(/^(`{3,})(\w*)\n([\s\S]*?)^\1$/gm)].map(
      ([, , language = '', block = '']) => ({ path, language, text: block }),
    ),
);

/** The one fenced block of this language that begins so. */
export const block = (language: string, beginning: string): string => {
  const found = BLOCKS.filter(
    (known) => known.language === language && known.text.startsWith(beginning),
  );
  assert.equal(found.length, 1, `one ${language} block that begins with ${beginning}`);
  return found[0]?.text ?? '';
};
