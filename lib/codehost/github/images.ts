import { LARGEST_IMAGE } from '../../../store/codehost/images.ts';
import { ServiceError } from '../../errors.ts';
import type { HostContext } from './client.ts';
import { bytesWithin, type Fetch, follow, redirectOf, TooLarge } from './fetch.ts';
import { isGitHubCom, type Tokens } from './tokens.ts';

/**
 * Downloads an image of an issue, only from the host's own servers over https, with a size limit. The token is sent only
 * to the host itself, and not with redirects. Throws a ServiceError whose message is the reason.
 */
export const image = async (
  context: ImageAccess,
  host: string,
  address: string,
): Promise<Buffer> => {
  const own = context.web(host);
  const url = placed(address, host, own);
  if (url === undefined) throw refusal(ELSEWHERE);
  const token = url.origin === own ? await context.tokens.of(host) : undefined;
  const authorization = token && { authorization: `Bearer ${token.value}` };
  const signal = AbortSignal.timeout(context.seconds() * 1000);
  const ask: Fetch = (at) => {
    const headers = at === url.href ? { ...authorization } : {};
    return asked(context.fetch, at, { signal, headers });
  };
  const isSafe = (to: URL): boolean => isAllowed(to, host, own);
  const answer = await follow(ask, { url: url.href, init: {}, isSafe });
  if (redirectOf(answer) !== null) {
    await answer.body?.cancel();
    throw refusal(ELSEWHERE);
  }
  return bytesOf(answer);
};

export type ImageAccess = Pick<HostContext, 'web' | 'fetch' | 'seconds'> & {
  tokens: Pick<Tokens, 'of'>;
};

const ELSEWHERE = 'it is not on a server of the code host';

// Page URLs of the host are requested on the server of its API.
const placed = (address: string, host: string, own: string): URL | undefined => {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!isAllowed(url, host, own)) return undefined;
  if (url.host !== host) return url;
  return ATTACHED.test(url.pathname) ? new URL(url.pathname, own) : undefined;
};

const ATTACHED = /^\/(?:user-attachments|storage|[\w.-]+\/[\w.-]+\/(?:assets|raw|files))\//;

// The servers that store attachments.
const isAllowed = (url: URL, host: string, own: string): boolean => {
  if (url.username !== '' || url.password !== '') return false;
  if (url.origin === own) return true;
  if (url.protocol !== 'https:') return false;
  return url.host === host || (isGitHubCom(host) ? KEPT : mediaOf(host)).test(url.host);
};

const KEPT =
  /^(?:[a-z0-9-]+\.githubusercontent\.com|github-production-user-asset-[a-z0-9]+\.s3\.amazonaws\.com)$/;

const mediaOf = (host: string): RegExp => new RegExp(`^media\\.${host.replaceAll('.', '\\.')}$`);

const asked = async (fetch: Fetch, url: string, init: RequestInit): Promise<Response> => {
  try {
    const headers = { accept: 'image/*', 'user-agent': 'dossier', ...init.headers };
    return await fetch(url, { ...init, method: 'GET', headers, redirect: 'manual' });
  } catch {
    throw refusal(`${new URL(url).host} did not respond`);
  }
};

const bytesOf = async (answer: Response): Promise<Buffer> => {
  if (answer.status !== 200 || answer.body === null) {
    await answer.body?.cancel();
    throw refusal(`the code host responded with ${answer.status}`);
  }
  try {
    return await bytesWithin(answer, LARGEST_IMAGE);
  } catch (error) {
    throw refusal(error instanceof TooLarge ? TOO_LARGE : 'the connection broke');
  }
};

const TOO_LARGE = `it is larger than ${LARGEST_IMAGE >> 20} MB`;

const refusal = (why: string): ServiceError => new ServiceError('codehost_rejected', why);
