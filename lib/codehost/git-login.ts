import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { Checkout } from '../tools/git/git.ts';
import { addressOf } from '../tools/git/remote-address.ts';
import type { Remote } from '../tools/git/talk.ts';

export interface Login {
  place: Checkout;
  /** The remote's name in the repository's configuration. */
  remote: string;
  /** The code host whose token may be used; one that the operator has named, or git's own host for it. */
  host: string;
  direction: 'fetch' | 'push';
}

/**
 * Talks to a remote with git's own logins. Only where git has none for it, and the address is the code host's own, the
 * code host's token is used, for this one command: no helper gets to keep it.
 */
export const withLogin = async <T>(
  service: Service,
  { place, remote, host, direction }: Login,
  work: (remote: Remote) => Promise<T>,
): Promise<T> => {
  try {
    return await work(remote);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'codehost_auth_missing') throw error;
    const { url, credentials } = await addressOf(service.git, place, remote, direction);
    const ours = isAt(url, host) ? await service.codeHost().gitLogin(host) : undefined;
    if (ours === undefined || credentials?.password !== undefined) throw error;
    return work({ url, credentials: ours });
  }
};

// Never in the clear, but to this machine itself.
const isAt = (url: string, host: string): boolean => {
  const [, scheme, at] = /^(https?):\/\/([^/]+)/.exec(url) ?? [];
  if (at?.toLowerCase() !== host.toLowerCase()) return false;
  return scheme === 'https' || /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(at);
};
