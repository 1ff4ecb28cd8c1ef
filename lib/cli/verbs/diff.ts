import { oneLine } from '../../../base/one-line.ts';
import { visible } from '../../../base/visible.ts';
import type { SessionDiffFile } from '../../client/client.ts';
import { itemOf } from '../reach/item.ts';
import { sessionOf } from '../reach/session.ts';
import type { Style } from '../show/out.ts';
import { orRefuse, verb } from './verb.ts';

/** `dossier diff ITEM`: what its session changed. */
export const diff = verb(async ({ dossier, words: [word = ''], values, out }) => {
  const id = await itemOf(dossier, word);
  const { id: sid, status } = await sessionOf(dossier, id, values.session);
  const at = { id, sid };
  const told = await orRefuse(dossier.call('GET /cases/{id}/sessions/{sid}/diff', at), {
    not_found: `What a session changed is kept once its work is over or stopped, and this one is ${status}; dossier tail ${id.slice(0, 8)} shows what it does`,
  });
  const patch = told ?? '';
  const listed = await dossier.call('GET /cases/{id}/sessions/{sid}/diff/files', at);
  const files = listed.map(({ path, added, removed, runs }) => ({ path, added, removed, runs }));
  if (values.json === true) out.json(values.stat === true ? { files } : { files, diff: patch });
  else if (values.stat === true)
    out.table(
      files.map(({ path, added, removed, runs }) => [
        `+${added}`,
        `-${removed}`,
        path,
        ...(runs.length > 0 ? [runs.join('; ')] : []),
      ]),
    );
  else await out.read(`${runsText(files)}${patch.replace(/\n$/, '')}`, styleOf);
  return undefined;
});

type Listed = Pick<SessionDiffFile, 'path' | 'runs'>;

// Before the patch, where `git apply` passes over it.
const runsText = (files: readonly Listed[]): string => {
  const lines = files
    .filter(({ runs }) => runs.length > 0)
    .map(({ path, runs }) => `  ${oneLine(visible(path))}: ${runs.join('; ')}\n`);
  return lines.length === 0 ? '' : `${RUNS}\n${lines.join('')}\n`;
};

const RUNS = 'Files that run something later, outside of the sandbox:';

const STYLES: readonly (readonly [RegExp, Style])[] = [
  [/^(?:Files that run|diff|index|\+\+\+|---|new file|deleted file|rename|similarity)\b/, 'bold'],
  [/^(?:\+\+\+|---) /, 'bold'],
  [/^@@/, 'cyan'],
  [/^\+/, 'green'],
  [/^-/, 'red'],
];

const styleOf = (line: string): Style | undefined =>
  STYLES.find(([begins]) => begins.test(line))?.[1];
