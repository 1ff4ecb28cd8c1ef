import { fenceOff } from '../../../../store/base/text.ts';
import {
  type LeftOut,
  type OtherCommits,
  uncommittedSentence,
  type WorkCommit,
} from '../../../../store/records/work-commit.ts';
import type { RunsLater } from '../../../code/worktrees/inspect/runs-later.ts';
import { counted, oneLine } from '../../../text/wording.ts';
import type { ChangedFile } from '../../../tools/git/read/diff-output.ts';

/** The changes in the worktree against the base. */
export interface KnownChanges {
  files: readonly ChangedFile[];
  left_out: readonly string[];
  /** `ignoredUnseen`. */
  unseen?: readonly string[];
  /** New files that are named like secrets, whose content is not in the patch. */
  withheld?: readonly string[];
  /** Whether the worktree differed from the base at the approval: what changed since is in a patch of its own. */
  isSince?: boolean;
  runs?: readonly RunsLater[];
  /** Not by the daemon. */
  other_commits?: OtherCommits | undefined;
  /** `revertedFiles`. */
  reverted?: readonly string[];
}

/** The same, or why they cannot be determined. */
export type WorktreeChanges = KnownChanges | { unknown: string };

/** The part of session.md about the changes in the worktree. */
export const changesPart = (changes: WorktreeChanges | undefined): string[] => {
  if (changes === undefined) return [];
  if ('unknown' in changes)
    return [
      '## What changed',
      'It can no longer be determined:',
      fenceOff(changes.unknown, 'text'),
    ];
  const { runs = [], reverted = [] } = changes;
  return [
    '## What changed',
    ...runsPart(runs),
    ...files(changes.files, reverted),
    ...revertedPart(reverted),
    ...leftOut(changes),
  ];
};

const runsPart = (runs: readonly RunsLater[]): string[] => {
  const lines = runs.map(({ path, runs: when }) => `${oneLine(path)}: ${when.join('; ')}`);
  return part(
    'Files that run something later, outside the sandbox:',
    firstOf(lines, 'files').join('\n'),
  );
};

const files = (changedFiles: readonly ChangedFile[], reverted: readonly string[]): string[] => {
  if (changedFiles.length === 0)
    return [reverted.length === 0 ? 'No file was changed.' : 'No file differs from the base.'];
  const sum = (of: 'additions' | 'deletions'): number =>
    changedFiles.reduce((total, file) => total + (file[of] ?? 0), 0);
  return [
    `${counted(changedFiles.length, 'file')}, +${sum('additions')} −${sum('deletions')}: see [diff.patch](diff.patch).`,
    fenceOff(firstOf(changedFiles.map(changedLine), 'files').join('\n'), 'text'),
  ];
};

const changedLine = ({ what, path, additions, deletions, now }: ChangedFile): string => {
  const lines = additions === null ? 'binary' : `+${additions} −${deletions}`;
  return `${what.padEnd(8)} ${path}  ${lines}${now === undefined ? '' : `  now a ${now}`}`;
};

const revertedPart = (paths: readonly string[]): string[] =>
  paths.length === 0 ? [] : [...namesPart(REVERTED_NAMES, paths), REVERTED];

const namesPart = (heading: string, paths: readonly string[]): string[] =>
  part(heading, firstOf(paths.map(oneLine), 'files').join('\n'));

const REVERTED_NAMES =
  'These files differed from the base when the plan was approved, and were reverted or deleted since:';

const REVERTED =
  'Their content is in [since-approval.patch](since-approval.patch): `git apply --reverse --include=PATH since-approval.patch`, in the worktree and with the path of that file, restores one.';

const leftOut = ({ left_out, unseen = [], withheld = [] }: KnownChanges): string[] => [
  ...namesPart(LEFT_OUT, left_out),
  ...namesPart(UNSEEN, unseen),
  ...namesPart(WITHHELD, withheld),
];

const LEFT_OUT =
  'Not in the patch (git repositories of their own, uncommitted changes in submodules, files over 1 GiB, names that git refuses, ignored files that were removed from the index alone, and text after `$Id:` that `ident` in .gitattributes hides):';
const UNSEEN =
  'Neither in the patch nor committed, only in the worktree (hidden by a .gitignore that git ignores, too):';
const WITHHELD =
  'Not in the patch, only in the worktree (new files that are named like secrets, or were copied from your checkout):';

