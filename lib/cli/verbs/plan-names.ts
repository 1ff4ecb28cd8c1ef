import { readFences } from '../../text/markdown/fences.ts';
import { readLeaves } from '../../text/markdown/leaves.ts';

const SHELL = /^(?:sh|shell|bash)$/i;
const MOST = 20;

/** The commands and files that a plan's own text has, for the head of it: an agent's account of itself is not asked. */
export const namesIn = (plan: string): string[] => [
  ...listed('Commands', commandsIn(plan)),
  ...listed('Files', filesIn(plan)),
];

const listed = (name: string, all: readonly string[]): string[] => {
  if (all.length === 0) return [];
  const more = all.length > MOST ? [`  … and ${all.length - MOST} more in the plan`] : [];
  return [`${name} in the plan:`, ...all.slice(0, MOST).map((each) => `  ${each}`), ...more];
};

/** The lines of its shell blocks that are no comments. */
const commandsIn = (plan: string): string[] =>
  readFences(plan)
    .filter(({ info }) => SHELL.test(info.split(/[ \t]/, 1)[0] ?? ''))
    .flatMap(({ content }) => content.split('\n'))
    .filter((line) => /^\s*[^\s#]/.test(line));

/** What reads like the path of a file, outside of its blocks. */
const filesIn = (plan: string): string[] => {
  const texts = readLeaves(plan)
    .leaves.filter(({ kind }) => kind === 'paragraph' || kind === 'heading')
    .flatMap(({ lines }) => lines.map(({ text }) => text));
  const words = texts.flatMap((text) => text.match(/[^\s`'"“”()[\]{}<>,;:*|=]+/g) ?? []);
  const paths = words.map((word) => word.replace(/^\.\/|[.!?]+$/g, ''));
  return [...new Set(paths.filter((path) => FILE.test(path)))];
};

// A name that is known, one with an extension that is, or a path whose last part has one.
const FILE = new RegExp(
  [
    '^(?!//)(?:[\\w@.+-]+/)*(?:README|LICENSE|CHANGELOG|Makefile|Dockerfile|Gemfile|\\.[a-z]\\w+)$',
    '^(?!//)[\\w@+-][\\w@.+/-]*\\.(?:[cm]?[jt]sx?|json|md|mdx|py|go|rs|java|kt|rb|php|cs?|cpp|hp?p?|swift|s?css|html|vue|svelte|ya?ml|toml|ini|sh|sql|txt|lock|xml|svg)$',
    '^(?!//)\\.?[\\w@+-][\\w@.+-]*/(?:[\\w@.+-]+/)*[\\w@+-]+\\.\\w{1,8}$',
  ].join('|'),
);
