/** A file as declared by the archive. Its bytes are checked against this when they are read. */
export interface ArchiveEntry {
  /** Relative to the workspace, with slashes. */
  path: string;
  size: number;
  /** Permission bits only. */
  mode: number;
  mtime: Date;
}

/** An export to import: a zip file, or the directory that it was unpacked to. */
export interface Archive {
  /** The path given by the operator. */
  readonly name: string;
  /** Undefined if the archive has none. */
  readonly manifest: ArchiveEntry | undefined;
  /** The other files, in the best order to read them: with safe paths, and each file once. */
  readonly entries: readonly ArchiveEntry[];
  /** The bytes of an entry. Throws an ArchiveError if they differ from what the archive declares. */
  read(entry: ArchiveEntry): AsyncIterable<Uint8Array>;
  close(): void;
}

/** Why an archive was not imported. The message is for the operator, names the entry and says what to do. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

const SHOWN = 120;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** An untrusted name safe to print: in quotes, with control characters escaped, and cut if long. */
export const printableName = (name: string): string => {
  const visible = JSON.stringify(name).replace(UNSEEN, escaped);
  return visible.length <= SHOWN ? visible : `${visible.slice(0, SHOWN)}…"`;
};

const escaped = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
