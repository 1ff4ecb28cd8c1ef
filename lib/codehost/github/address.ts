import type { CodeHostSettings } from '../../../store/records/settings.ts';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { isGitHubCom } from './tokens.ts';

export const GITHUB = 'github.com';

export interface Wanted {
  env: Config['env'];
  settings: CodeHostSettings;
}

/**
 * Where the API of a host is asked, without a slash at its end. `GITHUB_API_URL`, else the setting `api_url`, is that of the
 * host in the settings alone. 422 `invalid_state` for one that would send the token unencrypted over the network.
 */
export const apiOf = (host: string, { env, settings }: Wanted): string => {
  const isOwn = host === (settings.host?.toLowerCase() ?? GITHUB);
  const given = isOwn ? env.GITHUB_API_URL || settings.api_url : undefined;
  if (given === undefined) return usual(host);
  const why = wrongApi(given);
  if (why === undefined) return given.replace(/\/+$/, '');
  const name = env.GITHUB_API_URL ? 'GITHUB_API_URL' : 'api_url in workspace.md';
  throw new ServiceError('invalid_state', `${name} ${why}. Change it, then try again.`);
};

const usual = (host: string): string => {
  if (isGitHubCom(host)) return `https://api.${host}`;
  return `https://${host}/api/v3`;
};

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
