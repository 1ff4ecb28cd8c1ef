/** A file of an archive as the archive tells it: nothing of this is believed before its bytes were read. */
export interface ArchiveEntry {
  /** Relative to the workspace, with slashes. */
  path: string;
  size: number;
  /** Permission bits alone. */
  mode: number;
  mtime: Date;
}

/** Something to import from: a zip file, or a directory that one was unpacked to. */
export interface Archive {
  /** As the operator named it. */
  readonly name: string;
  /** Undefined where it has none. */
  readonly manifest: ArchiveEntry | undefined;
  /** The other files, in the order in which they are best read: safe paths, and no two of them one file. */
  readonly entries: readonly ArchiveEntry[];
  /** The bytes of one. Throws an ArchiveError when they cannot be read as the archive says. */
  read(entry: ArchiveEntry): AsyncIterable<Uint8Array>;
  close(): void;
}

/** Why an archive is not imported: a sentence for the operator that names the entry and says what to do. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

const SHOWN = 120;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name from outside as a terminal may show it: in quotes, what controls a terminal escaped, cut where it is long. */
export const printableName = (name: string): string => {
  const visible = JSON.stringify(name).replace(UNSEEN, escaped);
  return visible.length <= SHOWN ? visible : `${visible.slice(0, SHOWN)}…"`;
};

const escaped = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
