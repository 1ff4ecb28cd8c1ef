import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { CodeHost, WithCodeHost } from '../../codehost/code-host.ts';
import { ServiceError } from '../../errors.ts';
import { addressOf, type RemoteAddress } from '../../tools/git/remote/remote-address.ts';
import type { Remote } from '../../tools/git/remote/talk.ts';
import type { Checkout, WithGit } from '../../tools/git/run/git.ts';
import { detect } from './detect.ts';
import type { HostedNeeds } from './hosted-repository.ts';
import { getItem, type ProjectNeeds } from './project.ts';

interface Login {
  place: Checkout;
  /** The remote's name in the repository's configuration. */
  remote: string;
  /** The code host whose token may be used; none: only git's own logins are. Asked for when it is needed. */
  host: string | (() => Promise<string | undefined>);
  direction: 'fetch' | 'push';
}

/**
 * Talks to a remote with git's own logins. Only where git has none for it, and the address is the code host's own, the
 * code host's token is used, for this one command: no helper gets to keep it.
 */
export const withLogin = async <T>(
  { git, codeHost }: WithCodeHost & WithGit,
  login: Login,
  work: (remote: Remote) => Promise<T>,
): Promise<T> => {
  const { place, remote, direction } = login;
  // What is pushed to may have another address, and is asked there what it has, too.
  const address = await addressOf(git.at(place), remote, direction);
  try {
    return await work(direction === 'push' ? address : remote);
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

/** The same for a remote of a Work item's worktree, on the code host that its project is detected to be on. */
export const withWorktreeLogin = <T>(
  service: HostedNeeds,
  worktree: WorktreeRecord,
  { remote, direction }: Pick<Login, 'remote' | 'direction'>,
  work: (remote: Remote) => Promise<T>,
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

// Never in the clear, but to this machine itself.
const isAt = (url: string, host: string): boolean => {
  const [, scheme, at] = /^(https?):\/\/([^/]+)/.exec(url) ?? [];
  if (at?.toLowerCase() !== host.toLowerCase()) return false;
  return scheme === 'https' || /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(at);
};