const SETTINGS = [
  /(^|["/])\.(claude|codex|opencode|gemini|qwen|cursor|vscode)\//,
  /(^|["/])(\.mcp\.json|opencode\.jsonc?|CLAUDE\.md|CLAUDE\.local\.md|AGENTS(\.override)?\.md|GEMINI\.md|QWEN\.md)"?$/,
];

/**
 * Changed files that agents and editors read as settings, so that they may run something later outside of the sandbox.
 */
export const settingsTouched = (changes: WorktreeChanges | undefined): string[] => {
  if (changes === undefined || 'unknown' in changes) return [];
  const { files, unseen = [] } = changes;
  return [
    ...settingsPart(
      'were changed',
      files.map(({ path }) => path),
    ),
    ...settingsPart('are there that git does not show', unseen),
  ];
};

const settingsPart = (what: string, paths: readonly string[]): string[] => {
  const named = paths.filter((path) => SETTINGS.some((pattern) => pattern.test(path)));
  if (named.length === 0) return [];
  return [
    `**Settings of agents or editors ${what}:** ${named.map((path) => `\`${path}\``).join(', ')}. An agent or editor that is started there may run what they name, outside of the sandbox. Read them first.`,
  ];
};

/** The part of session.md about the commit of the work, or about what is uncommitted. */
export const commitPart = (
  status: 'completed' | 'failed' | 'aborted' | 'paused',
  branch: string | null,
  commit: WorkCommit | undefined,
): string[] => {
  if (commit === undefined) return [];
  const others = otherCommitsPart(commit);
  if (isEmpty(commit)) return others;
  const { command, left_out } = commit;
  const rest = left_out.map(leftOutLine);
  return [
    ...others,
    '## Commit',
    status === 'completed' ? committedLine(branch, commit) : uncommittedLine(commit),
    ...(command == null ? [] : ['To commit it:', fenceOff(command, 'sh')]),
    ...(rest.length === 0 ? [] : ['Left uncommitted:', fenceOff(rest.join('\n'), 'text')]),
  ];
};

const leftOutLine = ({ path, why }: LeftOut): string => `${path}  ${WHY_LEFT_OUT[why]}`;

const otherCommitsPart = ({ other_commits }: WorkCommit): string[] => {
  if (other_commits == null) return [];
  const { count, commits, files } = other_commits;
  const lines = commits.map(({ id, subject }) => `${id.slice(0, 12)} ${oneLine(subject)}`);
  const more = count - commits.length;
  return [
    '## Commits of others',
    `The branch has ${counted(count, 'commit')} that Dossier did not make, but the agent or, meanwhile, you. ${count === 1 ? 'It is' : 'They are'} not undone:`,
    fenceOff([...lines, ...(more > 0 ? [`and ${more} more commits`] : [])].join('\n'), 'text'),
    ...(files.length === 0 ? [] : [UNWANTED, fenceOff(files.map(leftOutLine).join('\n'), 'text')]),
  ];
};

const UNWANTED =
  '**They contain files that Dossier would have left out.** Remove them from the history of the branch before you push it:';

const isEmpty = ({ id, files, left_out, reason }: WorkCommit): boolean =>
  id === null && files === 0 && left_out.length === 0 && reason == null;

const committedLine = (branch: string | null, { id, files, reason }: WorkCommit): string =>
  id === null
    ? `Nothing was committed${reason == null ? '' : `: ${oneLine(reason)}`}.`
    : `${counted(files, 'file')} on \`${branch ?? 'HEAD'}\`: \`git show ${id.slice(0, 12)}\`. Hooks of the repository were not run.`;

const uncommittedLine = (commit: WorkCommit): string =>
  `${uncommittedSentence(commit) ?? 'No uncommitted files'}. Only completed work is committed.`;

const WHY_LEFT_OUT: Readonly<Record<LeftOut['why'], string>> = {
  secret: 'is named like a file with secrets',
  copied: 'was copied from your checkout by copy_files',
  large: 'is over 5 MB',
  repository: 'is a git repository of its own',
  name: 'has a name that git refuses',
  filter: 'needs a filter of the repository, which Dossier does not run: commit it yourself',
};

/** A part of session.md: a heading and a text in a fence; nothing without a text. */
export const part = (heading: string, text: string, language = 'text'): string[] =>
  text === '' ? [] : [heading, fenceOff(text, language)];

/** The first hundred lines, and how many more there are. */
export const firstOf = (lines: readonly string[], what: string): string[] => {
  const more = lines.length - MOST_LINES;
  return more <= 0 ? [...lines] : [...lines.slice(0, MOST_LINES), `and ${more} more ${what}`];
};

const MOST_LINES = 100;
