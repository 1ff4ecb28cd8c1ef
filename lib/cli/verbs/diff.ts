import { visible } from '../../../store/base/visible.ts';
import type { Session, SessionDiffFile } from '../../client/client.ts';
import { oneLine } from '../../text/wording.ts';
import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import type { Style } from '../output/out.ts';
import { orRefuse, type Verb, verb } from './verb.ts';

/** `dossier diff ITEM`: what its session changed. */
export const diff = verb(async (given) => {
  const { dossier, words, values, out } = given;
  const id = await itemOf(dossier, words[0] ?? '');
  const session = await sessionOf(dossier, id, values.session);
  if (values.json !== true && values.stat !== true) return void (await showDiff(given, session));
  const { patch, files } = await changesOf(given, session);
  if (values.json === true) out.json(values.stat === true ? { files } : { files, diff: patch });
  else
    out.table(
      files.map(({ path, added, removed, runs }) => [
        `+${added}`,
        `-${removed}`,
        path,
        ...(runs.length > 0 ? [runs.join('; ')] : []),
      ]),
    );
  return undefined;
});

/** Shows what a session changed; files that run something later come first. */
export const showDiff = async (given: Verb, session: Session): Promise<void> => {
  const { patch, files } = await changesOf(given, session);
  await given.out.read(`${runsText(files)}${patch.replace(/\n$/, '')}`, styleOf);
};

const changesOf = async ({ dossier }: Verb, { case_id: id, id: sid, status }: Session) => {
  const at = { id, sid };
  const patch = await orRefuse(dossier.call('GET /cases/{id}/sessions/{sid}/diff', at), {
    not_found: `What a session changed is kept once its work is over or stopped, and this one is ${status}; dossier tail ${id.slice(0, 8)} shows what it does`,
  });
  const listed = await dossier.call('GET /cases/{id}/sessions/{sid}/diff/files', at);
  const files = listed.map(({ path, added, removed, runs }) => ({ path, added, removed, runs }));
  return { patch: patch ?? '', files };
};

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
