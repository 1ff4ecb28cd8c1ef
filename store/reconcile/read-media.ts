import { createHash } from 'node:crypto';
import { constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isInGrace } from '../base/grace.ts';
import { whileOpen } from '../base/open-file.ts';
import { refuseOther, settledSignature, signatureOf } from '../front-matter/entry.ts';
import { Problem, toProblem } from '../front-matter/problem.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { ToldState } from '../journal/journal-state.ts';

/** A file that a proof names, as last read. */
export interface ProofMedia {
  /** Of the hashed file, as in `ReadEntry`. */
  signature: string;
  /** Of its bytes; undefined if the file is missing or cannot be used. */
  sha256: string | undefined;
  problem: Problem | undefined;
  /** When it vanished, as in `ReadEntry`. */
  gone_at?: number;
}

export type ProofMedias = ReadonlyMap<string, ProofMedia>;

const MAX_MEDIA_BYTES = 26_214_400;

/** Reads the files that proofs name, and hashes those that changed since `before` or since the journaled state. */
export const readMedias = (
  folder: string,
  names: readonly string[],
  before: ProofMedias | undefined,
  seen: ToldState | undefined,
): ProofMedias => {
  if (names.length === 0) return NO_MEDIAS;
  const known = (name: string) => before?.get(name) ?? journaledMedia(name, seen);
  return new Map(names.map((name) => [name, readMedia(folder, name, known(name))]));
};

export const NO_MEDIAS: ProofMedias = new Map();

// Saves hashing unchanged files at each start.
const journaledMedia = (name: string, seen: ToldState | undefined): ProofMedia | undefined => {
  const one = Object.values(seen?.proofs ?? {}).find(({ matter }) => matter.file === name);
  if (one?.media === undefined) return undefined;
  return { signature: one.media, sha256: one.matter.file_sha256 ?? undefined, problem: undefined };
};

const readMedia = (folder: string, name: string, before: ProofMedia | undefined): ProofMedia => {
  try {
    const path = join(folder, name);
    const stats = statsAt(path);
    if (stats === undefined) return missingMedia(name, before);
    const isSame = before?.signature !== '' && before?.signature === signatureOf(stats);
    if (isSame && before.gone_at === undefined) return before;
    refuseOther(stats);
    return { signature: settledSignature(stats), sha256: hashOf(path, stats), problem: undefined };
  } catch (error) {
    return withMessage(`${name}: ${toProblem(error).message}`, before);
  }
};

// The same problem stays the same object, so that comparisons find no change.
const withMessage = (message: string, before: ProofMedia | undefined): ProofMedia =>
  before?.problem?.message === message
    ? before
    : { signature: '', sha256: undefined, problem: new Problem(PROOF_FILE, message) };

/** Problem code of a proof whose file is missing or unusable. */
const PROOF_FILE = 'proof_file';

// Editors that save by renaming leave such a gap, so the file stays valid for the grace period.
const missingMedia = (name: string, before: ProofMedia | undefined): ProofMedia => {
  const gone_at = before?.gone_at ?? performance.now();
  if (before?.sha256 !== undefined && isInGrace(gone_at)) return { ...before, gone_at };
  return withMessage(`${name} is missing. Restore it, or remove this proof`, before);
};

const CHUNK = Buffer.allocUnsafeSlow(1_048_576);

// Follows no link that was placed here since, and does not block on a pipe.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const hashOf = (path: string, looked: Stats): string =>
  whileOpen(openSync(path, FLAGS), (fd) => {
    const { size, ino } = fstatSync(fd);
    if (ino !== looked.ino) throw new Problem(PROOF_FILE, 'It was replaced while it was read');
    if (size > MAX_MEDIA_BYTES)
      throw new Problem(PROOF_FILE, `It has ${size} bytes; the limit is 25 MB. Make it smaller`);
    const hash = createHash('sha256');
    for (let at = 0, count = -1; count !== 0 && at <= MAX_MEDIA_BYTES; at += count) {
      count = readSync(fd, CHUNK, 0, CHUNK.length, at);
      hash.update(CHUNK.subarray(0, count));
    }
    return hash.digest('hex');
  });

/** The files in `proof/` that no proof names, without those that editors and tools leave behind. */
export const unnamedFiles = (names: readonly string[], known: ProofMedias): readonly string[] => {
  const unknown = names.filter((name) => !known.has(name) && isEvidence(name)).toSorted();
  return unknown.length === 0 ? NO_NAMES : unknown;
};

export const NO_NAMES: readonly string[] = [];

const isEvidence = (name: string): boolean =>
  /^[^.#~].*\.[A-Za-z0-9]{1,10}$/.test(name) && !/\.md/i.test(name) && !LEFT.test(name);

const LEFT =
  /\.(?:tmp|temp|bak|backup|orig|rej|save|swp|swo|part|partial|crdownload|download|lock|db|ini|pid)$/i;
