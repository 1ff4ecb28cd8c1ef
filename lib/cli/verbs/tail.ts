import type { SessionEvent } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { sessionOf } from '../connection/session.ts';
import { createEventPrinter } from './tail-lines.ts';
import { itemCommand, verb } from './verb.ts';

const LINES = '200';

/** `dossier tail ITEM`: follows its session until it has ended. Returns 0 if its work is completed, else 1. */
export const tail = verb(async (given) => {
  const { dossier, values, out } = given;
  const { lines = LINES } = values;
  if (!/^[1-9]\d{0,5}$/.test(lines))
    throw new UsageError(`-n takes a number of events from 1 to 999999, not ${lines}`);
  const { case_id: id, id: sid } = await sessionOf(given);
  const tell =
    values.json === true ? out.jsonLine : createEventPrinter(out, itemCommand(given, id));
  const life = new AbortController();
  // The reader of the output has exited, as `head` does.
  process.stdout.once('error', () => life.abort());
  const stream = dossier.stream('GET /cases/{id}/sessions/{sid}/stream', {
    id,
    sid,
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
