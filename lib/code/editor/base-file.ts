import { etagOf } from '../../../store/base/names.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { pathNames } from '../../../store/fs/worktree/path.ts';
import { LARGEST_FILE, tooLarge } from '../../../store/fs/worktree/read.ts';
import type { EditorFile } from '../../../store/records/editor.ts';
import type { WithStore } from '../../../store/store.ts';
import { notFound } from '../../errors.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import { readEditorFile } from './content.ts';
import type { ServedFile } from './files.ts';
import { openWorktree } from './place.ts';

/** A file as the commit has it that the worktree began with: what git keeps, no filter done. 404 where it has none. */
export const readBaseFile = async (
  { store, git }: WithGit & WithStore,
  caseId: string,
  path: string,
): Promise<ServedFile<EditorFile>> => {
  pathNames(path);
  const worktree = await openWorktree(store, caseId);
  const at = git.at(worktree);
  const args = ['ls-tree', '-z', '--long', '--full-tree', worktree.base_commit, '--', path];
  const [, oid, size] = FILE.exec((await at.names(args))[0] ?? '') ?? [];
  if (oid === undefined) throw notFound('file in the base', path);
  if (Number(size) > LARGEST_FILE) throw tooLarge(path, Number(size));
  const bytes = await at.read(['cat-file', 'blob', oid], { max_bytes: LARGEST_FILE + 1 });
  const hash = sha256(bytes);
  return { file: readEditorFile({ path, bytes, sha256: hash }), etag: etagOf(hash) };
};

// No link: what it leads to is none of ours.
const FILE = /^100\d{3} blob ([0-9a-f]{40,64}) +(\d+)\t/;
