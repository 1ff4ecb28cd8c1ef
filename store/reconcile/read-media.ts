import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isInGrace, RACY_MS, refuseOther, signatureOf } from '../front-matter/entry.ts';
import { asProblem, Problem } from '../front-matter/problem.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { ToldState } from '../journal/journal-state.ts';

/** A file that a proof is about, as it was last looked at. */
export interface ProofMedia {
  /** As that of an Entry: of the file that was hashed. */
  signature: string;
  /** Of its bytes; undefined where it is not there, or cannot be evidence. */
  sha256: string | undefined;
  problem: Problem | undefined;
  /** It was there and is not: see Entry. */
  gone_at?: number;
}

export type ProofMedias = ReadonlyMap<string, ProofMedia>;

export const MAX_MEDIA_BYTES = 26_214_400;

/** Looks at the files that proofs name, and hashes those that changed since `before`, or since they were last told. */
export const readMedias = (
  folder: string,
  names: readonly string[],
  before: ProofMedias | undefined,
  seen: ToldState | undefined,
): ProofMedias => {
  if (names.length === 0) return NO_MEDIAS;
  const known = (name: string) => before?.get(name) ?? told(name, seen);
  return new Map(names.map((name) => [name, lookAt(folder, name, known(name))]));
};

export const NO_MEDIAS: ProofMedias = new Map();

// A file that is still the same is not hashed again at each start.
const told = (name: string, seen: ToldState | undefined): ProofMedia | undefined => {
  const one = Object.values(seen?.proofs ?? {}).find(({ matter }) => matter.file === name);
  if (one?.media === undefined) return undefined;
  return { signature: one.media, sha256: one.matter.file_sha256, problem: undefined };
};

const lookAt = (folder: string, name: string, before: ProofMedia | undefined): ProofMedia => {
  try {
    const path = join(folder, name);
    const stats = statsAt(path);
    if (stats === undefined) return missing(name, before);
    const isSame = before?.signature !== '' && before?.signature === signatureOf(stats);
    if (isSame && before.gone_at === undefined) return before;
    refuseOther(stats);
    return { signature: trusted(stats), sha256: hashOf(path, stats), problem: undefined };
  } catch (error) {
    return faulty(`${name}: ${asProblem(error).message}`, before);
  }
};

// The same fault stays the very same.
const faulty = (message: string, before: ProofMedia | undefined): ProofMedia =>
  before?.problem?.message === message
    ? before
    : { signature: '', sha256: undefined, problem: new Problem(PROOF_FILE, message) };

/** The code of a proof whose file is not as it should be. */
const PROOF_FILE = 'proof_file';

// A timestamp this young may belong to a write that goes on.
const trusted = (stats: Stats): string =>
  Math.abs(Date.now() - stats.mtimeMs) < RACY_MS ? '' : signatureOf(stats);

// Whoever saves by renaming leaves such a gap.
const missing = (name: string, before: ProofMedia | undefined): ProofMedia => {
  const gone_at = before?.gone_at ?? performance.now();
  if (before?.sha256 !== undefined && isInGrace(gone_at)) return { ...before, gone_at };
  return faulty(`${name} is not there. Put it back, or take this proof away`, before);
};

const PIECE = Buffer.allocUnsafeSlow(1_048_576);

const hashOf = (path: string, looked: Stats): string => {
  // Not through a link that was put here just now, and never waiting for a pipe.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, ino } = fstatSync(fd);
    if (ino !== looked.ino) throw new Problem(PROOF_FILE, 'It is another one by now. Look again');
    if (size > MAX_MEDIA_BYTES)
      throw new Problem(PROOF_FILE, `It has ${size} bytes; 25 MB is the most. Make it smaller`);
    const hash = createHash('sha256');
    for (let at = 0, count = -1; count !== 0 && at <= MAX_MEDIA_BYTES; at += count) {
      count = readSync(fd, PIECE, 0, PIECE.length, at);
      hash.update(PIECE.subarray(0, count));
    }
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
};

/** The names in `proof/` that look like evidence, and that no proof names; nothing that editors and tools leave there. */
export const unknownIn = (names: readonly string[], known: ProofMedias): readonly string[] => {
  const unknown = names.filter((name) => !known.has(name) && isEvidence(name)).toSorted();
  return unknown.length === 0 ? NO_NAMES : unknown;
};

export const NO_NAMES: readonly string[] = [];

const isEvidence = (name: string): boolean =>
  /^[^.#~].*\.[A-Za-z0-9]{1,10}$/.test(name) && !/\.md/i.test(name) && !LEFT.test(name);

const LEFT =
  /\.(?:tmp|temp|bak|backup|orig|rej|save|swp|swo|part|partial|crdownload|download|lock|db|ini|pid)$/i;
