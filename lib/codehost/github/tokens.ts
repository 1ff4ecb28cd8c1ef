import type { Config } from '../../config.ts';
import type { Gh } from '../../tools/process/gh.ts';
import type { TokenSource } from '../code-host.ts';

export interface Token {
  value: string;
  source: TokenSource;
}

/** Tokens by host, in memory only: from the environment, else from gh. */
export interface Tokens {
  /** Undefined if there is none. Throws `tool_timeout` if gh does not respond. */
  of(host: string): Promise<Token | undefined>;
  /** Reads the token again, unless another call has replaced `used` already. */
  renew(host: string, used: Token | undefined): Promise<Token | undefined>;
}

/** `isKnown`: whether a host may have a token at all. */
export const createTokens = (
  env: Config['env'],
  gh: Pick<Gh, 'token'>,
  isKnown: (host: string) => boolean,
): Tokens => {
  const known = new Map<string, Promise<Token | undefined>>();
  const look = (host: string): Promise<Token | undefined> => {
    const found = find(host, env, gh);
    known.set(host, found);
    const forget = (): void => {
      if (known.get(host) === found) known.delete(host);
    };
    // A missing token or a timeout is not cached.
    found.then((token) => token ?? forget(), forget);
    return found;
  };
  const of = async (host: string): Promise<Token | undefined> =>
    isKnown(host) ? (known.get(host) ?? look(host)) : undefined;
  return {
    of,
    renew: async (host, used) => {
      const now = await known.get(host)?.catch(() => undefined);
      return now === undefined || now.value === used?.value ? look(host) : now;
    },
  };
};

const find = async (
  host: string,
  env: Config['env'],
  gh: Pick<Gh, 'token'>,
): Promise<Token | undefined> => {
  for (const source of namesFor(host)) {
    const value = env[source]?.trim();
    if (isToken(value)) return { value, source };
  }
  const value = await gh.token(host);
  return isToken(value) ? { value, source: 'gh' } : undefined;
};

/** The environment variables for a host: a token for github.com is sent to no other server. */
const namesFor = (host: string): Exclude<TokenSource, 'gh'>[] =>
  isGitHubCom(host)
    ? ['GH_TOKEN', 'GITHUB_TOKEN']
    : ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];

/** Whether the host is GitHub's own service, and not a GitHub Enterprise Server. */
export const isGitHubCom = (host: string): boolean =>
  host === 'github.com' || host.endsWith('.ghe.com');

// Other characters are invalid in a header, and the error would contain the token.
const isToken = (value: string | undefined): value is string =>
  value !== undefined && /^[\x21-\x7e]+$/.test(value);

const KINDS: readonly (readonly [prefix: string, kind: string])[] = [
  ['github_pat_', 'fine-grained'],
  ['ghp_', 'classic'],
  ['gho_', 'oauth'],
  ['ghu_', 'app-user'],
  ['ghs_', 'app-installation'],
];

/** The kind of a token by its prefix; null if unknown. */
export const tokenKind = ({ value }: Token): string | null =>
  KINDS.find(([prefix]) => value.startsWith(prefix))?.[1] ?? null;
