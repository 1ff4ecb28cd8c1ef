import type { Session } from '../../client/client.ts';
import { counted } from '../../text/wording.ts';
import { findItem, findSession, sessionOf } from '../connection/find.ts';
import { nextText } from './session-text.ts';
import { type Verb, verb, withRefusals } from './verb.ts';

type Control =
  | 'POST /api/cases/{id}/session/pause'
  | 'POST /api/cases/{id}/session/resume'
  | 'POST /api/cases/{id}/session/abort';

// Sends the id of the session, so that another one that has started meanwhile is not affected.
const control = (operation: Control, more: (verb: Verb) => object = () => ({})) =>
  verb(async (given) => {
    const { case_id: id, id: session_id } = await sessionOf(given);
    const resume = given.typed(`resume ${id.slice(0, 8)}`);
    const session = await withRefusals(
      given.dossier.call(operation, { id, body: { session_id, ...more(given) } }),
      {
        choice_needed: ({ members }) =>
          interrupted((members.block as { title: string }).title, resume),
        // Read again: another terminal may have been first.
        invalid_state: async ({ message }) =>
          `${message} ${nextText(given, await findSession(given, id, session_id))}`,
      },
    );
    given.report(session, `Session ${session.id.slice(0, 8)} is ${session.status}`);
  });

const interrupted = (title: string, resume: string): string =>
  `This block was interrupted and may have run in part: ${title}. Check the worktree, then run the block again: ${resume} --from again. Or continue with the next one: ${resume} --from next`;

/** `dossier pause ITEM` */
export const pause = control('POST /api/cases/{id}/session/pause');

/** `dossier resume ITEM`; `--from` says where to continue after a kill inside a block. */
export const resume = control('POST /api/cases/{id}/session/resume', ({ values: { from } }) =>
  from === undefined ? {} : { from: from as 'again' | 'next' },
);

/** `dossier abort ITEM` */
export const abort = control('POST /api/cases/{id}/session/abort');

/** `dossier finish ITEM`: ends the operator's own work in a session of the manual provider. */
export const finish = verb(async (given) => {
  const found = await sessionOf(given);
  const { case_id: id, id: sid } = found;
  const finished = given.dossier.call('POST /cases/{id}/sessions/{sid}/finish', { id, sid });
  const early = unapproved(given, found);
  const session = await (early === undefined
    ? finished
    : withRefusals(finished, { invalid_state: early }));
  given.report(session, `Session ${sid.slice(0, 8)} is ${session.status}`);
});

// Why the operator's own work cannot be finished before its plan is approved.
const unapproved = (
  { typed }: Verb,
  { case_id, status, provider }: Session,
): string | undefined => {
  if (provider !== 'manual' || (status !== 'planning' && status !== 'plan_ready')) return undefined;
  const id8 = case_id.slice(0, 8);
  const write = `Write it with ${typed(`edit ${id8} plan.md`)}, then a`;
  return `The plan of the session is not approved, so there is no work to finish. ${status === 'planning' ? write : 'A'}pprove it: ${typed(`approve ${id8}`)}`;
};

/** `dossier dismiss ITEM`: removes its completed session, and the overlaps of its branch, from the inbox. */
export const dismiss = verb(async (given) => {
  const { dossier, words, values } = given;
  const id = await findItem(given, words[0]);
  if (values.session === undefined && (await dismissOverlaps(given, id))) return undefined;
  const { id: sid } = await findSession(given, id, values.session);
  const session = await dossier.call('POST /cases/{id}/sessions/{sid}/dismiss', { id, sid });
  given.report(session, `Session ${sid.slice(0, 8)} is marked as reviewed`);
});

// Returns whether that was all: no completed session is in the inbox.
const dismissOverlaps = async ({ dossier, values, out }: Verb, id: string): Promise<boolean> => {
  const waiting = (await dossier.call('GET /attention')).filter(({ case_id }) => case_id === id);
  const overlaps = waiting.filter(({ kind }) => kind === 'overlap');
  if (overlaps.length === 0) return false;
  for (const { answer } of overlaps) {
    const body = answer.body as { commits: string[] };
    await dossier.call('POST /cases/{id}/overlaps/dismiss', { id, body });
  }
  if (values.json !== true)
    out.say(`${counted(overlaps.length, 'overlap')} of ${id.slice(0, 8)} dismissed`);
  if (waiting.some(({ kind }) => kind === 'done')) return false;
  if (values.json === true) out.json(overlaps);
  return true;
};
