import { ServiceError } from '../../errors.ts';
import type { Runner, Worktree } from './git.ts';
import { remoteCommit, remoteProblem } from './remote.ts';

export interface Push {
  remote: string;
  /** The full ref on the remote. */
  ref: string;
  commit: string;
  /** What the ref has to be until now; null: it must not be there. */
  expected: string | null;
}

/**
 * Pushes one commit to one ref, only while that is what is expected: 409 `remote_moved` when it is not, and nothing is
 * overwritten. 422 `push_refused` when the remote does not want it. What git did not live to tell is asked for.
 */
export const pushWithLease = async (
  git: Runner,
  worktree: Worktree,
  { remote, ref, commit, expected }: Push,
): Promise<void> => {
  const lease = `--force-with-lease=${ref}:${expected ?? ''}`;
  const args = ['push', ...PLAIN, lease, '--', remote, `${commit}:${ref}`];
  const failure = await git
    .run(worktree, args, { ok: [0, 1, 128] })
    .then(({ code, stdout, stderr }) =>
      code === 0 ? undefined : refusal(`${stdout.toString('utf8')}\n${stderr}`, { remote, ref }),
    )
    .catch((error: unknown) => error);
  if (failure === undefined) return;
  // The line may have been cut after the remote had taken it.
  const now = await remoteCommit(git, worktree, { remote, ref }).catch(() => undefined);
  if (now !== commit) throw failure;
};

const PLAIN = [
  '--porcelain',
  '--no-verify',
  '--no-follow-tags',
  '--no-signed',
  '--recurse-submodules=no',
  // Of two settings git takes the first, which may be the repository's: only an argument comes before it.
  '--receive-pack=git-receive-pack',
];

const refusal = (said: string, { remote, ref }: Pick<Push, 'remote' | 'ref'>): ServiceError => {
  const why = /^!\t\S*\t\[([^\]]+)\](?: \((.*)\))?$/m.exec(said);
  if (why === null)
    return remoteProblem(
      said
        .split('\n')
        .filter((line) => !/^(?:Done|To )/.test(line))
        .join('\n'),
    );
  const [, how, reason = ''] = why;
  if (how === 'rejected' || /cannot lock ref|failed to update ref|stale info/.test(reason)) {
    return new ServiceError(
      'remote_moved',
      `${ref} on ${remote} is no longer what it was when the rebase began (${reason || 'rejected'}). Nothing was overwritten: fetch it, look at what came, and rebase anew with it.`,
    );
  }
  const words = said.split('\n').flatMap((line) => /^remote: (.*\S)/.exec(line)?.[1] ?? []);
  return new ServiceError(
    'push_refused',
    `${remote} refused the push (${[reason || how, ...words.slice(0, 5)].join(': ').slice(0, 600)}). Nothing was changed there; see what its rules ask for.`,
  );
};
