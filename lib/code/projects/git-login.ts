import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { CodeHost, WithCodeHost } from '../../codehost/code-host.ts';
import { ServiceError } from '../../errors.ts';
import { addressOf, type RemoteAddress } from '../../tools/git/remote/remote-address.ts';
import type { Checkout, WithGit } from '../../tools/git/run/git.ts';
import { detect } from './detect.ts';
import type { HostedNeeds } from './hosted-repository.ts';
import { getItem, type ProjectNeeds } from './project.ts';

interface Login {
  place: Checkout;
  /** The remote's name in the repository's configuration. */
  remote: string;
  /** The code host whose token may be used, evaluated when needed; undefined: only git's own credentials. */
  host: string | (() => Promise<string | undefined>);
  direction: 'fetch' | 'push';
}

/**
 * Runs a git command with a remote, with git's own credentials. Only if git has none and the address is on the code
 * host, retries with the code host's token for this one command; no credential helper stores it.
 */
export const withLogin = async <T>(
  { git, codeHost }: WithCodeHost & WithGit,
  login: Login,
  work: (remote: RemoteAddress) => Promise<T>,
): Promise<T> => {
  const { place, remote, direction } = login;
  // The push URL can differ from the fetch URL.
  const address = await addressOf(git.at(place), remote, direction);
  try {
    return await work(address);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'codehost_auth_missing') throw error;
    const credentials = await tokenFor(codeHost, login, address);
    if (credentials === undefined) throw error;
    return work({ url: address.url, credentials });
  }
};

const tokenFor = async (
  codeHost: () => CodeHost,
  { host }: Login,
  { url }: RemoteAddress,
): Promise<RemoteAddress['credentials']> => {
  const known = typeof host === 'string' ? host : await host();
  return known !== undefined && isAt(url, known) ? codeHost().gitLogin(known) : undefined;
};

/** Like `withLogin`, for a remote of a Work item's worktree and the detected code host of its project. */
export const withWorktreeLogin = <T>(
  service: HostedNeeds,
  worktree: WorktreeRecord,
  { remote, direction }: Pick<Login, 'remote' | 'direction'>,
  work: (remote: RemoteAddress) => Promise<T>,
): Promise<T> => {
  const host = () => hostOfRemote(service, worktree, remote);
  return withLogin(service, { place: worktree, remote, host, direction }, work);
};

const hostOfRemote = async (
  service: ProjectNeeds,
  { case_id, branch }: WorktreeRecord,
  remote: string,
): Promise<string | undefined> => {
  const { project } = await getItem(service.store, case_id);
  try {
    const { push, candidates } = await detect(service, project, branch);
    return [push, ...candidates].find((each) => each.remote === remote)?.host;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
};

// The token is sent over plain HTTP only to this machine.
const isAt = (url: string, host: string): boolean => {
  const [, scheme, at] = /^(https?):\/\/([^/]+)/.exec(url) ?? [];
  if (at?.toLowerCase() !== host.toLowerCase()) return false;
  return scheme === 'https' || /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(at);
};
