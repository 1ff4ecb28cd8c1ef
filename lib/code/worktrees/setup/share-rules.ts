import { posix } from 'node:path';
import type { StoredSnapshot } from '../../../../store/worktrees/shared-snapshots.ts';

/** What is wrong with a directory of `share`, worded to follow its name; undefined if it is valid. */
export const wrongShare = (path: string): string | undefined => {
  if (path.includes('\0')) return 'contains a NUL character';
  const parts = path.split('/');
  if (path.startsWith('/') || parts.some((part) => PLACES.includes(part)))
    return 'is not a path below the top of the worktree: use one such as packages/app/node_modules, without . and ..';
  if (/[*?[\]{}]/.test(path)) return 'is a pattern: name each directory';
  if (parts.some((part) => VIRTUAL.test(part)))
    return 'contains absolute paths of the worktree where it was made, so a copy would use that worktree: let a setup command make it in each worktree';
  if (!SHARED.includes(parts.at(-1) ?? ''))
    return `is not determined by a lockfile alone. Directories named ${SHARED.join(' or ')} can be shared`;
  return undefined;
};

const PLACES = ['', '.', '..', '.git'];
const SHARED: readonly string[] = ['node_modules', 'vendor'];
// Virtual environments of Python, and of tools that make them.
const VIRTUAL = /^(?:\.?v?env|\.?virtualenv|\.tox|\.nox|\.direnv|__pypackages__)$/i;

/**
 * Whether a link may be copied: it is relative and leads to a path inside the worktree. `path` is the place of the link,
 * relative to the worktree. After the leading `..` there are only names, because `a/..` leaves the directory of a link `a`.
 */
export const isLinkInside = (path: string, target: string): boolean => {
  if (target === '' || target.startsWith('/')) return false;
  const names = target.split('/').filter((part) => part !== '' && part !== '.');
  const up = names.findIndex((part) => part !== '..');
  const rest = up < 0 ? [] : names.slice(up);
  const reached = posix.join(posix.dirname(path), target);
  return !rest.includes('..') && reached !== '..' && !reached.startsWith('../');
};

/** The most snapshots of a workspace, and their largest total size. */
interface SnapshotBounds {
  count: number;
  bytes: number;
}

export const SNAPSHOT_BOUNDS: SnapshotBounds = { count: 8, bytes: 8 * 1024 ** 3 };

/** The snapshots beyond the bounds, least recently used; `all` begins with the most recently used. */
export const surplusOf = (
  all: readonly StoredSnapshot[],
  { count, bytes }: SnapshotBounds = SNAPSHOT_BOUNDS,
): StoredSnapshot[] => {
  let total = 0;
  return all.filter(({ snapshot }, at) => {
    total += snapshot.bytes;
    return at >= count || total > bytes;
  });
};
