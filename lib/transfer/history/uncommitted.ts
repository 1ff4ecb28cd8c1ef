import type { FileProblem } from '../../../store/front-matter/problem.ts';
import type { Store } from '../../../store/store.ts';
import type { FileStatus } from '../../tools/git/read/status.ts';

const OWNER = 'autocommit';

interface Look {
  /** What was looked at, from the workspace. */
  places: readonly string[];
  left: readonly FileStatus[];
  /** Of the workspace in its repository. */
  prefix: string;
}

/** Tells which files the daemon leaves to the operator to commit, until it finds them committed. */
export const tellUncommitted = ({ problems }: Store, { places, left, prefix }: Look): void => {
  const isLookedAt = ({ file }: FileProblem): boolean =>
    places.some((place) => file === place || file.startsWith(`${place}/`));
  const elsewhere = problems.of(OWNER).filter((problem) => !isLookedAt(problem));
  problems.set(OWNER, [...elsewhere, ...left.map((file) => problemOf(file, prefix))]);
};

/** Nobody wants them committed any more. */
export const forgetUncommitted = ({ problems }: Store): void => problems.set(OWNER, []);

const problemOf = ({ path, repository }: FileStatus, prefix: string): FileProblem => ({
  file: path.slice(prefix.length),
  code: 'not_committed',
  message: repository ? NESTED : STAGED,
});

const STAGED =
  'It is not committed, for something of it is staged. git commit keeps what you staged; git restore --staged gives the file back to autocommit';
const NESTED =
  'It is not committed, for it is a git repository of its own. Remove its .git, or list it in .gitignore';
