import { isIP } from 'node:net';
import { orElse } from '../../../store/base/attempt.ts';

export interface Authority {
  /** Lower case, without brackets and trailing dot; an IP address in canonical form. */
  host: string;
  port: number;
}

/** Parses `host:port`, `[::1]:443` or `0x7f.1:80`; else undefined. `usual` is the default port. */
export const readAuthority = (text: string, usual?: number): Authority | undefined => {
  const [, name = '', digits] =
    /^([^:@/?#\\\s]+|\[[^\]@/?#\\\s]+\])(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? usual : Number(digits);
  const host = hostOf(name);
  if (
    host === undefined ||
    host.length > LONGEST_NAME ||
    port === undefined ||
    port < 1 ||
    port > 65_535
  )
    return undefined;
  return { host, port };
};

const LONGEST_NAME = 253;

/** Formats an authority for `readAuthority`. */
export const authorityText = ({ host, port }: Authority): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Whether a name means this machine, independent of its addresses. */
export const isLocalName = (host: string): boolean =>
  LOCAL_NAMES.has(host) || host.endsWith('.localhost') || host.endsWith('.localdomain');

const LOCAL_NAMES = new Set([
  ...['localhost', 'ip6-localhost', 'ip6-loopback', 'localhost4', 'localhost6'],
]);

/** Whether two authorities are the same service. All loopback addresses are equal. */
export const isSameTarget = (one: Authority, other: Authority): boolean =>
  one.port === other.port &&
  (one.host === other.host || (isLoopback(one.host) && isLoopback(other.host)));

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.|^0\.0\.0\.0$/.test(host);

/** Whether a name means a cloud's metadata service, independent of its addresses. */
export const isMetadataName = (host: string): boolean =>
  host === 'metadata.google.internal' || host === 'metadata';

/** Whether an authority is on a list: `example.com`, `*.example.com` (not example.com itself), either with `:443`. */
export const isListed = ({ host, port }: Authority, list: readonly string[]): boolean =>
  list.some((entry) => {
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (only !== undefined && Number(only) !== port) return false;
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
  });

// The URL parser normalizes every notation of an IPv4 address: decimal, hexadecimal, octal, shortened.
const hostOf = (name: string): string | undefined => {
  if (name.startsWith('[') && isIP(name.slice(1, -1).split('%')[0] ?? '') !== 6) return undefined;
  const address = `http://${name.startsWith('[') ? name.replace(/%.*\]$/, ']') : name}/`;
  const hostname = orElse(() => new URL(address).hostname, '');
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return EMPTY_LABEL.test(host) ? undefined : host;
};

// No name, such as `localhost..`, which resolvers may read as another.
const EMPTY_LABEL = /^$|^\.|\.\.|\.$/;
