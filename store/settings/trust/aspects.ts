import { canonical } from '../../consent/seal.ts';
import {
  chosenProvider,
  DEFAULT_ROOT,
  type NetworkRules,
  networkRules,
  permissionPolicy,
  providerEntries,
  repositoryIn,
  sandboxSettings,
  worktreeConfigOf,
} from '../../records/applied.ts';
import type { Settings } from '../../records/settings.ts';
import { partAt, patternOf, split, type TrustedSetting } from './keys.ts';

/** One effect of the settings: for all sessions, or for one provider or project. */
export interface Aspect {
  /** All keys that it depends on. */
  keys: readonly string[];
  /** The value in effect. */
  of: (settings: Settings) => unknown;
  opensNoMore: OpensNoMore;
}

/** Whether the second value, different from the first, is not looser than it. Must be transitive. */
type OpensNoMore = (before: unknown, after: unknown) => boolean;

interface Change {
  held: Settings;
  wanted: Settings;
}

type Rule = (key: string, change: Change) => readonly Aspect[];

/** The effects that may change with the value of a key. */
export const aspectsOf: Rule = (key, change) => {
  const pattern = patternOf(key);
  return pattern === undefined ? [] : RULES[pattern](key, change);
};

/** The rule of a key whose effect depends on no other key. */
const alone =
  (of: (settings: Settings, key: string) => unknown, opensNoMore: OpensNoMore): Rule =>
  (key) => [{ keys: [key], of: (settings) => of(settings, key), opensNoMore }];

const nameIn = (key: string): string => split(key)[1] ?? key;

const isGone: OpensNoMore = (_before, after) => after === undefined;
const never: OpensNoMore = () => false;
const isOnly =
  (value: unknown): OpensNoMore =>
  (_before, after) =>
    after === value;

const isSubset: OpensNoMore = (before, after) => {
  const known = Array.isArray(before) ? before.map(canonical) : [];
  return Array.isArray(after) && after.every((each) => known.includes(canonical(each)));
};

/** Like `isSubset`, in the same order, because setup steps depend on earlier ones. */
const isSubsequence: OpensNoMore = (before, after) => {
  if (!Array.isArray(after)) return false;
  const known = Array.isArray(before) ? before.map(canonical) : [];
  let at = 0;
  return after.map(canonical).every((each) => {
    at = known.indexOf(each, at) + 1;
    return at > 0;
  });
};

// Turning the sandbox on applies at once; any other kind of sandbox needs confirmation.
const isSandboxedAgain: OpensNoMore = (before, after) => before === 'off' && after === 'auto';

const allowsNoMore: OpensNoMore = (before, after) =>
  after === 'ask' ||
  (before === 'allow' && after === 'plan') ||
  (Array.isArray(after) && (before === 'allow' || isSubset(before, after)));

const domainsIn = (network: unknown): unknown =>
  typeof network === 'object' && network !== null
    ? (network as { allow?: unknown }).allow
    : undefined;

/** 0: the whole network. 1: through the proxy. 2: named domains only. */
const levelOf = (network: unknown): number | undefined => {
  if (network === 'host') return 0;
  if (network === 'proxy') return 1;
  return Array.isArray(domainsIn(network)) ? 2 : undefined;
};

const reachesNoMore: OpensNoMore = (before, after) => {
  const [from, to] = [levelOf(before), levelOf(after)];
  if (from === undefined || to === undefined || to < from) return false;
  return to > from || isSubset(domainsIn(before), domainsIn(after));
};

const REACH = {
  network: { usual: 'proxy', opensNoMore: reachesNoMore },
  allow_local: { usual: [], opensNoMore: isSubset },
} as const;

type ReachSetting = keyof typeof REACH;

const reachBy = (
  setting: ReachSetting,
  keys: readonly string[],
  rules: (settings: Settings) => NetworkRules | undefined,
): Aspect => ({
  keys: [setting, ...keys],
  of: (settings) => {
    const found = rules(settings);
    return found && (found[setting] ?? REACH[setting].usual);
  },
  // Starting a program where none was is judged by the aspect of that program.
  opensNoMore: (before, after) =>
    [before, after].includes(undefined) || REACH[setting].opensNoMore(before, after),
});

/** The network rules of a provider's programs; undefined if it starts none. Set-up commands have those of the runbook. */
const rulesOf = (settings: Settings, name: string): NetworkRules | undefined => {
  if (name === 'manual') return undefined;
  if (name === 'runbook') return settings;
  const entry = providerEntries(settings).get(name);
  return entry && networkRules(settings, entry);
};

