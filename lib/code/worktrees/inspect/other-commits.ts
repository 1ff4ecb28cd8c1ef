import { visible } from '../../../../store/base/visible.ts';
import type { LeftOut, OtherCommits } from '../../../../store/records/work-commit.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { shorten } from '../../../text/wording.ts';
import { RAW, rawChanges } from '../../../tools/git/read/raw-diff.ts';
import { headCommit } from '../../../tools/git/read/repository.ts';
import { isNamedSecret } from '../../../tools/git/read/secret-names.ts';
import type { GitAt } from '../../../tools/git/run/git.ts';
import { lossyPath, pathText } from '../../../tools/git/run/path-text.ts';
import { LARGE } from '../../../tools/git/write/commit-files.ts';

/**
 * The commits of HEAD since `base` that no other branch has: before Dossier commits, these are the agent's, or the operator's.
 * Names the new files in them that Dossier would leave out. Undefined without any, then without a process of git.
 */
export const otherCommits = async (
  git: GitAt<WorktreeRecord>,
  base: string | null,
): Promise<OtherCommits | undefined> => {
  const head = await headCommit(git);
  if (head === undefined || head === base) return undefined;
  const own = `--exclude=${git.place.branch}`;
  const others = ['--not', own, '--branches', '--tags', '--remotes', '--'];
  const range = [head, ...(base === null ? [] : [`^${base}`]), ...others];
  const lines = await git.lines(['log', '--no-show-signature', '--format=%H %s', ...range]);
  if (lines.length === 0) return undefined;
  const commits = lines.slice(0, MOST_COMMITS).map((line) => {
    const [, id = '', subject = ''] = /^(\w+) ?(.*)$/s.exec(line) ?? [];
    return { id, subject: shorten(visible(subject), LONGEST_SUBJECT) };
  });
  const files = await unwantedFiles(git, range);
  return { count: lines.length, commits, files };
};

const MOST_COMMITS = 10;
const LONGEST_SUBJECT = 200;

// Of each commit: a file that a later one deletes is in the history all the same.
const unwantedFiles = async (
  git: GitAt<WorktreeRecord>,
  range: readonly string[],
): Promise<LeftOut[]> => {
  const how = [...RAW, '--no-abbrev', '--diff-filter=A'];
  const fields = await git.names(['log', '--no-show-signature', '--format=', ...how, ...range]);
  const files = rawChanges(fields).filter(({ now }) => /^1[02]/.test(now.mode));
  const added = new Map(files.map(({ path, now }) => [path, now.oid]));
  const large = await largeOf(git, [...new Set(added.values())]);
  const copied = git.place.setup?.copied ?? [];
  const whyOf = (path: string, oid: string): LeftOut['why'] | undefined => {
    if (copied.includes(lossyPath(path))) return 'copied';
    if (isNamedSecret(path)) return 'secret';
    return large.has(oid) ? 'large' : undefined;
  };
  return [...added].flatMap(([path, oid]) => {
    const why = whyOf(path, oid);
    return why === undefined ? [] : [{ path: pathText(path), why }];
  });
};

const largeOf = async (git: GitAt, oids: readonly string[]): Promise<ReadonlySet<string>> => {
  if (oids.length === 0) return new Set();
  const input = oids.map((oid) => `${oid}\n`).join('');
  const lines = await git.lines(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    input,
  });
  const sizes = lines.map((line) => line.split(' '));
  return new Set(sizes.flatMap(([oid = '', size]) => (Number(size) > LARGE ? [oid] : [])));
};
