import { filesOf } from '../../../base/patch.ts';
import { itemOf } from '../reach/item.ts';
import { sessionOf } from '../reach/session.ts';
import type { Style } from '../show/out.ts';
import { orRefuse, verb } from './verb.ts';

/** `dossier diff ITEM`: what its session changed. */
export const diff = verb(async ({ dossier, words: [word = ''], values, out }) => {
  const id = await itemOf(dossier, word);
  const { id: sid, status } = await sessionOf(dossier, id, values.session);
  const told = await orRefuse(dossier.call('GET /cases/{id}/sessions/{sid}/diff', { id, sid }), {
    not_found: `What a session changed is kept once its work is over or stopped, and this one is ${status}; dossier tail ${id.slice(0, 8)} shows what it does`,
  });
  const patch = told ?? '';
  const files = filesOf(patch).map(({ path, added, removed }) => ({ path, added, removed }));
  if (values.json === true) out.json(values.stat === true ? { files } : { files, diff: patch });
  else if (values.stat === true)
    out.table(files.map(({ path, added, removed }) => [`+${added}`, `-${removed}`, path]));
  else await out.read(patch.replace(/\n$/, ''), styleOf);
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
