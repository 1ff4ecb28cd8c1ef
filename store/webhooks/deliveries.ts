import { appendFileSync, lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { lineParserOf } from '../front-matter/parse.ts';
import { newestLines } from '../fs/lines.ts';
import { syncDirectory, withHandle } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { DeliveryLine } from '../records/delivery.ts';

const KEEP = 1000;
const COMPACT_FROM = 1_048_576;
const LOOK_EACH = 262_144;

/**
 * Notes one attempt to deliver. The line survives the death of the daemon, not a power cut: then the attempt is made
 * again, with the same delivery id. The newest 1000 attempts of a registration are kept, or more.
 */
export const appendDelivery = (
  layout: Layout,
  webhookId: string,
  ...lines: readonly DeliveryLine[]
): void => {
  const path = fileOf(layout, webhookId);
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  appendFileSync(path, text, { mode: 0o600 });
  const { size } = lstatSync(path);
  // What is kept is read for that: not with each attempt.
  const hasGrown = size % LOOK_EACH < Buffer.byteLength(text);
  if (size > COMPACT_FROM && hasGrown) compact(layout, webhookId, size);
};

/** Resolves when all that was noted for this registration survives a power cut, too. */
export const syncDeliveries = async (layout: Layout, webhookId: string): Promise<void> => {
  await withHandle(await open(fileOf(layout, webhookId), 'r'), (handle) => handle.datasync());
  await syncDirectory(layout.deliveries);
};

/** The newest 1000 attempts, oldest first, however long the log is. A line that a crash tore is left out. */
export const readDeliveries = (layout: Layout, webhookId: string): DeliveryLine[] =>
  newestLines(fileOf(layout, webhookId), KEEP).flatMap((line) => parsed(line) ?? []);

export const removeDeliveries = (layout: Layout, webhookId: string): void =>
  rmSync(fileOf(layout, webhookId), { force: true });

/** The registrations that something was noted for. */
export const deliveryIds = ({ deliveries }: Layout): string[] =>
  readdirSync(deliveries).map((name) => name.slice(0, -SUFFIX.length));

const SUFFIX = '.ndjson';
const fileOf = (layout: Layout, id: string): string => join(layout.deliveries, `${id}${SUFFIX}`);

const parsed = lineParserOf(DeliveryLine);

// Not for little: where a thousand attempts are long, each one more would write them all again.
const compact = (layout: Layout, webhookId: string, size: number): void => {
  const lines = newestLines(fileOf(layout, webhookId), KEEP);
  const text = lines.map((line) => `${line}\n`).join('');
  if (Buffer.byteLength(text) > size / 2) return;
  const temporary = join(layout.tmp, `${webhookId}${SUFFIX}`);
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, fileOf(layout, webhookId));
};
