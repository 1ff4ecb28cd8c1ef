import { type GitAt, repositoryOf } from '../run/git.ts';
import { readRefLog } from '../write/ref-log.ts';

/** A changed ref. Its name is latin1; a stash is named `refs/stash@{<object>}`. */
export interface RefChange {
  ref: string;
  /** The object it pointed to, or the target of a symbolic ref; null if it did not exist. */
  before: string | null;
  after: string | null;
}

const KINDS = ['refs/heads', 'refs/tags', 'refs/notes', 'refs/replace'];

/**
 * Lists branches, tags, notes, replacements and stashes of a repository, one per line, with one git process. Leaves out
 * `refs/remotes`, which fetches change, and `refs/dossier`.
 */
export const listRefs = async (git: GitAt): Promise<Buffer> => {
  const place = repositoryOf(git.place);
  const args = ['for-each-ref', '--format=%(objectname) %(refname) %(symref)', ...KINDS];
  const stdout = await git.at(place).read(args);
  const stashes = (await readRefLog(place, STASH)).map(({ to }) => `${to} ${stashOf(to)} \n`);
  return Buffer.concat([stdout, Buffer.from(stashes.join(''), 'latin1')]);
};

export const STASH = 'refs/stash';

export const stashOf = (oid: string | null): string => `${STASH}@{${oid}}`;

/** The differences between two lists of one repository. */
export const changedRefs = (before: Buffer, after: Buffer): RefChange[] => {
  if (before.equals(after)) return [];
  const [had, has] = [valuesIn(before), valuesIn(after)];
  const changed = [...new Set([...had.keys(), ...has.keys()])].map((ref) => ({
    ref,
    before: had.get(ref) ?? null,
    after: has.get(ref) ?? null,
  }));
  return changed.filter((ref) => ref.before !== ref.after);
};

const valuesIn = (list: Buffer): Map<string, string> => {
  const lines = list.toString('latin1').split('\n').slice(0, -1);
  return new Map(
    lines.map((line) => {
      const [oid = '', ref = '', target = ''] = line.split(' ');
      return [ref, target || oid];
    }),
  );
};

/** Whether a ref's value is an object id, not the target of a symbolic ref. */
export const isObject = (value: string | null | undefined): value is string =>
  value != null && /^[0-9a-f]{40,64}$/.test(value);
