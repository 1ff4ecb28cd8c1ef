import type { CodeHostSettings } from '../../../store/records/settings.ts';
import type { Config } from '../../config.ts';
import { invalidState } from '../../errors.ts';
import { isGitHubCom } from './tokens.ts';

export const GITHUB = 'github.com';

interface Wanted {
  env: Config['env'];
  settings: CodeHostSettings;
}

/**
 * Where the API of a host is asked, in a URL's normal form and without a slash at its end. `GITHUB_API_URL`, else the setting `api_url`, is that of the
 * host in the settings alone. 422 `invalid_state` for one that would send the token unencrypted over the network, or to a
 * server that it is not for: what a file names as github.com's API gets no token of github.com's.
 */
export const apiOf = (host: string, { env, settings }: Wanted): string => {
  const isOwn = host === (settings.host?.toLowerCase() ?? GITHUB);
  const given = isOwn ? env.GITHUB_API_URL || settings.api_url : undefined;
  if (given === undefined) return normal(usual(host));
  const why = wrongApi(given) ?? (env.GITHUB_API_URL ? undefined : elsewhere(host, given, env));
  if (why === undefined) return normal(given);
  const name = env.GITHUB_API_URL ? 'GITHUB_API_URL' : 'api_url in workspace.md';
  throw invalidState(`${name} ${why}. Change it, then try again.`);
};

// As the addresses of pages are, which are compared with it: lower case, and no port that goes without saying.
const normal = (api: string): string =>
  (URL.canParse(api) ? new URL(api).href : api).replace(/\/+$/, '');

const elsewhere = (host: string, api: string, env: Wanted['env']): string | undefined => {
  const [name = ''] = host.split(':');
  const { hostname } = new URL(api);
  if (isGitHubCom(host)) {
    if (hostname === `api.${name}`) return undefined;
    return `is not on api.${host}, and a token for ${host} goes nowhere else. If that is wanted, start the daemon with GITHUB_API_URL=${api}`;
  }
  if (hostname === name || hostname.endsWith(`.${name}`) || hasOwnToken(env)) return undefined;
  return `is not on ${host}, whose login of gh goes nowhere else. Start the daemon with GH_ENTERPRISE_TOKEN for it`;
};

const hasOwnToken = ({ GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN }: Wanted['env']): boolean =>
  Boolean(GH_ENTERPRISE_TOKEN || GITHUB_ENTERPRISE_TOKEN);

const usual = (host: string): string => {
  if (isGitHubCom(host)) return `https://api.${host}`;
  return `https://${host}/api/v3`;
};

/** Where a host's pages are: where its API is, but for GitHub's own, which has a server for that. */
export const webOf = (host: string, api: string): string =>
  isGitHubCom(host) && api === usual(host) ? `https://${host}` : new URL(api).origin;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** What is wrong with the address of an API, if anything is. */
export const wrongApi = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'has to begin with https://';
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '')
    return 'must hold neither a login nor a query';
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    return 'has to begin with https://, or the token could be read on its way';
  return undefined;
};

/** Whether an address, which may be relative, is of the server that is asked. */
export const isSameServer = (address: string, base: string): boolean =>
  URL.canParse(address, base) && new URL(address, base).origin === new URL(base).origin;

/**
 * Whether what the host keeps elsewhere may be read at an address: encrypted, with no login in it, and on this machine
 * only where the host itself is.
 */
export const isTrustedDownloadUrl = (address: string, base: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (`${username}${password}` !== '') return false;
  if (LOOPBACK.test(hostname)) {
    return LOOPBACK.test(new URL(base).hostname) && /^https?:$/.test(protocol);
  }
  return protocol === 'https:';
};
