import { fenceOff } from '../../../../store/base/text.ts';
import {
  type LeftOut,
  uncommittedSentence,
  type WorkCommit,
} from '../../../../store/records/work-commit.ts';
import { counted, oneLine } from '../../../text/wording.ts';

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

const leftOutLine = ({ path, why }: LeftOut): string => `${path}  ${LEFT_OUT[why]}`;

const otherCommitsPart = ({ other_commits }: WorkCommit): string[] => {
  if (other_commits == null) return [];
  const { count, commits, files } = other_commits;
  const lines = commits.map(({ id, subject }) => `${id.slice(0, 12)} ${oneLine(subject)}`);
  const more = count - commits.length;
  return [
    '## Commits of others',
    `${counted(count, 'commit')} on the branch ${count === 1 ? 'is' : 'are'} not by Dossier, but by the agent or, meanwhile, by you. Nothing of them is undone:`,
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

const LEFT_OUT: Readonly<Record<LeftOut['why'], string>> = {
  secret: 'is named like a file with secrets',
  copied: 'was copied from your checkout by copy_files',
  large: 'is over 5 MB',
  repository: 'is a git repository of its own',
  name: 'has a name that git refuses',
  filter: 'needs a filter of the repository, which Dossier does not run: commit it yourself',
};
