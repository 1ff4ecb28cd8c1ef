/** A file that differs between two trees. */
export interface RawChange {
  path: string;
  /** `A`, `D`, `M`, `T` and so on. */
  letter: string;
  /** Modes and object ids, all zeros where there is no file; those of `--raw` are shortened for `log` and `diff`. */
  before: { mode: string; oid: string };
  now: { mode: string; oid: string };
}

/** Arguments of `diff-tree` and `log --format=` that list what `rawChanges` reads. */
export const RAW = ['-r', '-z', '--raw', '--no-renames'];

/** Parses the output of `RAW`, split at NUL. */
export const rawChanges = (fields: readonly string[]): RawChange[] =>
  fields.flatMap((field, at) => {
    const [, was = '', is = '', old = '', now = '', letter = ''] =
      at % 2 === 0 ? (CHANGE.exec(field) ?? []) : [];
    const path = fields[at + 1];
    if (letter === '' || path === undefined) return [];
    return [{ path, letter, before: { mode: was, oid: old }, now: { mode: is, oid: now } }];
  });

const CHANGE = /^:(\d{6}) (\d{6}) (\w+)\.* (\w+)\.* (\w)/;
