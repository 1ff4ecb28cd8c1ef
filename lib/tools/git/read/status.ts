import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { hasMarked, onIndexCopy } from '../run/index-copy.ts';
import { pathText } from '../run/path-text.ts';
import { stagedIndex } from './index-stages.ts';

export interface FileStatus {
  /** A path that is not UTF-8 is quoted as git does it: `"caf\351"`. */
  path: string;
  /** Two letters as in `git status --short`, with a dot for unchanged: `.M`, `A.`, `UU`; `??` is untracked. */
  code: string;
  /** The former path of a renamed or copied file. */
  from?: string;
  /** A submodule or an untracked nested repository. */
  repository: boolean;
}

interface Entry {
  file: FileStatus;
  /** Its object ids in the index, by stage; empty for untracked files. */
  staged: string[];
}

export interface WorktreeStatus {
  branch: string | null;
  head: string | null;
  upstream: string | null;
  ahead: number;
  behind: number;
  dirty: boolean;
  files: FileStatus[];
  /** Warnings of git about directories that it could not read, so that their files are missing here. */
  unread: string[];
  rebase_in_progress: boolean;
  /** Submodules were checked out here; this status does not cover changes in them. */
  has_submodules: boolean;
}

/** The state of a worktree, with untracked files listed one by one. Changes nothing, not even the index. */
export const status = async (git: GitAt<GitWorktree>): Promise<WorktreeStatus> => {
  const { stdout, stderr } = await git.run([...STATUS, '--find-renames'], { read: true });
  const { branch, head, headers, files } = parseStatus(stdout, 'utf8');
  const [, ahead = '0', behind = '0'] =
    /^\+(\d+) -(\d+)$/.exec(headers.get('branch.ab') ?? '') ?? [];
  return {
    branch,
    head,
    // An upstream that no longer exists has no branch.ab header and counts as none.
    upstream: headers.has('branch.ab') ? (headers.get('branch.upstream') ?? null) : null,
    ahead: Number(ahead),
    behind: Number(behind),
    dirty: files.length > 0,
    files,
    unread: [...stderr.matchAll(/^warning: (could not open directory '.*)$/gm)].map(
      ([, what = '']) => what.slice(0, MOST_CHARACTERS),
    ),
    rebase_in_progress: isRebasing(git.place),
    has_submodules: holdsAnything(join(git.place.git_dir, 'modules')),
  };
};

/** Whether a rebase has stopped or runs. */
export const isRebasing = ({ git_dir }: GitWorktree): boolean =>
  ['rebase-merge', 'rebase-apply'].some((name) => existsSync(join(git_dir, name)));

/** The same, with changes of files that are marked assume-unchanged or skip-worktree, which git leaves out. */
export const wholeStatus = (git: GitAt<GitWorktree>): Promise<WorktreeStatus> =>
  lookingAtAll(git, status);

/** Runs `look` where git looks at all files; on a copy of the index if some are marked, so that it leaves them out. */
export const lookingAtAll = async <T>(
  git: GitAt<GitWorktree>,
  look: (git: GitAt<GitWorktree>) => Promise<T>,
): Promise<T> => {
  const { said } = await stagedIndex(git);
  return hasMarked(said.stages) ? onIndexCopy(git, said.stages, look) : look(git);
};

const MOST_CHARACTERS = 200;

// The hardening does not cover a submodule's configuration, so git must not enter submodules.
export const STATUS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--ahead-behind',
  '--untracked-files=all',
  '--ignore-submodules=dirty',
];

/** The state of all files; paths are latin1, and a renamed file is a removed and an added one. */
export const readStatus = async (git: GitAt<GitWorktree>): Promise<ParsedStatus> =>
  parseStatus(await git.read([...STATUS, '--no-renames']), 'latin1');

interface ParsedStatus {
  /** Null if HEAD is detached. */
  branch: string | null;
  /** The commit of HEAD; null without one. */
  head: string | null;
  headers: Map<string, string>;
  files: FileStatus[];
  /** All object ids of these files in the index. */
  staged: string[];
}

/** Parses `status --porcelain=v2 -z`. Paths are latin1, or with `utf8` as `pathText` encodes them, as it does branches. */
export const parseStatus = (output: Buffer, encoding: 'utf8' | 'latin1'): ParsedStatus => {
  const headers = new Map<string, string>();
  const entries: Entry[] = [];
  const fields = output.toString('latin1').split('\0')[Symbol.iterator]();
  const named = encoding === 'utf8' ? pathText : (path: string) => path;
  for (const field of fields) {
    const header = /^# (\S+) (.*)$/s.exec(field);
    if (header !== null) headers.set(header[1] ?? '', pathText(header[2] ?? ''));
    else if (field !== '') entries.push(parseEntry(field, named, () => fields.next().value ?? ''));
  }
  const staged = entries.flatMap((entry) => entry.staged).filter((oid) => !/^0+$/.test(oid));
  const known = (header: string, none: string): string | null => {
    const value = headers.get(header) ?? none;
    return value === none ? null : value;
  };
  return {
    branch: known('branch.head', '(detached)'),
    head: known('branch.oid', '(initial)'),
    headers,
    files: entries.map((entry) => entry.file),
    staged,
  };
};

// The field numbers of the object ids and of the path, by kind of line.
const WORDS: Readonly<Record<string, readonly [staged: number, staged_end: number, path: number]>> =
  {
    '1': [7, 8, 8],
    '2': [7, 8, 9],
    u: [7, 10, 10],
  };

const parseEntry = (field: string, named: typeof pathText, next: () => string): Entry => {
  const kind = field.charAt(0);
  if (kind === '?') {
    const path = named(field.slice(2));
    return { file: { path, code: '??', repository: field.endsWith('/') }, staged: [] };
  }
  const words = field.split(' ');
  const [, code = '', submodule = ''] = words;
  const [from, to, rest] = WORDS[kind] ?? [1, 1, 1];
  const repository = submodule.startsWith('S');
  const file = { path: named(words.slice(rest).join(' ')), code, repository };
  const staged = repository ? [] : words.slice(from, to);
  return { file: kind === '2' ? { ...file, from: named(next()) } : file, staged };
};

// Not in HEAD: untracked, staged (but not in conflict), or only intended to be added.
const NEW = /^(?:\?\?|A[^AU]|\.A|UA)$/;

/** Whether a changed file is not in HEAD. */
export const isNew = ({ code }: Pick<FileStatus, 'code'>): boolean => NEW.test(code);

const holdsAnything = (directory: string): boolean =>
  existsSync(directory) && readdirSync(directory).length > 0;
