import { orElse } from '../../../store/base/attempt.ts';
import { type Authority, readAuthority } from './authority.ts';
import type { Source } from './upstream.ts';

/** The services of this machine that a run may reach: those of the settings, and those named in its variables. */
export const localTargets = (listed: readonly string[], given: Source): Authority[] => {
  const found = [...listed, ...Object.entries(given).flatMap(namedIn)]
    .map((text) => readAuthority(text))
    .filter((target): target is Authority => target !== undefined);
  const texts = new Map(found.map((target) => [`${target.host} ${target.port}`, target]));
  return [...texts.values()].slice(0, MOST_TARGETS);
};

const MOST_TARGETS = 64;

/** Whether two authorities are the same service. All loopback addresses are equal. */
export const isSameTarget = (one: Authority, other: Authority): boolean =>
  one.port === other.port &&
  (one.host === other.host || (isLoopback(one.host) && isLoopback(other.host)));

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.|^0\.0\.0\.0$/.test(host);

// Skips proxy variables: the daemon's proxy uses the operator's, not the run.
const namedIn = ([name, value = '']: [string, string | undefined]): string[] =>
  /proxy$/i.test(name) ? [] : [...value.matchAll(URLS)].flatMap(([url]) => loopbackIn(url));

const URLS = /[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]+/gi;
const USUAL: Record<string, string> = {
  'http:': '80',
  'https:': '443',
  'ws:': '80',
  'wss:': '443',
};

const loopbackIn = (text: string): string[] => {
  const url = orElse(() => new URL(text), undefined);
  if (url === undefined || !isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) return [];
  const port = url.port || USUAL[url.protocol];
  return port === undefined ? [] : [`${url.hostname}:${port}`];
};
