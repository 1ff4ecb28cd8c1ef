import { visible } from '../../../store/base/visible.ts';
import type { Session, SessionDiffFile } from '../../client/client.ts';
import { oneLine, someOf } from '../../text/wording.ts';
import { chooseSession, findItem, listSessions } from '../connection/find.ts';
import type { Style } from '../output/out.ts';
import { warn } from '../output/terminal.ts';
import { hasEnded, nextText } from './session-text.ts';
import { type Verb, verb, withRefusals } from './verb.ts';

/** `dossier diff ITEM`: shows the changes of its session. */
export const diff = verb(async (given) => {
  const { dossier, words, values, out } = given;
  const id = await findItem(given, words[0]);
  const sessions = await listSessions(dossier, id);
  const session = chooseSession(given, sessions, { id, word: values.session });
  if (values.session === undefined && values.json !== true) nameOthers(sessions, session);
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
});

// On standard error, so that the patch alone can be piped to git.
const nameOthers = (sessions: readonly Session[], { id: sid }: Session): void => {
  const others = sessions.filter((each) => each.id !== sid).map((each) => each.id.slice(0, 8));
  if (others.length === 0) return;
  const named = others.length === 1 ? `another: ${others[0]}` : `others: ${someOf(others)}`;
  warn(`This is session ${sid.slice(0, 8)}. --session selects ${named}`);
};

/** Shows the changes of a session, after a list of files that may run something later. */
export const showDiff = async (given: Verb, session: Session): Promise<void> => {
  const { patch, files } = await changesOf(given, session);
  if (patch === '') return warn('The session changed no file');
  await given.out.read(`${runsText(files)}${patch.replace(/\n$/, '')}`, styleOf);
};

const changesOf = async (given: Verb, session: Session) => {
  const { dossier } = given;
  const at = { id: session.case_id, sid: session.id };
  const query = { path: `${session.path}/diff.patch` };
  const problems = await dossier.call('GET /api/diagnostics', { query });
  const patch = await withRefusals(dossier.call('GET /cases/{id}/sessions/{sid}/diff', at), {
    not_found: problems[0]?.message ?? noDiff(given, session),
  });
  for (const { message } of problems) warn(message);
  const listed = await dossier.call('GET /cases/{id}/sessions/{sid}/diff/files', at);
  const files = listed.map(({ path, added, removed, runs }) => ({ path, added, removed, runs }));
  return { patch, files };
};

const noDiff = (given: Verb, session: Session): string => {
  const { id, status } = session;
  return hasEnded(status)
    ? `There is no diff: session ${id.slice(0, 8)} is ${status} and ended before its work began`
    : `There is no diff yet: session ${id.slice(0, 8)} is ${status}. ${nextText(given, session)}`;
};

type Listed = Pick<SessionDiffFile, 'path' | 'runs'>;

// `git apply` ignores text before the patch.
const runsText = (files: readonly Listed[]): string => {
  const lines = files
    .filter(({ runs }) => runs.length > 0)
    .map(({ path, runs }) => `  ${oneLine(visible(path))}: ${runs.join('; ')}\n`);
  return lines.length === 0 ? '' : `${RUNS}\n${lines.join('')}\n`;
};

const RUNS = 'Files that run something later, outside the sandbox:';

const STYLES: readonly (readonly [RegExp, Style])[] = [
  [/^(?:Files that run|diff|index|new file|deleted file|rename|similarity)\b/, 'bold'],
  [/^(?:\+\+\+|---) /, 'bold'],
  [/^@@/, 'cyan'],
  [/^\+/, 'green'],
  [/^-/, 'red'],
];

const styleOf = (line: string): Style | undefined =>
  STYLES.find(([begins]) => begins.test(line))?.[1];
