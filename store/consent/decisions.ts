import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { whileOpen } from '../base/open-file.ts';
import { addLines, openLines } from '../fs/lines.ts';
import { statsAt } from '../fs/plain-path.ts';
import { makeSyncedDirectory, syncDirectoryNow } from '../fs/synced.ts';

/** One decision of the operator. Without a value: the key was removed or revoked. */
export interface Consent {
  key: string;
  value?: unknown;
  /** `tightening`: the setting applies because it is stricter, without the operator's decision, and is not trusted later. */
  by: 'operator' | 'tightening';
  /** Earlier values are no longer trusted if they come back. */
  revoked?: true;
  /** Hashes of values granted before, whose lines were removed by compaction. */
  before?: string[];
  at?: string;
}

/** The file of the decisions, and the workspace id and key that authenticate its lines. */
export interface Place {
  /** The state directory. */
  state: string;
  file: string;
  id: string;
  key: Buffer;
}

/** Appends decisions; on disk when it returns. Needs no lock, because two processes append whole lines. */
export const appendDecisions = (place: Place, consents: readonly Consent[]): void => {
  makeSyncedDirectory(dirname(place.file), 0o700);
  const at = new Date().toISOString();
  const text = decisionLines(
    place,
    consents.map((consent) => ({ at, ...consent })),
  );
  // Repeats if the file was replaced by a compacted one meanwhile.
  while (!addTo(place, text));
};

const addTo = (place: Place, text: string): boolean => {
  const isNew = statsAt(place.file) === undefined;
  if (isNew) closeSync(openSync(place.file, 'a', 0o600));
  const opened = openLines(place.file, (line) => parseDecision(place, line));
  return whileOpen(opened, (descriptor) => {
    addLines(descriptor, text);
    fsyncSync(descriptor);
    if (isNew) syncDirectoryNow(dirname(place.file));
    return statsAt(place.file)?.ino === fstatSync(descriptor).ino;
  });
};

export const decisionLines = (place: Place, consents: readonly Consent[]): string =>
  consents
    .map((consent) => JSON.stringify(consent))
    .map((json) => `${macOf(place, json)} ${json}\n`)
    .join('');

const macOf = ({ id, key }: Place, json: string): string =>
  createHmac('sha256', key).update(`${id}\n${json}`).digest('hex');

/** Compares MACs in a time that does not depend on where they differ. */
export const isSameMac = (found: string, right: string): boolean => {
  const [a, b] = [Buffer.from(found), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
};

const MAC_LENGTH = 64;

/** The decision in a line; undefined unless it was written with the key. */
export const parseDecision = (place: Place, line: string): Consent | undefined => {
  const json = line.slice(MAC_LENGTH + 1).trimEnd();
  const isOurs = isSameMac(line.slice(0, MAC_LENGTH), macOf(place, json));
  return isOurs ? (JSON.parse(json) as Consent) : undefined;
};
