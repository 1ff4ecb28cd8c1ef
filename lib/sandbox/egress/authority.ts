import { isIP } from 'node:net';
import { orElse } from '../../../store/base/attempt.ts';

export interface Authority {
  /** In lower case, without brackets and a last dot; an IP address in its usual form, however it was written. */
  host: string;
  port: number;
}

/** Reads `host:port`, `[::1]:443`, `0x7f.1:80`; undefined for what is no such thing. */
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

/** As `readAuthority` would read it. */
export const authorityText = ({ host, port }: Authority): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Names that mean this machine, whatever they resolve to. */
export const isLocalName = (host: string): boolean =>
  LOCAL_NAMES.has(host) || host.endsWith('.localhost') || host.endsWith('.localdomain');

const LOCAL_NAMES = new Set([
  ...['localhost', 'ip6-localhost', 'ip6-loopback', 'localhost4', 'localhost6'],
]);

/** Names that mean a cloud's metadata, whatever they resolve to. */
export const isMetadataName = (host: string): boolean =>
  host === 'metadata.google.internal' || host === 'metadata';

/** Whether an authority is on a list: `example.com`, `*.example.com` (not example.com itself), either with `:443`. */
export const isListed = ({ host, port }: Authority, list: readonly string[]): boolean =>
  list.some((entry) => {
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (only !== undefined && Number(only) !== port) return false;
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
  });

// The parser of URLs knows every way to write an IPv4 address: decimal, hexadecimal, octal, shortened.
const hostOf = (name: string): string | undefined => {
  if (name.startsWith('[') && isIP(name.slice(1, -1).split('%')[0] ?? '') !== 6) return undefined;
  const address = `http://${name.startsWith('[') ? name.replace(/%.*\]$/, ']') : name}/`;
  const hostname = orElse(() => new URL(address).hostname, '');
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '') || undefined;
};
