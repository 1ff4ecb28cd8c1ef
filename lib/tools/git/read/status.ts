import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { GitAt, GitWorktree, Setting } from '../run/git.ts';

import { pathText } from '../run/path-text.ts';

export interface FileStatus {
  /** One that is not UTF-8 is as git quotes it: `"caf\351"`. */
  path: string;
  /** Two letters as in `git status --short`, with a dot for unchanged: `.M`, `A.`, `UU`; `??` is untracked. */
  code: string;
  /** Where a renamed or copied file was before. */
  from?: string;
  /** A submodule, or a repository inside the worktree that git does not look into. */
  repository: boolean;
}

interface Entry {
  file: FileStatus;
  /** The contents that the index has for it, by stage; nothing for untracked files. */
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
  rebase_in_progress: boolean;
  /** Submodules were checked out here: they may hold work that this status does not see. */
  has_submodules: boolean;
}

/**
 * The state of a worktree as git sees it, untracked files one by one. Changes nothing, not even the index. Where the
 * branch has no upstream, it is measured from `from`, which then is told as the upstream; undefined: from nothing.
 */
export const status = async (
  git: GitAt<GitWorktree>,
  from?: { branch: string; base: string },
): Promise<WorktreeStatus> => {
  const defaults: Setting[] =
    from === undefined
      ? []
      : [
          [`branch.${from.branch}.remote`, '.'],
          [`branch.${from.branch}.merge`, from.base],
        ];
  const args = [...STATUS, '--find-renames'];
  const stdout = await git.read(args, { defaults });
  const { headers, files } = parseStatus(stdout, 'utf8');
  const [, ahead = '0', behind = '0'] =
    /^\+(\d+) -(\d+)$/.exec(headers.get('branch.ab') ?? '') ?? [];
  const branch = headers.get('branch.head');
  const head = headers.get('branch.oid');
  return {
    branch: branch === undefined || branch === '(detached)' ? null : branch,
    head: head === undefined || head === '(initial)' ? null : head,
    // One that is gone is none: there is nothing to measure from.
    upstream: headers.has('branch.ab') ? (headers.get('branch.upstream') ?? null) : null,
    ahead: Number(ahead),
    behind: Number(behind),
    dirty: files.length > 0,
    files,
    rebase_in_progress: ['rebase-merge', 'rebase-apply'].some((name) =>
      existsSync(join(git.place.git_dir, name)),
    ),
    has_submodules: holdsAnything(join(git.place.git_dir, 'modules')),
  };
};

// A submodule's own configuration is out of reach of the hardening, so git is kept from going into one.
export const STATUS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--ahead-behind',
  '--untracked-files=all',
  '--ignore-submodules=dirty',
];

interface ParsedStatus {
  headers: Map<string, string>;
  files: FileStatus[];
  /** All contents that the index has for these files. */
  staged: string[];
}

/** Reads `status --porcelain=v2 -z`. With `latin1` every byte of a path is one character; else it is as `pathText` has it. */
export const parseStatus = (output: Buffer, encoding: 'utf8' | 'latin1'): ParsedStatus => {
  const headers = new Map<string, string>();
  const entries: Entry[] = [];
  const fields = output.toString('latin1').split('\0')[Symbol.iterator]();
  const named = encoding === 'utf8' ? pathText : (path: string) => path;
  for (const field of fields) {
    const header = /^# (\S+) (.*)$/s.exec(field);
    if (header !== null) headers.set(header[1] ?? '', named(header[2] ?? ''));
    else if (field !== '') entries.push(parseEntry(field, named, () => fields.next().value ?? ''));
  }
  const staged = entries.flatMap((entry) => entry.staged).filter((oid) => !/^0+$/.test(oid));
  return { headers, files: entries.map((entry) => entry.file), staged };
};

// Where the contents in the index stand, and where the path begins, by the kind of the line.
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

const holdsAnything = (directory: string): boolean =>
  existsSync(directory) && readdirSync(directory).length > 0;
