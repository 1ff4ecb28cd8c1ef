import { type GitAt, repositoryOf } from '../run/git.ts';
import { readRefLog } from '../write/ref-log.ts';

/** A ref that is not what it was. Its name is read as latin1, byte for byte; a stash is named `refs/stash@{<object>}`. */
export interface RefChange {
  ref: string;
  /** The object it pointed to; of a symbolic ref the name of another; null: it was not there. */
  before: string | null;
  after: string | null;
}

const KINDS = ['refs/heads', 'refs/tags', 'refs/notes', 'refs/replace'];

/**
 * The branches, tags, notes, replacements and stashes of a repository, one a line: what fetching changes (`refs/remotes`)
 * and what Dossier keeps (`refs/dossier`) is not among them. One git process, however many there are.
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

/** What differs between two lists of one repository. */
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

/** Whether it is an object: another ref is a symbolic one's value. */
export const isObject = (value: string | null): value is string =>
  value !== null && /^[0-9a-f]{40,64}$/.test(value);
