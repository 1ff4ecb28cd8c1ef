import { findItem } from '../connection/item.ts';
import { findSession } from '../connection/session.ts';
import { type Verb, verb } from './verb.ts';

type Control =
  | 'POST /api/cases/{id}/session/pause'
  | 'POST /api/cases/{id}/session/resume'
  | 'POST /api/cases/{id}/session/abort';

// Sends the id of the session, so that another one that has started meanwhile is not affected.
const control = (operation: Control, more: (verb: Verb) => object = () => ({})) =>
  verb(async (given) => {
    const { dossier, words, values, out } = given;
    const id = await findItem(dossier, words[0] ?? '');
    const { id: session_id } = await findSession(dossier, id, values.session);
    const session = await dossier.call(operation, { id, body: { session_id, ...more(given) } });
    if (values.json === true) out.json(session);
    else out.say(`Session ${session.id.slice(0, 8)} is ${session.status}`);
    return undefined;
  });

/** `dossier pause ITEM` */
export const pause = control('POST /api/cases/{id}/session/pause');

/** `dossier resume ITEM`; `--from` says where to continue after a kill inside a block. */
export const resume = control('POST /api/cases/{id}/session/resume', ({ values: { from } }) =>
  from === undefined ? {} : { from: from as 'again' | 'next' },
);

/** `dossier abort ITEM` */
export const abort = control('POST /api/cases/{id}/session/abort');

/** `dossier dismiss ITEM`: marks its session as reviewed, which removes it from the inbox. */
export const dismiss = verb(async ({ dossier, words, values, out }) => {
  const id = await findItem(dossier, words[0] ?? '');
  const { id: sid } = await findSession(dossier, id, values.session);
  const session = await dossier.call('POST /cases/{id}/sessions/{sid}/dismiss', { id, sid });
  if (values.json === true) out.json(session);
  else out.say(`Session ${sid.slice(0, 8)} is marked as reviewed`);
  return undefined;
});
