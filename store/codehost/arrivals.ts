import { fdatasync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Static, Type } from 'typebox';
import { withDescriptor } from '../base/open-file.ts';
import { sha256 } from '../base/sha256.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { lineParserOf } from '../front-matter/parse.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { addLines, openLines } from '../fs/lines.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import type { Layout } from '../layout.ts';
import { readyToWrite, remembered, type Store } from '../store.ts';

/** The identity of a webhook delivery from the code host. */
const DeliveryArrival = Type.Object({
  /** From the host's header, which is not signed. */
  id: Type.String(),
  event: Type.String(),
  /** Hash of the body. */
  sha256: Type.String(),
});
export type DeliveryArrival = Static<typeof DeliveryArrival>;

// The host allows redelivery for some days; a captured delivery can be replayed while its secret is valid.
const KEEP_DAYS = 31;
const DAY_MS = 86_400_000;

/** Whether a delivery arrived before, by its id, or by its event and body. */
export const hasArrived = (store: Store, arrival: DeliveryArrival): boolean => {
  const days = daysOf(store);
  return keysOf(arrival).some((key) => [...days.values()].some((day) => day.has(key)));
};

/** Records a delivery for 31 days. It is on disk when the promise resolves. */
export const recordArrival = async (store: Store, arrival: DeliveryArrival): Promise<void> => {
  await readyToWrite(store);
  const at = store.clock().toISOString();
  const day = at.slice(0, 10);
  const opened = openLines(join(store.layout.arrivals, `${day}${SUFFIX}`), parsed);
  await withDescriptor(opened, (descriptor) => {
    addLines(descriptor, `${JSON.stringify({ at, ...arrival })}\n`);
    return synced(descriptor);
  });
  const days = daysOf(store);
  if (!days.has(day)) forgetOld(store.layout, days, day);
  const keys = days.get(day) ?? new Set();
  for (const key of keysOf(arrival)) keys.add(key);
  days.set(day, keys);
};

const synced = promisify(fdatasync);

const SUFFIX = '.ndjson';

// The recorded deliveries, by day.
const daysOf = remembered(({ layout, clock }) => {
  const names = listDirectory(layout.arrivals).filter((name) => DAY_FILE.test(name));
  const days = new Map(
    names.map((name): [string, Set<string>] => [
      name.slice(0, -SUFFIX.length),
      new Set(arrivalsIn(layout, name).flatMap(keysOf)),
    ]),
  );
  forgetOld(layout, days, clock().toISOString().slice(0, 10));
  return days;
});

const DAY_FILE = /^\d{4}-\d\d-\d\d\.ndjson$/;

const arrivalsIn = ({ root, arrivals }: Layout, name: string): DeliveryArrival[] => {
  const text = readRegularFile(root, join(arrivals, name))?.toString('utf8') ?? '';
  return text.split('\n').flatMap((line) => parsed(line) ?? []);
};

const forgetOld = ({ arrivals }: Layout, days: Map<string, unknown>, today: string): void => {
  const oldest = new Date(Date.parse(today) - KEEP_DAYS * DAY_MS).toISOString().slice(0, 10);
  for (const day of days.keys()) {
    if (day >= oldest) continue;
    unlinkIfThere(join(arrivals, `${day}${SUFFIX}`));
    days.delete(day);
  }
};

// Half a digest is unique enough, and a busy month of them fits into memory.
const keysOf = ({ id, event, sha256: body }: DeliveryArrival): string[] =>
  [`id ${id}`, `body ${event} ${body}`].map((key) => sha256(key).slice(0, 32));

const parsed = lineParserOf(DeliveryArrival);
