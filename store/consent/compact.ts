import { linkSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { readLinesFrom } from '../fs/lines.ts';
import { statsAt } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import {
  appendDecisions,
  type Consent,
  decisionLines,
  type Place,
  parseDecision,
} from './decisions.ts';
import { writePrivate } from './state-dir.ts';

/** The decisions of a log up to this offset. */
export interface Folded {
  granted: ReadonlyMap<string, Consent>;
  hashes: ReadonlySet<string>;
  offset: number;
}

/**
 * Replaces the log by a shorter one with the same decisions. Requires the workspace lock. Another process may append a
 * decision meanwhile, so the old file keeps a name until those are carried over, also after a crash.
 */
export const compactLog = (place: Place, folded: Folded): void => {
  const { file } = place;
  const old = `${file}.${folded.offset}`;
  linkSync(file, old);
  writePrivate(file, decisionLines(place, shortened(folded)));
  finishCompaction(place);
};

/** Completes an interrupted compaction. */
export const finishCompaction = (place: Place): void => {
  const { file } = place;
  const dir = dirname(file);
  for (const name of orElse(() => readdirSync(dir), [], 'ENOENT')) {
    const [, offset] = name.startsWith(`${basename(file)}.`) ? (OLD.exec(name) ?? []) : [];
    if (offset === undefined) continue;
    const old = join(dir, name);
    if (statsAt(old)?.ino !== statsAt(file)?.ino) carryOver(place, old, Number(offset));
    unlinkIfThere(old);
  }
};

const OLD = /\.(\d+)$/;

const carryOver = (place: Place, old: string, offset: number): void => {
  const parse = (line: string) => parseDecision(place, line);
  for (let from = offset; ; ) {
    const { values, next } = readLinesFrom(old, from, parse);
    if (values.length > 0) appendDecisions(place, values);
    if (next === from) return;
    from = next;
  }
};

// The number of earlier values for each key that stay trusted if they come back.
const KNOWN = 200;

const shortened = ({ granted, hashes }: Folded): Consent[] => {
  const before = new Map<string, string[]>();
  for (const one of hashes) {
    const at = one.lastIndexOf(' ');
    const [key, hash] = [one.slice(0, at), one.slice(at + 1)];
    before.set(key, [...(before.get(key) ?? []), hash].slice(-KNOWN));
  }
  return [...new Set([...before.keys(), ...granted.keys()])].map((key) => {
    const known = before.get(key);
    return {
      ...(granted.get(key) ?? { key, by: 'tightening' }),
      ...(known !== undefined && { before: known }),
    };
  });
};
