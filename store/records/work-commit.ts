import { type Static, Type } from 'typebox';
import { maybe, Oid, orNull } from './fields.ts';

export const LeftOut = Type.Object({
  path: Type.String(),
  why: Type.Enum(['secret', 'copied', 'large', 'repository', 'name', 'filter'], {
    description:
      '`secret`: its name suggests a secret; `copied`: a new file that `copy_files` copied from the checkout; `large`: over 5 MB, or a tracked file over 1 GiB; `repository`: a git repository of its own; `name`: git refuses its name, such as `git~1`; `filter`: the repository has a filter for it, such as git-crypt, which the daemon does not run',
  }),
});
export type LeftOut = Static<typeof LeftOut>;

export const OtherCommits = Type.Object({
  count: Type.Integer({ minimum: 1 }),
  commits: Type.Array(Type.Object({ id: Oid, subject: Type.String() }), {
    description: 'The newest 10',
  }),
  files: Type.Array(LeftOut, {
    description:
      'New files in them that Dossier would have left out: the first ones, as many as fit',
  }),
});
export type OtherCommits = Static<typeof OtherCommits>;

/**
 * The commit of completed work, as in session.md. Of a session that was paused, failed or was aborted, what it left
 * uncommitted; `head` is the commit of HEAD then.
 */
export const WorkCommit = Type.Object({
  id: orNull(Oid, "The commit on the worktree's branch; null if nothing was committed"),
  files: Type.Integer({
    minimum: 0,
    description:
      'The number of files in the commit, or of uncommitted files where nothing was committed',
  }),
  left_out: Type.Array(LeftOut, {
    description: 'Changed files that stay uncommitted: the first 100',
  }),
  head: maybe(Oid),
  reason: maybe(Type.String({ description: 'Why nothing was committed' })),
  command: maybe(Type.String({ description: 'The command that commits it, if there is one' })),
  /** Commits since the base that Dossier did not make: the agent's or, meanwhile, the operator's. */
  other_commits: maybe(OtherCommits),
  reverted: maybe(
    Type.Array(Type.String(), {
      description:
        'Files that differed from the base when the plan was approved, and that the work reverted or deleted: the first ones, as many as fit. since-approval.patch has their content',
    }),
  ),
});
export type WorkCommit = Static<typeof WorkCommit>;

/** The commit as the API returns it. */
export const SessionCommit = Type.Object(
  {
    ...WorkCommit.properties,
    message: orNull(
      Type.String(),
      'For people, if files are not committed, or were reverted: `Not committed: .env.local`, `12 uncommitted files`',
    ),
  },
  { $id: 'SessionCommit', description: "The commit of the session's changes" },
);
export type SessionCommit = Static<typeof SessionCommit>;

/** What the operator has to know of a commit and of what is not in it; null if there is nothing. */
export const commitSentence = (commit: WorkCommit): string | null => {
  const { reverted, other_commits } = commit;
  const unwanted = other_commits?.files ?? [];
  const sentences = [
    uncommittedSentence(commit),
    unwanted.length === 0
      ? null
      : `In commits that Dossier did not make: ${namesOf(unwanted.map(({ path }) => path))}`,
    reverted == null ? null : `Reverted or deleted since the approval: ${namesOf(reverted)}`,
  ].filter((sentence) => sentence !== null);
  return sentences.length === 0 ? null : sentences.join('. ');
};

/** One sentence about uncommitted files of completed work; null if there are none. */
export const uncommittedSentence = ({ id, files, left_out, reason }: WorkCommit): string | null => {
  if (reason != null) return `${files} ${files === 1 ? 'file' : 'files'} not committed: ${reason}`;
  if (id === null && files > 0) return uncommittedCount(files + left_out.length);
  if (left_out.length === 0) return null;
  const names = namesOf(left_out.map(({ path }) => path));
  return `${id === null ? 'Nothing was committed; left out' : 'Not committed'}: ${names}`;
};

const namesOf = (paths: readonly string[]): string => {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  return `${paths.slice(0, NAMED).join(', ')}${more}`;
};

/** `1 uncommitted file`, `12 uncommitted files`. */
const uncommittedCount = (count: number): string =>
  `${count} uncommitted ${count === 1 ? 'file' : 'files'}`;

const NAMED = 3;
