import { ServiceError } from '../../../errors.ts';
import type { GitAt } from '../run/git.ts';
import { type RemoteQuery, remoteCommit } from './remote.ts';
import { talk } from './remote-command.ts';
import { refusedPush } from './remote-error.ts';

const PUSH_MS = 300_000;

export interface Push extends RemoteQuery {
  /** The full ref on the remote. */
  ref: string;
  commit: string;
  /** What the ref has to be until now; null: it must not be there. */
  expected: string | null;
  /** The remote's name, where it is given by its address. */
  name?: string;
}

/**
 * Pushes one commit to one ref, only while that is what is expected: 409 `remote_moved` when it is not, and nothing is
 * overwritten. 422 `push_refused` when the remote does not want it. What git did not live to tell is asked for; where
 * nobody answers that either, the error has the member `outcome: unknown`.
 */
export const pushWithLease = async (git: GitAt, push: Push): Promise<void> => {
  const { remote, ref, commit, expected, timeout_ms = PUSH_MS } = push;
  const args = ['push', ...PLAIN, `--force-with-lease=${ref}:${expected ?? ''}`];
  try {
    const answer = await talk(git, { remote, args, refs: [`${commit}:${ref}`], timeout_ms });
    if (answer.code !== 0) throw refusedPush(answer, ref);
  } catch (error) {
    // The line may have been cut after the remote had taken it.
    if (!isUnsure(error) || !(await arrived(git, { push, error }))) throw error;
  }
  await follow(git, push);
};

const PLAIN = [
  '--porcelain',
  '--no-verify',
  '--no-follow-tags',
  '--no-signed',
  '--recurse-submodules=no',
];

const isUnsure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  ['codehost_unreachable', 'codehost_timeout', 'codehost_upstream'].includes(error.code);

const arrived = async (
  git: GitAt,
  { push, error }: { push: Push; error: ServiceError },
): Promise<boolean> => {
  try {
    return (await remoteCommit(git, push)) === push.commit;
  } catch {
    error.members.outcome = 'unknown';
    return false;
  }
};

// What git itself does after a push by name. The next fetch puts it right where it cannot be written now.
const follow = async (
  git: GitAt,
  { remote, ref, commit, name = typeof remote === 'string' ? remote : undefined }: Push,
): Promise<void> => {
  if (name === undefined) return;
  const own = `refs/remotes/${name}/${ref.replace(/^refs\/heads\//, '')}`;
  await git.run(['update-ref', own, commit]).catch(() => undefined);
};