const keyOf = (name: string): string => `providers.${name}`;

const reachOf = (setting: ReachSetting, name: string): Aspect =>
  reachBy(setting, [keyOf(name)], (settings) => rulesOf(settings, name));

const reachOfEach =
  (setting: ReachSetting): Rule =>
  (_key, { held, wanted }) => {
    const names = [held, wanted].flatMap((settings) => [...providerEntries(settings).keys()]);
    return [...new Set(['runbook', ...names])].map((name) => reachOf(setting, name));
  };

/** The provider of sessions that name none. */
const chosen: Rule = (_key, { held, wanted }) => {
  const entries = [held, wanted].map((settings) => keyOf(chosenProvider(settings)));
  const keys = ['provider', ...entries];
  const rules = (settings: Settings) => rulesOf(settings, chosenProvider(settings));
  const of = (settings: Settings): Chosen => ({
    name: chosenProvider(settings),
    starts: rules(settings) !== undefined,
  });
  return [
    { keys, of, opensNoMore: choosesNoMore },
    reachBy('network', keys, rules),
    reachBy('allow_local', keys, rules),
  ];
};

interface Chosen {
  name: string;
  /** False for a provider that starts no program or does not exist. */
  starts: boolean;
}

// The runbook runs only the approved plan; an agent can run anything.
const choosesNoMore: OpensNoMore = (before, after) => {
  const [from, to] = [before, after] as [Chosen, Chosen];
  if (to.name === 'manual') return true;
  return to.name === 'runbook' ? from.starts : to.name === from.name && !to.starts;
};

/** The program of a provider and its options: the whole entry except its network rules. */
const programOf = (settings: Settings, key: string): unknown => {
  const name = nameIn(key);
  const entry = providerEntries(settings).get(name);
  if (entry === undefined) return name === 'runbook' ? name : undefined;
  const { network: _network, allow_local: _local, ...program } = entry;
  return program;
};

// Removing these lets the agent choose, as without an entry.
const CHOICES = ['model', 'effort'];

const startsNoOther: OpensNoMore = (before, after) => {
  if (after === undefined) return true;
  const kept = Object.entries(Object(before)).filter(
    ([name]) => !CHOICES.includes(name) || Object.hasOwn(Object(after), name),
  );
  return canonical(Object.fromEntries(kept)) === canonical(after);
};

const provider: Rule = (key, change) => [
  ...alone(programOf, startsNoOther)(key, change),
  reachOf('network', nameIn(key)),
  reachOf('allow_local', nameIn(key)),
  ...chosen(key, change),
];

const RULES: Readonly<Record<TrustedSetting, Rule>> = {
  provider: chosen,
  'providers.*': provider,
  'projects.*': alone((settings, key) => repositoryIn(settings, nameIn(key)), isGone),
  sandbox: alone((settings) => sandboxSettings(settings).sandbox, isSandboxedAgain),
  sandbox_readable: alone((settings) => sandboxSettings(settings).sandbox_readable, isSubset),
  network: reachOfEach('network'),
  allow_local: reachOfEach('allow_local'),
  'env.*': alone(partAt, isGone),
  'permissions.*': alone(
    (settings, key) => partAt({ permissions: permissionPolicy(settings) }, key),
    allowsNoMore,
  ),
  'worktrees.root': alone((settings) => worktreeConfigOf(settings).root, isOnly(DEFAULT_ROOT)),
  // Set-up commands run what the branch has. Without one, the default branch of the repository applies.
  'worktrees.base_branch': alone(
    (settings) => worktreeConfigOf(settings).base_branch,
    isOnly(null),
  ),
  'worktrees.setup': alone((settings) => worktreeConfigOf(settings).setup, isSubsequence),
  'worktrees.copy_files': alone((settings) => worktreeConfigOf(settings).copy_files, isSubset),
  // A directory that is no longer shared is installed again in each worktree.
  'worktrees.share': alone((settings) => worktreeConfigOf(settings).share, isSubset),
  // Without an entry, the default program for the language is started.
  'language_servers.*': alone(partAt, never),
  // Without a value, another host, repository or remote applies.
  'codehost.*': (key, change) =>
    alone(partAt, key === 'codehost.timeout_seconds' ? isGone : never)(key, change),
  require_key: alone((settings) => settings.require_key === true, isOnly(true)),
};
