import type { SessionEvent } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import { tellerOf } from './tail-lines.ts';
import { verb } from './verb.ts';

const LINES = '200';

/**
 * `dossier tail ITEM`: what its session does, as it does it, until it has ended: 0 where it has done its work, else 1.
 * Who leaves leaves it running.
 */
export const tail = verb(async ({ dossier, words: [word = ''], values, out }) => {
  const { lines = LINES } = values;
  if (!/^[1-9]\d{0,5}$/.test(lines)) throw new UsageError('-n takes how many events to begin with');
  const id = await itemOf(dossier, word);
  const { id: sid } = await sessionOf(dossier, id, values.session);
  const tell = values.json === true ? out.jsonLine : tellerOf(out, id.slice(0, 8));
  const life = new AbortController();
  // Who listened has heard enough, as head has.
  process.stdout.once('error', () => life.abort());
  const stream = dossier.stream('GET /cases/{id}/sessions/{sid}/stream', {
    ...{ id, sid },
    query: { after: -Number(lines) },
    signal: life.signal,
  });
  let last: SessionEvent | undefined;
  for await (const event of stream) {
    last = event;
    tell(event);
  }
  return last?.event === 'complete' && last.data.status === 'completed' ? 0 : 1;
});
