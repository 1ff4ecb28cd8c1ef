import type { CodeHostSettings } from '../../../store/records/settings.ts';
import type { Config } from '../../config.ts';
import { invalidState } from '../../errors.ts';
import type { Gh } from '../../tools/process/gh.ts';
import { isGitHubCom } from './tokens.ts';

export const GITHUB = 'github.com';

/**
 * Whether requests and tokens may go to a host: GitHub's own, that of the settings, and those with a login of gh. A file
 * that names another one, such as pr/pr.md, gets no token sent there. Compares whole names, as a look-alike is another host.
 */
export const isCodeHost = (
  host: string,
  { host: named }: CodeHostSettings,
  gh: Pick<Gh, 'hosts'>,
): boolean =>
  host === GITHUB ||
  /^[a-z0-9-]+\.ghe\.com$/.test(host) ||
  host === named?.toLowerCase() ||
  gh.hosts().includes(host);

interface Wanted {
  env: Config['env'];
  settings: CodeHostSettings;
}

/**
 * The base URL of a host's API, normalized and without a trailing slash. `GITHUB_API_URL`, else the setting `api_url`,
 * applies only to the host in the settings. 422 `invalid_state` if the URL would send the token unencrypted or to another
 * server: a setting cannot send a token of github.com elsewhere.
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

// Normalized like the page URLs that are compared with it: lower case, without the default port.
const normal = (api: string): string =>
  (URL.canParse(api) ? new URL(api).href : api).replace(/\/+$/, '');

const elsewhere = (host: string, api: string, env: Wanted['env']): string | undefined => {
  const [name = ''] = host.split(':');
  const { hostname } = new URL(api);
  if (isGitHubCom(host)) {
    if (hostname === `api.${name}`) return undefined;
    return `is not on api.${host}, and a token for ${host} is sent nowhere else. To allow it, start the daemon with GITHUB_API_URL=${api}`;
  }
  if (hostname === name || hostname.endsWith(`.${name}`) || hasOwnToken(env)) return undefined;
  return `is not on ${host}, and the login of gh for ${host} is sent nowhere else. Start the daemon with GH_ENTERPRISE_TOKEN`;
};

const hasOwnToken = ({ GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN }: Wanted['env']): boolean =>
  Boolean(GH_ENTERPRISE_TOKEN || GITHUB_ENTERPRISE_TOKEN);

const usual = (host: string): string => {
  if (isGitHubCom(host)) return `https://api.${host}`;
  return `https://${host}/api/v3`;
};

/** The origin of a host's pages: the same server as its API, except for github.com. */
export const webOf = (host: string, api: string): string =>
  isGitHubCom(host) && api === usual(host) ? `https://${host}` : new URL(api).origin;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** What is wrong with an API URL, worded to follow its name; undefined if it is valid. */
export const wrongApi = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'must begin with https://';
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '')
    return 'must not contain credentials, a query or a fragment';
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    return 'must begin with https://, or the token would be sent unencrypted';
  return undefined;
};

/** Whether an absolute or relative URL is on the same server. */
export const isSameServer = (address: string, base: string): boolean =>
  URL.canParse(address, base) && new URL(address, base).origin === new URL(base).origin;

/** Whether a download URL given by the host may be read: https, without credentials, and loopback only if the host is. */
export const isTrustedDownloadUrl = (address: string, base: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (`${username}${password}` !== '') return false;
  if (LOOPBACK.test(hostname)) {
    return LOOPBACK.test(new URL(base).hostname) && /^https?:$/.test(protocol);
  }
  return protocol === 'https:';
};
