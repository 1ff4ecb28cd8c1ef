import { remoteSettings } from '../read/remotes.ts';
import type { GitAt, GitPlace } from '../run/git.ts';
import type { RemoteAddress } from './remote-address.ts';
import { runRemoteCommand } from './remote-command.ts';

/** Time limits of a query and of a fetch. */
const ASK_MS = 30_000;
const FETCH_MS = 120_000;

/**
 * The remote that a branch is pushed to: `branch.<name>.pushRemote`, `remote.pushDefault`, `origin`, or the only remote.
 * Undefined if none of these exists.
 */
export const pushRemote = async (
  git: GitAt<GitPlace>,
  branch: string,
): Promise<string | undefined> => {
  const { remotes, push_remotes, push_default } = await remoteSettings(git);
  const names = remotes.map(({ name }) => name);
  const only = names.length === 1 ? names[0] : undefined;
  const wanted = [push_remotes.get(branch), push_default, 'origin', only];
  return wanted.find((name) => name !== undefined && names.includes(name));
};

export const remoteNames = async (git: GitAt<GitPlace>): Promise<string[]> =>
  (await git.text(['remote'])).split('\n').filter(Boolean);

export interface RemoteQuery {
  remote: RemoteAddress;
  /** Time limit of one command, in milliseconds. */
  timeout_ms?: number;
}

/** The refs of a remote that match these patterns (without any, all), with their commits. */
export const remoteRefs = async (
  git: GitAt,
  { remote, timeout_ms = ASK_MS }: RemoteQuery,
  patterns: readonly string[] = [],
): Promise<Map<string, string>> => {
  const args = ['ls-remote', '--quiet'];
  const { stdout } = await runRemoteCommand(git, { remote, args, refs: patterns, timeout_ms });
  const lines = stdout.toString('utf8').split('\n').filter(Boolean);
  return new Map(
    lines.map((line): [string, string] => {
      const [oid = '', ref = ''] = line.split('\t');
      return [ref, oid];
    }),
  );
};

/** The commit of a remote ref; null if there is no such ref. Throws if the remote does not answer. */
export const remoteCommit = async (
  git: GitAt,
  { ref, ...asked }: RemoteQuery & { ref: string },
): Promise<string | null> => (await remoteRefs(git, asked, [ref])).get(ref) ?? null;

/**
 * Fetches one branch of a remote into a ref, and nothing else. Throws if the remote does not answer, and 404
 * `codehost_not_found` if there is no such branch.
 */
export const fetchInto = async (
  git: GitAt,
  { remote, branch, into, timeout_ms = FETCH_MS }: RemoteQuery & { branch: string; into: string },
): Promise<void> => {
  const only = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
  const args = ['fetch', '--quiet', '--no-auto-maintenance', ...only];
  await runRemoteCommand(git, {
    remote,
    args,
    refs: [`+refs/heads/${branch}:${into}`],
    timeout_ms,
  });
};
