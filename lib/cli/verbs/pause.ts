import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import { type Verb, verb } from './verb.ts';

type Control =
  | 'POST /api/cases/{id}/session/pause'
  | 'POST /api/cases/{id}/session/resume'
  | 'POST /api/cases/{id}/session/abort';

// The session that was looked up is named: should another run by then, it is left alone.
const control = (operation: Control, more: (verb: Verb) => object = () => ({})) =>
  verb(async (given) => {
    const { dossier, words, values, out } = given;
    const id = await itemOf(dossier, words[0] ?? '');
    const { id: session_id } = await sessionOf(dossier, id, values.session);
    const session = await dossier.call(operation, { id, body: { session_id, ...more(given) } });
    if (values.json === true) out.json(session);
    else out.say(`Session ${session.id.slice(0, 8)} is ${session.status}`);
    return undefined;
  });

/** `dossier pause ITEM`: its session stops, so that it can go on later. */
export const pause = control('POST /api/cases/{id}/session/pause');

/** `dossier resume ITEM`: its session goes on; `--from` says where, after a kill inside a block. */
export const resume = control('POST /api/cases/{id}/session/resume', ({ values: { from } }) =>
  from === undefined ? {} : { from: from as 'again' | 'next' },
);

/** `dossier abort ITEM`: its session ends for good. */
export const abort = control('POST /api/cases/{id}/session/abort');

/** `dossier dismiss ITEM`: its newest session was reviewed, and leaves the inbox. */
export const dismiss = verb(async ({ dossier, words, values, out }) => {
  const id = await itemOf(dossier, words[0] ?? '');
  const { id: sid } = await sessionOf(dossier, id, values.session);
  const session = await dossier.call('POST /cases/{id}/sessions/{sid}/dismiss', { id, sid });
  if (values.json === true) out.json(session);
  else out.say(`Session ${sid.slice(0, 8)} is reviewed`);
  return undefined;
});
