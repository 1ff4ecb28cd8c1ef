import type { WorktreeRecord } from '../../store/records/worktree.ts';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { Checkout } from '../tools/git/git.ts';
import { type Address, addressOf } from '../tools/git/remote-address.ts';
import type { Remote } from '../tools/git/talk.ts';
import { itemOf } from '../worktrees/item.ts';
import { detect } from './detect.ts';

export interface Login {
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
  service: Service,
  login: Login,
  work: (remote: Remote) => Promise<T>,
): Promise<T> => {
  try {
    return await work(login.remote);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'codehost_auth_missing') throw error;
    const address = await addressWithToken(service, login);
    if (address === undefined) throw error;
    return work(address);
  }
};

const addressWithToken = async (
  service: Service,
  { place, remote, host, direction }: Login,
): Promise<Address | undefined> => {
  const { url } = await addressOf(service.git, place, remote, direction);
  const known = typeof host === 'string' ? host : await host();
  if (known === undefined || !isAt(url, known)) return undefined;
  const credentials = await service.codeHost().gitLogin(known);
  return credentials && { url, credentials };
};

/** The same for a remote of a Work item's worktree, on the code host that its project is detected to be on. */
export const withWorktreeLogin = <T>(
  service: Service,
  worktree: WorktreeRecord,
  { remote, direction }: Pick<Login, 'remote' | 'direction'>,
  work: (remote: Remote) => Promise<T>,
): Promise<T> => {
  const host = () => hostOfRemote(service, worktree, remote);
  return withLogin(service, { place: worktree, remote, host, direction }, work);
};

const hostOfRemote = async (
  service: Service,
  { case_id, branch }: WorktreeRecord,
  remote: string,
): Promise<string | undefined> => {
  const { project } = await itemOf(service, case_id);
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
