import { type FilePatch, filesOf } from '../../../text/patch.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';

interface Patches {
  /** The patch against the base. */
  patch: Buffer;
  /** Files that it leaves out. */
  left_out: readonly string[];
  /** The patch since the approval. */
  since: Buffer;
}

/** The files that differed from the base at the approval, and that were reverted or deleted since. */
export const revertedFiles = ({ patch, left_out, since }: Patches): string[] => {
  const now = new Map<string, FilePatch>();
  for (const file of filesOf(patch.toString('utf8')))
    for (const path of [file.from, file.path]) if (path !== undefined) now.set(path, file);
  const later = filesOf(since.toString('utf8'));
  const created = new Set(later.flatMap((file) => (file.kind === 'new' ? blobsOf(file)[1] : [])));
  const isMoved = (file: FilePatch): boolean =>
    file.kind === 'deleted' && created.has(blobsOf(file)[0]);
  return later
    .filter((file) => file.kind !== 'new' && !isMoved(file) && isGone(file, now.get(file.path)))
    .map(({ path }) => pathText(Buffer.from(path).toString('latin1')))
    .filter((path) => !left_out.includes(path));
};

// A file that is deleted in both patches differed from the base if they name other content.
const isGone = (file: FilePatch, now: FilePatch | undefined): boolean =>
  now === undefined ||
  (file.kind === 'deleted' && now.kind === 'deleted' && blobsOf(file)[0] !== blobsOf(now)[0]);

const blobsOf = ({ text }: FilePatch): (string | undefined)[] =>
  /^index ([0-9a-f]+)\.\.([0-9a-f]+)/m.exec(text)?.slice(1) ?? [];
