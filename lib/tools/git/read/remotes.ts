import { entriesIn } from '../run/config.ts';
import type { GitAt, GitPlace } from '../run/git.ts';

/** The remotes in git's configuration. */
export interface RemoteSettings {
  /** In the order of the configuration. */
  remotes: ConfiguredRemote[];
  push_default: string | undefined;
  /** `branch.<name>.pushRemote`, by branch. */
  push_remotes: ReadonlyMap<string, string>;
}

export interface ConfiguredRemote {
  name: string;
  /** As configured; empty if missing. */
  url: string;
  /** The URL after `insteadOf`. */
  rewritten: string;
  /** The push URL as configured, else `url`. */
  push_url: string;
  /** The value of `gh-resolved`, set by gh: `base`, or a repository. */
  resolved: string | undefined;
}

/** Reads the configured remotes of a repository, without network access. */
export const remoteSettings = async (git: GitAt<GitPlace>): Promise<RemoteSettings> => {
  const listing = await git.text(['config', '--list', '-z']);
  const entries = entriesIn(listing).map(({ key, value = '' }) => ({ key, value }));
  const rewrites = entries.flatMap(rewriteOf).toSorted((a, b) => b.from.length - a.from.length);
  const names = [
    ...new Set(entries.flatMap(({ key }) => /^remote\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? [])),
  ];
  const last = (key: string): string | undefined =>
    entries.findLast((entry) => entry.key === key)?.value;
  return {
    remotes: names.map((name) => {
      // git fetches from the first URL.
      const url = entries.find(({ key }) => key === `remote.${name}.url`)?.value ?? '';
      const push_url = entries.find(({ key }) => key === `remote.${name}.pushurl`)?.value ?? url;
      const resolved = last(`remote.${name}.gh-resolved`);
      return { name, url, push_url, rewritten: rewritten(url, rewrites), resolved };
    }),
    push_default: last('remote.pushdefault'),
    push_remotes: new Map(entries.flatMap(pushRemoteOf)),
  };
};

/** The remotes with `origin` first: the one that identifies a repository on other machines. */
export const originFirst = (remotes: readonly ConfiguredRemote[]): ConfiguredRemote[] =>
  remotes.toSorted((a, b) => Number(b.name === 'origin') - Number(a.name === 'origin'));

interface Entry {
  key: string;
  value: string;
}

interface Rewrite {
  from: string;
  to: string;
}

const rewriteOf = ({ key, value }: Entry): Rewrite[] => {
  const [, to] = /^url\.(.+)\.insteadof$/s.exec(key) ?? [];
  return to === undefined || value === '' ? [] : [{ from: value, to }];
};

// The longest match wins, as in git.
const rewritten = (url: string, rewrites: readonly Rewrite[]): string => {
  const rewrite = rewrites.find(({ from }) => url.startsWith(from));
  return rewrite === undefined ? url : `${rewrite.to}${url.slice(rewrite.from.length)}`;
};

const pushRemoteOf = ({ key, value }: Entry): [string, string][] => {
  const [, branch] = /^branch\.(.+)\.pushremote$/s.exec(key) ?? [];
  return branch === undefined ? [] : [[branch, value]];
};
