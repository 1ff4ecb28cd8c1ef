import { itemOf } from '../reach/item.ts';
import { sessionOf } from '../reach/session.ts';
import type { Style } from '../show/out.ts';
import { verb } from './verb.ts';

/** `dossier diff ITEM`: what its session changed. */
export const diff = verb(async ({ dossier, words: [word = ''], values, out }) => {
  const id = await itemOf(dossier, word);
  const { id: sid } = await sessionOf(dossier, id, values.session);
  const patch = await dossier.call('GET /cases/{id}/sessions/{sid}/diff', { id, sid });
  if (values.stat === true) out.table(countsOf(patch ?? ''));
  else await out.read((patch ?? '').replace(/\n$/, ''), styleOf);
  return undefined;
});

const STYLES: readonly (readonly [RegExp, Style])[] = [
  [/^(?:diff|index|\+\+\+|---|new file|deleted file|rename|similarity)\b/, 'bold'],
  [/^(?:\+\+\+|---) /, 'bold'],
  [/^@@/, 'cyan'],
  [/^\+/, 'green'],
  [/^-/, 'red'],
];

const styleOf = (line: string): Style | undefined =>
  STYLES.find(([begins]) => begins.test(line))?.[1];

const countsOf = (patch: string): string[][] =>
  patch
    .split(/^diff --git /m)
    .slice(1)
    .map((file) => {
      const lines = file.slice(Math.max(file.indexOf('\n@@'), 0)).split('\n');
      const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
      const [name = ''] = file.split('\n', 1);
      return [`+${count('+')}`, `-${count('-')}`, name.replace(/^"?a\/.* "?b\/(.*?)"?$/, '$1')];
    });
