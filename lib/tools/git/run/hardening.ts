import { devNull } from 'node:os';
import type { Environment } from '../../process/environment.ts';
import { scopedEntries } from './config.ts';
import type { Setting } from './git.ts';

/**
 * What git may not do, whatever a repository's configuration says: run hooks or monitors, open editors, sign, clean
 * up in the background, walk into submodules, trust forged file times, or show an unwanted page. The user's own
 * configuration is otherwise kept, for identity, safe.directory and line endings live there.
 */
const HARDENED: readonly Setting[] = [
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.alternateRefsCommand', ''],
  // What is kept before something is removed, and what a session has committed, is on the disk then: by itself git waits
  // for neither objects nor refs, nor the index.
  ['core.fsync', 'all'],
  ['core.fsyncMethod', 'fsync'],
  ['core.askPass', ''],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['sequence.editor', 'true'],
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
  ['rerere.enabled', 'false'],
  ['rebase.autoStash', 'false'],
  ['rebase.updateRefs', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['push.gpgSign', 'false'],
  ['push.followTags', 'false'],
  ['push.pushOption', ''],
  ['protocol.ext.allow', 'never'],
  ['advice.detachedHead', 'false'],
];

/** The environment of one git command: nothing of GIT_* is inherited, nothing asks, reads take no locks. */
export const gitEnvironment = (
  base: Environment,
  settings: readonly Setting[],
  read: boolean,
): Environment => {
  const inherited = Object.entries(base).filter(([name]) => !name.startsWith('GIT_'));
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
    // A local command talks to nobody, not for an object that is missing either.
    GIT_ALLOW_PROTOCOL: '',
    GIT_PROXY_COMMAND: '',
    GIT_PAGER: 'cat',
    GIT_LITERAL_PATHSPECS: '1',
    // Large files stay pointers: fetching them is the operator's to ask for.
    GIT_LFS_SKIP_SMUDGE: '1',
    // A missing object would start a program that the repository's configuration names.
    GIT_NO_LAZY_FETCH: '1',
    ...(read ? { GIT_OPTIONAL_LOCKS: '0' } : {}),
    ...asVariables([...HARDENED, ...settings]),
  };
};

// By environment, not `-c`: a driver's name may hold an equals sign, at which `-c` would cut it.
const asVariables = (settings: readonly Setting[]): Environment => {
  const variables: Environment = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [at, [key, value]] of settings.entries()) {
    variables[`GIT_CONFIG_KEY_${at}`] = key;
    variables[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  return variables;
};

// An empty filter takes files as they are. A merge driver needs a command; this one is git's own text merge. A hook in
// the configuration, of newer gits, needs one too. A certificate that is named by the repository is none: git then trusts nobody.
const NEUTRAL: Readonly<Record<string, string>> = {
  'filter.clean': '',
  'filter.smudge': '',
  'filter.process': '',
  'filter.required': 'false',
  'diff.command': '',
  'diff.textconv': '',
  'merge.driver': 'git merge-file --marker-size=%L %A %O %B',
  'hook.command': 'true',
  'http.sslverify': 'true',
  'http.sslcainfo': '',
  'http.sslcapath': '',
  'http.curloptresolve': '',
  'http.cookiefile': '',
  'http.savecookies': 'false',
};

/** What one command is told besides the hardening, against what the configuration says. */
export interface Overrides {
  settings: readonly Setting[];
  env: Environment;
}

export const NONE: Overrides = { settings: [], env: {} };

/**
 * The same without a listing, from the text of the repository's own settings: undefined where that has a section that
 * can name a program or take in other files, or where it may speak of what the defaults are for.
 */
export const plainOverrides = (
  text: string,
  { defaults = [] }: { defaults?: readonly Setting[] } = {},
): Overrides | undefined => {
  const isNamed = defaults.some(([key]) => maySay(text, key));
  return isNamed || TELLING.test(text) ? undefined : { ...NONE, settings: defaults };
};

// A section's name is written out, in letters of either case: git knows no escapes there.
const TELLING = new RegExp(
  `\\[\\s*(?:include|${Object.keys(NEUTRAL)
    .map((key) => key.replace(/\..*/, ''))
    .join('|')})`,
  'i',
);

// The middle part of a key may be written with escapes.
const maySay = (text: string, key: string): boolean => {
  const named = Buffer.from(key.slice(key.indexOf('.') + 1, key.lastIndexOf('.'))).toString(
    'latin1',
  );
  return text.includes('\\') || text.toLowerCase().includes(named.toLowerCase());
};

/**
 * What takes the programs out of a configuration listing (`config --list -z --show-scope`): those of the repository and
 * the worktree, which an agent can edit. The operator's own stay in force: filters (`git lfs install`, say), and for a
 * remote command the credential helpers and the ssh command.
 */
export const overrides = (
  listing: string,
  { remote = false, defaults = [] }: { remote?: boolean; defaults?: readonly Setting[] } = {},
): Overrides => {
  const entries = entriesOf(listing);
  const isSaid = entries.some(({ key }) => defaults.some(([wanted]) => wanted === key));
  const settings = [
    ...neutralDrivers(entries),
    ...(remote ? ownHelpers(entries) : []),
    ...(isSaid ? [] : defaults),
  ];
  return { settings, env: remote ? { ...TRANSPORTS, ...sshOf(entries) } : {} };
};

// The operator's own value for the same thing stands.
const neutralDrivers = (entries: readonly Entry[]): Setting[] =>
  entries.flatMap(({ local, key }): Setting[] => {
    if (!local) return [];
    const [, section, name] = /^(filter|diff|merge|hook|http)\.(?:.*\.)?([a-z]+)$/s.exec(key) ?? [];
    const value = NEUTRAL[`${section}.${name}`];
    if (value === undefined) return [];
    return [[key, entries.findLast((entry) => !entry.local && entry.key === key)?.value ?? value]];
  });

// A list, which an empty value ends: begun anew, with the operator's part of it only.
const ownHelpers = (entries: readonly Entry[]): Setting[] => {
  const helpers = entries.filter(({ key }) => /^credential\.(?:.*\.)?helper$/s.test(key));
  if (!helpers.some(({ local }) => local)) return [];
  const own = helpers.filter(({ local }) => !local);
  return [['credential.helper', ''], ...own.map(({ key, value }): Setting => [key, value])];
};

// No other one, whatever a URL or the configuration says: some of them are programs.
const TRANSPORTS: Environment = { GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' };

const sshOf = (entries: readonly Entry[]): Environment => {
  const own = entries.findLast(({ local, key }) => !local && key === 'core.sshcommand')?.value;
  if (own === undefined) return {};
  // Another program may not know the option that keeps ssh from asking.
  return { GIT_SSH_COMMAND: /^(\S*\/)?ssh(\s|$)/.test(own) ? `${own} -oBatchMode=yes` : own };
};

/** The repository's and the worktree's own part of a configuration listing. */
export const localSettings = (listing: string): Setting[] =>
  entriesOf(listing)
    .filter(({ local }) => local)
    .map(({ key, value }) => [key, value]);

type Entry = ReturnType<typeof entriesOf>[number];

const entriesOf = (listing: string) =>
  scopedEntries(listing)
    .filter(({ scope }) => scope !== 'command')
    .map(({ key, value = '', local }) => ({ key, value, local }));
