import { appendFileSync, lstatSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { withHandle } from '../base/open-file.ts';
import { lineParserOf } from '../front-matter/parse.ts';
import { lastLine, newestLines } from '../fs/lines.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { syncDirectory } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { DeliveryLine } from '../records/delivery.ts';

const KEEP = 1000;
const COMPACT_FROM = 1_048_576;
const LOOK_EACH = 262_144;

/**
 * Logs delivery attempts. A line survives a crash of the daemon but not a power cut; then the attempt is repeated with the
 * same delivery id. At least the newest 1000 attempts of a registration are kept.
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
  // Compacting reads the log, so it is not tried with each attempt.
  const hasGrown = size % LOOK_EACH < Buffer.byteLength(text);
  if (size > COMPACT_FROM && hasGrown) compact(layout, webhookId, size);
};

/** Syncs the log of a registration to disk. */
export const syncDeliveries = async (layout: Layout, webhookId: string): Promise<void> => {
  await withHandle(await open(fileOf(layout, webhookId), 'r'), (handle) => handle.datasync());
  await syncDirectory(layout.deliveries);
};

/** The newest 1000 attempts, oldest first, without a line torn by a crash. */
export const readDeliveries = (layout: Layout, webhookId: string): DeliveryLine[] =>
  newestLines(fileOf(layout, webhookId), KEEP).flatMap((line) => parsed(line) ?? []);

/** The newest attempt; undefined if there is none. Reads only the end of the log. */
export const lastDelivery = (layout: Layout, webhookId: string): DeliveryLine | undefined =>
  lastLine(fileOf(layout, webhookId), parsed).value;

export const removeDeliveries = (layout: Layout, webhookId: string): void =>
  unlinkIfThere(fileOf(layout, webhookId));

/** The ids of registrations with a log. */
export const deliveryIds = ({ deliveries }: Layout): string[] =>
  readdirSync(deliveries).map((name) => name.slice(0, -SUFFIX.length));

const SUFFIX = '.ndjson';
const fileOf = (layout: Layout, id: string): string => join(layout.deliveries, `${id}${SUFFIX}`);

const parsed = lineParserOf(DeliveryLine);

// Only if it halves the log: with long attempts, each one would otherwise rewrite the file.
const compact = (layout: Layout, webhookId: string, size: number): void => {
  const lines = newestLines(fileOf(layout, webhookId), KEEP);
  const text = lines.map((line) => `${line}\n`).join('');
  if (Buffer.byteLength(text) > size / 2) return;
  const temporary = join(layout.tmp, `${webhookId}${SUFFIX}`);
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, fileOf(layout, webhookId));
};
