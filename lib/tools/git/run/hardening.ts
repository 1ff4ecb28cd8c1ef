import { devNull } from 'node:os';
import type { Environment } from '../../process/environment.ts';
import { type ScopedEntry, scopedEntries, valueIn } from './config.ts';
import type { Setting } from './git.ts';

/**
 * Settings that override any configuration: no hooks, monitors, editors, signing, background gc, submodules, forged file
 * times or pagers. The operator's other configuration applies: it has the identity, safe.directory and line endings.
 */
const HARDENED: readonly Setting[] = [
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.alternateRefsCommand', ''],
  // Snapshots and commits must be on disk when git returns; by default git does not sync objects, refs or the index.
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
  // The daemon writes and reads messages as UTF-8.
  ['i18n.commitEncoding', 'UTF-8'],
  ['i18n.logOutputEncoding', 'UTF-8'],
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

/** The environment of one git command: inherits no GIT_* variable, never prompts, and takes no locks for reads. */
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
    // A local command uses no transport, not even for a missing object.
    GIT_ALLOW_PROTOCOL: '',
    GIT_PROXY_COMMAND: '',
    GIT_PAGER: 'cat',
    GIT_LITERAL_PATHSPECS: '1',
    // Do not download LFS files without the operator's request.
    GIT_LFS_SKIP_SMUDGE: '1',
    // Fetching a missing object could start a program named in the repository's configuration.
    GIT_NO_LAZY_FETCH: '1',
    ...(read ? { GIT_OPTIONAL_LOCKS: '0' } : {}),
    ...asVariables([...HARDENED, ...settings]),
  };
};

// By environment, not `-c`: a driver's name may contain an equals sign, where `-c` would split it.
const asVariables = (settings: readonly Setting[]): Environment => {
  const variables: Environment = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [at, [key, value]] of settings.entries()) {
    variables[`GIT_CONFIG_KEY_${at}`] = key;
    variables[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  return variables;
};

// An empty filter leaves files unchanged. A merge driver needs a command: this one is git's text merge. Newer gits also
// configure hooks as commands. Certificates named by the repository are not used.
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

/** Settings and variables for one command that neutralize the repository's configuration. */
export interface Overrides {
  settings: readonly Setting[];
  env: Environment;
}

export const NONE: Overrides = { settings: [], env: {} };

/**
 * The overrides without a call of git, from the text of the repository's configuration. Undefined if the text has a section
 * that can name a program or include files.
 */
export const plainOverrides = (text: string): Overrides | undefined =>
  TELLING.test(text) ? undefined : NONE;

// git allows no escapes in section names, so a case-insensitive search finds them all.
const TELLING = new RegExp(
  `\\[\\s*(?:include|${Object.keys(NEUTRAL)
    .map((key) => key.replace(/\..*/, ''))
    .join('|')})`,
  'i',
);

/**
 * The overrides that remove programs of the repository and the worktree, which an agent can edit, from a listing
 * (`config --list -z --show-scope`). The operator's own stay in force: filters such as git lfs and, for a remote command, the
 * credential helpers and the ssh command.
 */
export const overrides = (
  listing: string,
  { remote = false }: { remote?: boolean } = {},
): Overrides => {
  const entries = scopedEntries(listing);
  const settings = [...neutralDrivers(entries), ...(remote ? ownHelpers(entries) : [])];
  return { settings, env: remote ? { ...TRANSPORTS, ...sshOf(entries) } : {} };
};

// Falls back to the operator's own value for the same key.
const neutralDrivers = (entries: readonly ScopedEntry[]): Setting[] => {
  const own = entries.filter(({ local }) => !local);
  return entries.flatMap(({ local, key }): Setting[] => {
    if (!local) return [];
    const [, section, name] = /^(filter|diff|merge|hook|http)\.(?:.*\.)?([a-z]+)$/s.exec(key) ?? [];
    const value = NEUTRAL[`${section}.${name}`];
    return value === undefined ? [] : [[key, valueIn(own, key) ?? value]];
  });
};

// An empty value resets the list of helpers; the operator's follow.
const ownHelpers = (entries: readonly ScopedEntry[]): Setting[] => {
  const helpers = entries.filter(({ key }) => /^credential\.(?:.*\.)?helper$/s.test(key));
  if (!helpers.some(({ local }) => local)) return [];
  const own = helpers.filter(({ local }) => !local);
  return [['credential.helper', ''], ...own.map(({ key, value = '' }): Setting => [key, value])];
};

// The only transports: others, such as ext, run programs.
const TRANSPORTS: Environment = { GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' };

const sshOf = (entries: readonly ScopedEntry[]): Environment => {
  const own = entries.findLast(({ local, key }) => !local && key === 'core.sshcommand')?.value;
  if (own === undefined) return {};
  // Only ssh itself knows the option BatchMode.
  return { GIT_SSH_COMMAND: /^(\S*\/)?ssh(\s|$)/.test(own) ? `${own} -oBatchMode=yes` : own };
};
