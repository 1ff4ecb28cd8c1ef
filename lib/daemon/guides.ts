import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import type { Guide } from '../../store/records/system.ts';
import { ServiceError } from '../errors.ts';

// This file is in lib/daemon, dist/lib/daemon or, bundled, dist/chunks. The guides are in their folders beside dist, in a clone
// and in the package.
const ROOT =
  ['../..', '../../..']
    .map((up) => join(import.meta.dirname, up))
    .find((root) => existsSync(join(root, 'package.json'))) ?? import.meta.dirname;

/** The guides for operators, sorted by topic: lib/guides/, each GUIDE.md, and SECURITY.md. */
export const readGuides = (): Guide[] =>
  ['.github', 'lib', 'routes', 'store']
    .flatMap((folder) => filesIn(join(ROOT, folder)))
    .filter((path) => GUIDES.test(path))
    .map((path) => guideOf(relative(ROOT, path), readFileSync(path, 'utf8')))
    .toSorted((a, b) => (a.topic < b.topic ? -1 : 1));

const GUIDES = /(?:GUIDE|SECURITY|\bguides\/[\w-]+)\.md$/;

/** The guide with this topic, or with this word in its topic. */
export const guideFor = (guides: readonly Guide[], word: string): Guide | undefined =>
  guides.find(({ topic }) => topic === word) ??
  guides.find(({ topic }) => topic.split('-').includes(word));

/** Finds the guide of a topic. Throws `not_found`. */
export const getGuide = (word: string): Guide => {
  const guides = readGuides();
  const guide = guideFor(guides, word);
  if (guide !== undefined) return guide;
  const topics = guides.map(({ topic }) => topic).join(', ');
  throw new ServiceError('not_found', `There is no guide to ${word}. Topics: ${topics}.`);
};

// Empty if the bundle was copied elsewhere without its package.
const filesIn = (folder: string): string[] =>
  orElse(() => readdirSync(folder, { recursive: true }), []).map((name) =>
    join(folder, String(name)),
  );

const guideOf = (path: string, text: string): Guide => {
  const [heading = '', summary = ''] = text.split('\n').filter((line) => line !== '');
  const title = heading.replace(/^# /, '');
  return {
    topic: title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-'),
    title,
    summary,
    path,
    text,
  };
};
