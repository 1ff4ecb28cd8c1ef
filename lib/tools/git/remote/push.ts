import { asSentence, ServiceError } from '../../../errors.ts';
import { GitError } from '../run/error.ts';
import type { GitAt } from '../run/git.ts';
import { type RemoteQuery, remoteCommit } from './remote.ts';
import { runRemoteCommand } from './remote-command.ts';
import { NOT_CONNECTED, refusedPush } from './remote-error.ts';

const PUSH_MS = 300_000;

export interface Push extends RemoteQuery {
  /** The full ref on the remote. */
  ref: string;
  commit: string;
  /** The commit that the ref must have now; null if it must not exist. */
  expected: string | null;
  /** The remote's name; without it no remote-tracking ref follows. */
  name?: string;
}

/**
 * Pushes one commit to one ref, only while the ref is as expected. Throws 409 `remote_moved` if it is not, and 422
 * `push_refused` if the remote refuses the push. If the connection broke, asks the remote whether the push arrived; if that
 * fails too, the error has the member `outcome: unknown`.
 */
export const pushWithLease = async (git: GitAt, push: Push): Promise<void> => {
  const { remote, ref, commit, expected, timeout_ms = PUSH_MS } = push;
  const args = ['push', ...PLAIN, `--force-with-lease=${ref}:${expected ?? ''}`];
  try {
    const answer = await runRemoteCommand(git, {
      remote,
      args,
      refs: [`${commit}:${ref}`],
      timeout_ms,
    });
    if (answer.code !== 0) throw refusedPush(answer, { address: remote, ref });
  } catch (error) {
    // The connection may have broken after the remote had accepted the push.
    if (!isUnsure(error)) throw error;
    const there = await remoteCommit(git, push).catch(() => undefined);
    if (there === undefined) throw mayBePushed(error);
    if (there !== commit) throw error;
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
  ['codehost_unreachable', 'codehost_timeout', 'codehost_upstream'].includes(error.code) &&
  !(error.cause instanceof GitError && NOT_CONNECTED.test(error.cause.stderr));

const mayBePushed = ({ code, message, members, cause }: ServiceError): ServiceError =>
  new ServiceError(
    code,
    `${asSentence(message)} The push may have arrived. Call again: a commit that has arrived is not pushed twice.`,
    { members: { ...members, outcome: 'unknown' }, cause },
  );

// Updates the remote-tracking ref, as git does after a push by name. If that fails, the next fetch corrects it.
const follow = async (git: GitAt, { ref, commit, name }: Push): Promise<void> => {
  if (name === undefined) return;
  const own = `refs/remotes/${name}/${ref.replace(/^refs\/heads\//, '')}`;
  await git.run(['update-ref', own, commit]).catch(() => undefined);
};
