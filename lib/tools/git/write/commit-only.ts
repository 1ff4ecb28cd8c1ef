import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../process/environment.ts';
import { headCommit } from '../read/repository.ts';
import { DAEMON } from '../run/author.ts';
import type { GitWorktree, RunGit } from '../run/git.ts';
import { type Changed, hasIdentity } from './commit.ts';

interface OwnCommit {
  changed: readonly Changed[];
  message: string;
  /** A directory of this machine's own: the index that the commit is made with is there while it is made. */
  scratch: string;
}

/**
 * Commits these files as they are, new and removed ones too, and nothing else, with an index of its own: each is read
 * once. In the operator's index a file that is as the last commit had it becomes what this one has; what they staged
 * stays, in a file that is committed here, too. No hook runs, nothing is signed.
 */
export const commitOnly = async (
  run: RunGit,
  repository: GitWorktree,
  { changed, message, scratch }: OwnCommit,
): Promise<void> => {
  const before = await headCommit({ run }, repository);
  const tree = await treeOf(run, repository, { before, changed, scratch });
  if (before !== undefined && tree === (await idOf(run, repository, `${before}^{tree}`))) return;
  const env = (await hasIdentity({ run }, repository)) ? {} : { env: DAEMON };
  const parents = before === undefined ? [] : ['-p', before];
  const input = `${message}\n`;
  const commit = textOf(
    await run(repository, ['commit-tree', tree, ...parents], { ...env, input }),
  );
  const nothing = '0'.repeat(commit.length);
  const moves = `update HEAD ${commit} ${before ?? nothing}\nupdate ${MARK} ${commit}\n`;
  await run(repository, ['update-ref', '-m', `commit: ${message}`, '--stdin'], {
    ...env,
    input: moves,
  });
  await forget(run, repository, changed);
  await alignIndex(run, repository, { commit, scratch });
};

/** Names the commit of which the operator's index does not know yet: who dies before it does leaves it to the next. */
const MARK = 'refs/dossier/unaligned';

/** Does what a daemon that died after a commit has left to do. */
export const finishCommit = async (
  run: RunGit,
  repository: GitWorktree,
  scratch: string,
): Promise<void> => {
  const commit = await idOf(run, repository, MARK);
  if (commit === undefined) return;
  const isNewest = commit === (await headCommit({ run }, repository));
  if (isNewest) await alignIndex(run, repository, { commit, scratch });
  else await run(repository, ['update-ref', '-d', MARK]);
};

/** Runs work with an index that is empty and this commit's alone. */
const onOwnIndex = async <T>(
  scratch: string,
  work: (env: Environment) => Promise<T>,
): Promise<T> => {
  const index = join(scratch, `index-${randomUUID()}`);
  try {
    return await work({ GIT_INDEX_FILE: index });
  } finally {
    await Promise.all([index, `${index}.lock`].map((path) => rm(path, { force: true })));
  }
};

const treeOf = (
  run: RunGit,
  repository: GitWorktree,
  { before, changed, scratch }: Omit<OwnCommit, 'message'> & { before: string | undefined },
): Promise<string> =>
  onOwnIndex(scratch, async (env) => {
    if (before !== undefined) await run(repository, ['read-tree', before], { env });
    const input = listed(changed.map(({ path }) => path));
    const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
    await run(repository, args, { env, input });
    return textOf(await run(repository, ['write-tree'], { env }));
  });

// Only named so far (git add -N): to git its content is none, and so another than the commit's.
const forget = async (
  run: RunGit,
  repository: GitWorktree,
  changed: readonly Changed[],
): Promise<void> => {
  const paths = changed.filter(({ named }) => named === true).map(({ path }) => path);
  if (paths.length === 0) return;
  const args = ['update-index', '--force-remove', '-z', '--stdin'];
  await run(repository, args, { input: listed(paths) });
};

interface Made {
  commit: string;
  scratch: string;
}

/**
 * Brings the operator's index from a commit's parent to the commit. Git does all of it or nothing: where they have just
 * staged something of one file, the others are brought one by one.
 */
const alignIndex = async (run: RunGit, repository: GitWorktree, made: Made): Promise<void> => {
  const { commit } = made;
  const parent = await idOf(run, repository, `${commit}^`);
  const before = parent ?? (await treeWith(run, repository, made, []));
  const isWhole = await move(run, repository, before, commit);
  const changes = await changesOf(run, repository, commit);
  if (!isWhole) await alignEach(run, repository, made, changes);
  const standing = changes.flatMap(({ path, is }) => (is.length === 0 ? [] : [path]));
  // What git knows of a file's time and size: it would read each of them again otherwise.
  if (standing.length > 0)
    await run(repository, ['add', '--refresh', ...FROM_INPUT], {
      input: listed(standing),
      ok: [0, 1, 128],
    });
  await run(repository, ['update-ref', '-d', MARK]);
};

const alignEach = async (
  run: RunGit,
  repository: GitWorktree,
  made: Made,
  changes: readonly Change[],
): Promise<void> => {
  for (const { was, is } of changes) {
    const before = await treeWith(run, repository, made, was);
    const after = await treeWith(run, repository, made, is);
    await move(run, repository, before, after);
  }
};

// What is in neither, or the same in both, stays in the index as it is; so does what is already as it is to be.
const move = async (
  run: RunGit,
  repository: GitWorktree,
  before: string,
  after: string,
): Promise<boolean> =>
  (await run(repository, ['read-tree', '-m', '-i', before, after], { ok: [0, 128] })).code === 0;

const treeWith = (
  run: RunGit,
  repository: GitWorktree,
  { scratch }: Made,
  lines: readonly string[],
): Promise<string> =>
  onOwnIndex(scratch, async (env) => {
    const args = ['update-index', '-z', '--index-info'];
    await run(repository, args, { env, input: listed(lines) });
    return textOf(await run(repository, ['write-tree'], { env }));
  });

/** A file of a commit as an index has it, before and after: no line where it is not there. */
interface Change {
  path: string;
  was: string[];
  is: string[];
}

const changesOf = async (
  run: RunGit,
  repository: GitWorktree,
  commit: string,
): Promise<Change[]> => {
  const args = ['diff-tree', '--root', '--no-commit-id', '--no-renames', '-r', '-z', commit];
  const fields = textOf(await run(repository, args, { read: true })).split('\0');
  return fields.flatMap((field, at) => {
    const [, was = '', is = '', old = '', now = ''] =
      /^:(\d+) (\d+) (\w+) (\w+) /.exec(field) ?? [];
    const path = fields[at + 1] ?? '';
    const line = (mode: string, oid: string): string[] =>
      Number(mode) === 0 ? [] : [`${mode} ${oid}\t${path}`];
    return at % 2 === 1 || is === '' ? [] : [{ path, was: line(was, old), is: line(is, now) }];
  });
};

const textOf = ({ stdout }: { stdout: Buffer }): string => stdout.toString('utf8').trimEnd();

const idOf = async (
  run: RunGit,
  repository: GitWorktree,
  name: string,
): Promise<string | undefined> => {
  const args = ['rev-parse', '--verify', '--quiet', name];
  return textOf(await run(repository, args, { read: true, ok: [0, 1] })) || undefined;
};

const FROM_INPUT = ['--pathspec-from-file=-', '--pathspec-file-nul'];

const listed = (lines: readonly string[]): string => lines.map((line) => `${line}\0`).join('');
