import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';
import { ServiceError } from '../errors.ts';

/** Which API key was shown; its text is nowhere. */
export interface ShownKey {
  id: string;
  name: string;
}

/** What a valid token is: an API key, or without one the token of a session that runs. */
export interface Credential {
  key?: ShownKey;
}

/** What a token is at this path; undefined when it is good for nothing there. */
export type CheckKey = (token: string, path: string) => Promise<Credential | undefined>;

/**
 * Why a request or upgrade with these headers is refused, or undefined. Only this machine reaches a loopback
 * port, but a web page in the operator's browser is on this machine too: Host defeats DNS rebinding, Origin and
 * Sec-Fetch-Site calls across sites and from what else listens here. By `ssh -L` the browser knows another port than this
 * one, so it is Host that an Origin has to equal.
 */
export const notLocal = (headers: IncomingHttpHeaders, port: number): ServiceError | undefined => {
  const { host = '', origin } = headers;
  if (!isLoopback(host)) return refused(`Host is ${quoted(host)}`, port);
  if (origin !== undefined && origin.toLowerCase() !== `http://${plain(host)}`) {
    return refused(`Origin is ${quoted(origin)}`, port);
  }
  if (headers['sec-fetch-site'] === 'cross-site') return refused('Another site sent this', port);
  return undefined;
};

/** The token in an Authorization header; undefined when it has none. */
export const bearerOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? /^Bearer +([^\s]+)$/i.exec(header)?.[1] : undefined;

/** Whether a server bound to this address can be reached from this machine only. */
export const isLoopbackAddress = (host: string): boolean =>
  host === '::1' || (host !== '[::1]' && isLoopbackName(host));

const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || name === '[::1]' || (name.startsWith('127.') && isIPv4(name));

const isLoopback = (authority: string): boolean =>
  isLoopbackName(authority.toLowerCase().replace(/:\d{1,5}$/, ''));

// As browsers write it in Origin.
const plain = (authority: string): string => authority.toLowerCase().replace(/:80$/, '');

const refused = (why: string, port: number): ServiceError =>
  new ServiceError('not_local', `${why}. Call http://127.0.0.1:${port} from this machine.`);

const quoted = (value: string): string => (value === '' ? 'missing' : JSON.stringify(value));
