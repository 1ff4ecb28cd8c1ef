import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';
import { ServiceError } from '../errors.ts';

/** The API key of a request, with the hash of its secret. */
export interface ApiKeyRef {
  id: string;
  name: string;
  sha256: string;
}

/**
 * The reason to refuse a request or upgrade with these headers, or undefined. Only this machine reaches a loopback port, but
 * so does a web page in the operator's browser: the check of Host stops DNS rebinding; Origin and Sec-Fetch-Site stop
 * cross-site requests and pages of other local servers. Origin is compared with Host, not with the port of the daemon,
 * because `ssh -L` may map it to another port.
 */
export const notLocal = (headers: IncomingHttpHeaders, port: number): ServiceError | undefined => {
  const { host = '', origin } = headers;
  if (!isLoopback(host)) return refused(`Host is ${quoted(host)}`, port);
  if (origin !== undefined && origin.toLowerCase() !== `http://${plain(host)}`) {
    return refused(`Origin is ${quoted(origin)}`, port);
  }
  if (headers['sec-fetch-site'] === 'cross-site') return refused('The request is cross-site', port);
  return undefined;
};

/** The bearer token in an Authorization header, or undefined. */
export const bearerOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? /^Bearer +([^\s]+)$/i.exec(header)?.[1] : undefined;

/** Whether a server bound to this address is reachable from this machine only. */
export const isLoopbackAddress = (host: string): boolean =>
  host === '::1' || (host !== '[::1]' && isLoopbackName(host));

const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || name === '[::1]' || (name.startsWith('127.') && isIPv4(name));

const isLoopback = (authority: string): boolean =>
  isLoopbackName(authority.toLowerCase().replace(/:\d{1,5}$/, ''));

// Browsers leave the default port out of Origin.
const plain = (authority: string): string => authority.toLowerCase().replace(/:80$/, '');

const refused = (why: string, port: number): ServiceError =>
  new ServiceError('not_local', `${why}. Call http://127.0.0.1:${port} from this machine.`);

const quoted = (value: string): string => (value === '' ? 'missing' : JSON.stringify(value));
