import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { addLines, openLines } from '../fs/lines.ts';
import { statsAt } from '../fs/plain-path.ts';
import { makeSyncedDirectory, syncDirectoryNow } from '../fs/synced.ts';

/** One decision of the operator's. Without a value: what the key names was taken away, or is revoked. */
export interface Consent {
  key: string;
  value?: unknown;
  /** A setting that applies because it is stricter is no decision of the operator's, and is not trusted for ever. */
  by: 'operator' | 'tightening';
  /** No value of before counts again when it comes back. */
  revoked?: true;
  /** Hashes of the values that were granted before, where the lines that say so were left out. */
  before?: string[];
  at?: string;
}

/** Where decisions are kept, and what authenticates them. */
export interface Place {
  file: string;
  id: string;
  key: Buffer;
}

/** Adds decisions, on disk when it returns. Takes no lock: lines of two processes stand one after the other. */
export const appendDecisions = (place: Place, consents: readonly Consent[]): void => {
  makeSyncedDirectory(dirname(place.file), 0o700);
  const at = new Date().toISOString();
  const text = decisionLines(
    place,
    consents.map((consent) => ({ at, ...consent })),
  );
  // Again where the file was replaced by a shorter one meanwhile.
  while (!addTo(place, text));
};

const addTo = (place: Place, text: string): boolean => {
  const isNew = statsAt(place.file) === undefined;
  if (isNew) closeSync(openSync(place.file, 'a', 0o600));
  const descriptor = openLines(place.file, (line) => parseDecision(place, line));
  try {
    addLines(descriptor, text);
    fsyncSync(descriptor);
    if (isNew) syncDirectoryNow(dirname(place.file));
    return statsAt(place.file)?.ino === fstatSync(descriptor).ino;
  } finally {
    closeSync(descriptor);
  }
};

export const decisionLines = (place: Place, consents: readonly Consent[]): string =>
  consents
    .map((consent) => JSON.stringify(consent))
    .map((json) => `${macOf(place, json)} ${json}\n`)
    .join('');

const macOf = ({ id, key }: Place, json: string): string =>
  createHmac('sha256', key).update(`${id}\n${json}`).digest('hex');

const MAC_LENGTH = 64;

/** The decision in a line; undefined where nobody with the key wrote it. */
export const parseDecision = (place: Place, line: string): Consent | undefined => {
  const json = line.slice(MAC_LENGTH + 1).trimEnd();
  const [found, right] = [line.slice(0, MAC_LENGTH), macOf(place, json)].map((mac) =>
    Buffer.from(mac),
  );
  if (found === undefined || right === undefined || found.length !== right.length) return undefined;
  return timingSafeEqual(found, right) ? (JSON.parse(json) as Consent) : undefined;
};
