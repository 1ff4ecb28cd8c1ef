import { orElse } from '../../../store/base/attempt.ts';
import type { Environment } from '../../tools/process/environment.ts';
import type { Authority } from './authority.ts';

/** The operator's proxy, which the daemon's proxy uses. */
export interface Upstream extends Authority {
  secure: boolean;
  /** The value of Proxy-Authorization, if the address has a user. */
  authorization?: string;
}

export type Source = Readonly<Record<string, string | undefined>>;

/**
 * The operator's proxy for a destination, from the usual variables, lower case first; undefined for a direct connection. An
 * error sentence if the proxy cannot be used: it is never bypassed.
 */
export const upstreamFor = (
  env: Source,
  goal: Authority,
  scheme: 'http' | 'https',
): Upstream | string | undefined => {
  const value = either(env, `${scheme}_proxy`) ?? either(env, 'all_proxy');
  if (value === undefined || isExempt(either(env, 'no_proxy') ?? '', goal)) return undefined;
  return readUpstream(value);
};

/** The variables that `upstreamFor` reads. */
export const proxiesOf = (env: Source): Source =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?:https?|all|no)_proxy$/i.test(name)),
  );

const either = (env: Source, name: string): string | undefined =>
  env[name] || env[name.toUpperCase()] || undefined;

const readUpstream = (value: string): Upstream | string => {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = orElse(() => new URL(address), undefined);
  const words =
    url && orElse(() => [url.username, url.password].map(decodeURIComponent).join(':'), undefined);
  if (url === undefined || words === undefined)
    return 'The proxy in the environment of the daemon is not a valid address. Correct HTTPS_PROXY.';
  const { protocol, hostname, port, username } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    return `The proxy in the environment of the daemon uses ${protocol.slice(0, -1)}. Set HTTPS_PROXY to an http or https proxy.`;
  const secure = protocol === 'https:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (secure ? 443 : 80),
    secure,
    ...(username !== '' && { authorization: `Basic ${Buffer.from(words).toString('base64')}` }),
  };
};

const isExempt = (list: string, { host, port }: Authority): boolean =>
  list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', only] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      if (only !== undefined && Number(only) !== port && !name.includes(':')) return false;
      const bare = name.replace(/^\*?\./, '');
      return host === bare || host.endsWith(`.${bare}`);
    });

/** The proxy variables of programs inside, which do not contain the operator's proxy. */
export const proxyEnvironment = (port: number): Environment => {
  const proxy = `http://127.0.0.1:${port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  const both = (name: string, value: string): [string, string][] => [
    [name, value],
    [name.toLowerCase(), value],
  ];
  return Object.fromEntries([
    ...names.flatMap((name) => both(name, proxy)),
    ...both('NO_PROXY', 'localhost,127.0.0.1,::1'),
    // Node 24's fetch reads the variables only if this is set.
    ['NODE_USE_ENV_PROXY', '1'],
  ]);
};
