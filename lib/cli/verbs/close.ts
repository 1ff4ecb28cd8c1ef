import { UsageError } from '../../config.ts';
import { someOf } from '../../text/wording.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem, listSessions } from '../connection/find.ts';
import { ask, isTerminal } from '../output/terminal.ts';
import { hasEnded, statusText } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

const STATES = ['NON_ISSUE', 'RESOLVED'] as const;

/** `dossier close ITEM`: sets NON_ISSUE, or with `--state` RESOLVED where the proof gate is satisfied. */
export const close = verb(async (given) => {
  const { dossier, words, values } = given;
  const state = STATES.find((each) => each === (values.state ?? 'NON_ISSUE').toUpperCase());
  if (state === undefined)
    throw new UsageError(`--state takes ${STATES.join(' or ')}, not ${values.state}`);
  const id = await findItem(given, words[0]);
  await refuseSession(given, id, 'closed');
  if (state === 'RESOLVED') await requireProof(given, id);
  else if (values.state === undefined) await refuseResolved(given, id);
  const { outcome } = values;
  const body = { state, ...(outcome !== undefined && { outcome }) };
  const item = await dossier.call('PUT /cases/{id}/state', { id, body });
  given.report(item, `Closed ${item.title}: ${item.outcome}`);
});

// It would continue, or run once it is approved or resumed.
const refuseSession = async ({ dossier, typed }: Verb, id: string, done: string): Promise<void> => {
  const session = (await listSessions(dossier, id)).find(({ status }) => !hasEnded(status));
  if (session === undefined) return;
  const { title } = await dossier.call('GET /cases/{id}', { id });
  const first =
    session.elsewhere === true
      ? `If that machine no longer exists, set \`status: aborted\` in ${session.path}/session.md first`
      : `Abort it first: ${typed(`abort ${id.slice(0, 8)}`)}`;
  throw new Refusal(
    `${title} has a session that is ${statusText(session)}, so nothing was ${done}. ${first}`,
  );
};

// PUT …/state bypasses the proof gate.
const requireProof = async ({ dossier, typed }: Verb, id: string): Promise<void> => {
  const { satisfied, missing } = await dossier.call('GET /cases/{id}/proof/gate', { id });
  if (satisfied) return;
  throw new Refusal(
    `Nothing was closed, because proof is missing: ${someOf(missing.map(({ description }) => description))}. See ${typed(`proof ${id.slice(0, 8)}`)}`,
  );
};

// Its result would be overwritten.
const refuseResolved = async ({ dossier }: Verb, id: string): Promise<void> => {
  const { title, state } = await dossier.call('GET /cases/{id}', { id });
  if (state === 'RESOLVED')
    throw new Refusal(
      `${title} is already closed as RESOLVED, so nothing was changed. To close it as not actionable, give --state NON_ISSUE`,
    );
};

/** `dossier reopen ITEM`: sets OPEN for a closed Work item, so that a session can start. */
export const reopen = verb(async (given) => {
  const { dossier, words, report } = given;
  const id = await findItem(given, words[0]);
  const { title, state } = await dossier.call('GET /cases/{id}', { id });
  if (!STATES.some((each) => each === state))
    throw new Refusal(`${title} is ${state}, not closed, so nothing was changed`);
  const item = await dossier.call('PUT /cases/{id}/state', { id, body: { state: 'OPEN' } });
  report(item, `Reopened ${item.title}`);
});

/**
 * `dossier rm ITEM`: deletes it with its worktree. Without `--force` it is refused if work would be lost; without a terminal, if
 * ITEM is not an id.
 */
export const remove = verb(async (given) => {
  const { dossier, words, values, out, typed } = given;
  const [word = ''] = words;
  const id = await findItem(given, word);
  const { title } = await dossier.call('GET /cases/{id}', { id });
  const isAsked = isTerminal() && values.json !== true;
  if (!isAsked && !(word.length >= 8 && id.startsWith(word.toLowerCase())))
    throw new Refusal(
      `Nothing was deleted: without a question (--json, or no terminal), rm needs an id, not ${word}. Run ${typed(`rm ${id.slice(0, 8)}`)}`,
    );
  await refuseSession(given, id, 'deleted');
  if (isAsked) {
    const said = await ask(`Delete ${title} and everything that belongs to it? Type yes: `);
    if (said !== 'yes') {
      out.say('Nothing was deleted.');
      return 1;
    }
  }
  await dossier.call('DELETE /cases/{id}', { id, query: { force: values.force === true } });
  given.report({ id, title }, `Deleted ${title}. To undo it: dossier help every-day`);
});
