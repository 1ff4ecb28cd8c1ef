import { entriesIn } from '../run/config.ts';
import type { GitAt, GitPlace } from '../run/git.ts';

/** What git's configuration says of remotes. */
export interface RemoteSettings {
  /** In the order of the configuration. */
  remotes: ConfiguredRemote[];
  push_default: string | undefined;
  /** By branch: the remote that it is pushed to. */
  push_remotes: ReadonlyMap<string, string>;
}

export interface ConfiguredRemote {
  name: string;
  /** As it is written; empty where there is none. */
  url: string;
  /** As git rewrites it (`insteadOf`). */
  rewritten: string;
  /** Where it pushes, as it is written; the same as `url` unless it says another. */
  push_url: string;
  /** What GitHub's program noted: `base`, or a repository. */
  resolved: string | undefined;
}

/** Reads the remotes of a repository, and asks nobody. */
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
      // git fetches from the first of several.
      const url = entries.find(({ key }) => key === `remote.${name}.url`)?.value ?? '';
      const push_url = entries.find(({ key }) => key === `remote.${name}.pushurl`)?.value ?? url;
      const resolved = last(`remote.${name}.gh-resolved`);
      return { name, url, push_url, rewritten: rewritten(url, rewrites), resolved };
    }),
    push_default: last('remote.pushdefault'),
    push_remotes: new Map(entries.flatMap(pushRemoteOf)),
  };
};

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

// The longest that fits, as git does.
const rewritten = (url: string, rewrites: readonly Rewrite[]): string => {
  const rewrite = rewrites.find(({ from }) => url.startsWith(from));
  return rewrite === undefined ? url : `${rewrite.to}${url.slice(rewrite.from.length)}`;
};

const pushRemoteOf = ({ key, value }: Entry): [string, string][] => {
  const [, branch] = /^branch\.(.+)\.pushremote$/s.exec(key) ?? [];
  return branch === undefined ? [] : [[branch, value]];
};
