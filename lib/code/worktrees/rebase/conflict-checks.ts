import { lstat, readFile } from 'node:fs/promises';
import { counted, someOf } from '../../../text/wording.ts';
import { storeFiles } from '../../../tools/git/read/blobs.ts';
import { attributeOf } from '../../../tools/git/read/required-filters.ts';
import { blobOf } from '../../../tools/git/read/working-files.ts';
import type { GitAt, GitWorktree } from '../../../tools/git/run/git.ts';
import { onDisk } from '../../../tools/git/run/index-copy.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import type { WorktreeSnapshot } from '../../snapshots/snapshot.ts';
import { type Unmerged, unmergedFiles } from './unmerged.ts';

/** Lines of a file that are conflict markers. */
interface Leftover {
  path: string;
  /** From 1. */
  lines: number[];
}

/**
 * Finds conflict markers that are left in files. A line that one of the two sides contains as well does not count, such
 * as an underlined heading. Read-only.
 */
export const leftoverMarkers = async (
  git: GitAt<GitWorktree>,
  files: readonly Unmerged[],
): Promise<Leftover[]> => {
  const found: Leftover[] = [];
  const sizes = await attributeOf(
    git,
    'conflict-marker-size',
    files.map(({ path }) => path),
  );
  for (const file of files) {
    if (file.kind === 'submodule') continue;
    const content = await textAt(onDisk(git.place, file.path));
    const marks = content === undefined ? [] : marksIn(content, sizeIn(sizes.get(file.path)));
    if (marks.length === 0) continue;
    const lines = await withoutKnown(git, { file, marks });
    if (lines.length > 0) found.push({ path: pathText(file.path), lines });
  }
  return found;
};

/** The files in conflict that still have markers, as a sentence; undefined if none has. Read-only. */
export const leftMarkers = async (git: GitAt<GitWorktree>): Promise<string | undefined> => {
  const marked = await leftoverMarkers(git, await unmergedFiles(git));
  const named = someOf(marked.map(({ path }) => path));
  return marked.length === 0
    ? undefined
    : `Conflict markers remain in ${counted(marked.length, 'file')}: ${named}. Resolve them in the worktree, or start another session with resolve-with-agent.`;
};

const SIZE = 7;

const sizeIn = (attribute: string | undefined): number => {
  const size = Number(attribute);
  return size > 0 ? size : SIZE;
};

const textAt = async (path: Buffer): Promise<string | undefined> => {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() === true ? readFile(path, 'latin1') : undefined;
};

interface Mark {
  line: number;
  text: string;
}

const marksIn = (content: string, size: number): Mark[] => {
  const isMark = new RegExp(`^(?:<{${size}}|={${size}}|>{${size}}|\\|{${size}})(?: .*)?$`, 's');
  return content
    .split('\n')
    .map((text, at) => ({ line: at + 1, text: text.replace(/\r$/, '') }))
    .filter(({ text }) => isMark.test(text));
};

// A line may occur as often as in both sides together; further occurrences are markers.
const withoutKnown = async (
  git: GitAt<GitWorktree>,
  { file: { base, branch }, marks }: { file: Unmerged; marks: readonly Mark[] },
): Promise<number[]> => {
  const known = new Map<string, number>();
  for (const stage of [base, branch]) {
    const content = stage && (await blobOf(git, stage.oid)).toString('latin1');
    for (const line of content?.split('\n') ?? []) {
      const text = line.replace(/\r$/, '');
      known.set(text, (known.get(text) ?? 0) + 1);
    }
  }
  return marks
    .filter(({ text }) => {
      const left = known.get(text) ?? 0;
      known.set(text, left - 1);
      return left <= 0;
    })
    .map(({ line }) => line);
};

/** The files that have not changed since a snapshot: content, mode, link target, or absence. */
export const unchangedSince = async (
  git: GitAt<GitWorktree>,
  { commit }: Pick<WorktreeSnapshot, 'commit'>,
  files: readonly Unmerged[],
): Promise<Unmerged[]> => {
  if (files.length === 0) return [];
  const args = ['ls-tree', '-r', '-z', '--full-tree', `${commit}:files`];
  const lines = await git.names(args);
  const then = new Map(
    lines.map((line) => {
      const [, mode = '', oid = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
      return [path, `${mode} ${oid}`];
    }),
  );
  const paths = files.map(({ path }) => path);
  const stored = await storeFiles(git, paths);
  const now = new Map(stored.map(({ path, mode, oid }) => [path, `${mode} ${oid}`]));
  return files.filter(({ path }) => now.get(path) === then.get(path));
};
