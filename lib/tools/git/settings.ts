import { devNull } from 'node:os';
import type { Environment } from '../environment.ts';

export type Setting = readonly [key: string, value: string];

/**
 * What git may not do, whatever a repository's configuration says: run hooks or monitors, open editors, sign, clean
 * up in the background, walk into submodules, trust forged file times, or show an unwanted page. The user's own
 * configuration is otherwise kept, for identity, safe.directory and line endings live there.
 */
const HARDENED: readonly Setting[] = [
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.alternateRefsCommand', ''],
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
    // A program that the repository's configuration may name, for git:// alone.
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

// An empty filter takes files as they are. A merge driver needs a command; this one is git's own text merge.
const NEUTRAL: Readonly<Record<string, string>> = {
  'filter.clean': '',
  'filter.smudge': '',
  'filter.process': '',
  'filter.required': 'false',
  'diff.command': '',
  'diff.textconv': '',
  'merge.driver': 'git merge-file --marker-size=%L %A %O %B',
};

/**
 * Settings that take the programs out of a configuration listing (`config --list -z --show-scope`): those of the
 * repository and the worktree, which an agent can edit. The user's own (`git lfs install`, say) stay in force.
 */
export const neutralDrivers = (listing: string): Setting[] =>
  localSettings(listing).flatMap(([key]): Setting[] => {
    const [, section, name] = /^(filter|diff|merge)\..*\.([a-z]+)$/s.exec(key) ?? [];
    const value = NEUTRAL[`${section}.${name}`];
    return value === undefined ? [] : [[key, value]];
  });

/**
 * Settings that leave of the credential helpers, which are programs, only the user's own: an empty one forgets all that
 * were named before it. None where the repository names none.
 */
export const ownHelpers = (listing: string): Setting[] => {
  if (!localSettings(listing).some(isHelper)) return [];
  const own = settingsIn(listing, (scope) => !isLocal(scope)).filter(isHelper);
  return [['credential.helper', ''], ...own];
};

const isHelper = ([key]: Setting): boolean => /^credential\.(?:.*\.)?helper$/is.test(key);

/** The repository's and the worktree's own part of a configuration listing. */
export const localSettings = (listing: string): Setting[] => settingsIn(listing, isLocal);

const isLocal = (scope: string): boolean => scope === 'local' || scope === 'worktree';

const settingsIn = (listing: string, isWanted: (scope: string) => boolean): Setting[] => {
  const fields = listing.split('\0');
  const found: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isWanted(fields[at] ?? '')) continue;
    const [key = '', ...value] = (fields[at + 1] ?? '').split('\n');
    found.push([key, value.join('\n')]);
  }
  return found;
};
