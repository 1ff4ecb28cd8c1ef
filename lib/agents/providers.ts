import { resolve } from 'node:path';
import type { NetworkRules } from '../sandbox/egress/rules.ts';
import type { StatePlace } from '../sandbox/state/place.ts';
import type { Environment } from '../tools/process/environment.ts';
import { createAcpProvider } from './acp/acp.ts';
import { askingOf } from './asking.ts';
import { type ModelChoice, NO_OFFERS } from './choice.ts';
import { createCommandProvider } from './command/command.ts';
import type { Format } from './command/formats.ts';
import { COMMAND_PRESETS, type CommandPreset } from './command/presets.ts';
import type { ProviderDeps } from './launch.ts';
import { findLogin, type LoginState } from './login.ts';
import { createManualProvider } from './manual.ts';
import type { PermissionPolicy } from './permissions.ts';
import { type AcpAgent, PRESETS, type Preset } from './presets.ts';
import type { Provider, ProviderInfo } from './provider.ts';
import { failedRun } from './run-end.ts';
import { createRunbookProvider } from './runbook/runbook.ts';
import { STATE_RULES } from './state-rules.ts';

/** An entry of `providers` in the settings. Each field given overrides the preset's. */
interface AcpSettings extends ModelChoice {
  kind: 'acp';
  /** Which preset to start from; without it the preset of the entry's own name, if there is one. */
  preset?: string;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  modes?: { plan?: string; work?: string };
  /** Where the agent keeps its own, absolute or beginning with `~/`: a run has a private copy. */
  state_dirs?: string[];
  /** Globs of files in them that return from that copy. */
  state_returns?: string[];
  network?: NetworkRules['network'];
  allow_local?: string[];
}

/** Any program that does one turn and ends. */
export interface CommandSettings extends ModelChoice {
  kind: 'command';
  preset?: string;
  /** Program and arguments; `{prompt}` stands for the prompt, which is on standard input otherwise. */
  plan?: string[];
  work?: string[];
  output?: Format;
  env?: Record<string, string>;
  state_dirs?: string[];
  state_returns?: string[];
  network?: NetworkRules['network'];
  allow_local?: string[];
}

/** What this version does not know how to run; reported, never started. */
interface UnsupportedSettings {
  kind: string;
}

type Entry = AcpSettings | CommandSettings | UnsupportedSettings;

export interface ProvidersConfig {
  /** The provider of new sessions; `runbook` when not given. */
  provider?: string;
  providers?: Record<string, Entry>;
  permissions?: Partial<PermissionPolicy>;
}

export interface Providers {
  /** The name of the provider of new sessions. */
  chosen: string;
  get(name: string): Provider | undefined;
  /** All of them, with why one is not available. */
  list(): Promise<ProviderInfo[]>;
}

/** The providers by name: the two built in, the agents known by name, and those of the settings, which win. */
export const createProviders = (settings: ProvidersConfig, deps: ProviderDeps): Providers => {
  const known = new Map<string, Provider>([
    ['runbook', createRunbookProvider(deps)],
    ['manual', createManualProvider()],
  ]);
  for (const id of Object.keys(PRESETS))
    known.set(id, acpProvider(id, { kind: 'acp' }, settings, deps));
  for (const [id, entry] of Object.entries(settings.providers ?? {})) {
    known.set(id, fromSettings(id, entry, settings, deps));
  }
  return {
    chosen: settings.provider ?? 'runbook',
    get: (name) => known.get(name),
    list: () => Promise.all([...known.values()].map(infoOf)),
  };
};

const infoOf = async (provider: Provider): Promise<ProviderInfo> => ({
  ...(await provider.probe()),
  offers: provider.offers?.() ?? NO_OFFERS,
});

const fromSettings = (
  id: string,
  entry: Entry,
  settings: ProvidersConfig,
  deps: ProviderDeps,
): Provider => {
  if (id === 'runbook' || id === 'manual') {
    return unavailable(
      id,
      id,
      `The name ${id} belongs to a built-in provider: give providers.${id} another name.`,
    );
  }
  if (isAcp(entry)) return acpProvider(id, entry, settings, withNetwork(entry, deps));
  if (isCommand(entry)) return commandProvider(id, entry, withNetwork(entry, deps));
  return unavailable(
    id,
    'acp',
    `providers.${id}: the kind ${entry.kind} is not supported by this version; acp and command are.`,
  );
};

const withNetwork = ({ network, allow_local }: NetworkRules, deps: ProviderDeps): ProviderDeps => ({
  ...deps,
  network: deps.network.for({ network, allow_local }),
});

const isAcp = (entry: Entry): entry is AcpSettings => entry.kind === 'acp';

const isCommand = (entry: Entry): entry is CommandSettings => entry.kind === 'command';

const commandProvider = (id: string, entry: CommandSettings, deps: ProviderDeps): Provider => {
  const name = entry.preset ?? id;
  const known = Object.hasOwn(COMMAND_PRESETS, name) ? COMMAND_PRESETS[name] : undefined;
  if (entry.preset !== undefined && known === undefined)
    return unavailable(id, 'command', noSuchPreset(id, entry.preset, COMMAND_PRESETS));
  const { plan = known?.argv.plan, work = known?.argv.work } = entry;
  if (work === undefined)
    return unavailable(
      id,
      'command',
      `providers.${id}: work is needed, the program and its arguments for Work mode, or the preset of a known program.`,
    );
  const { env, state, loggedIn } = ownPlaces(entry, presetOf(name) ?? BARE, deps);
  const argv = { work, ...(plan !== undefined && { plan }) };
  const { output = known?.output ?? 'text' } = entry;
  const chosen = { usual: chosenBy(entry), ...flagsOf(entry, known) };
  return createCommandProvider(
    { id, argv, output, env, state, loggedIn, hint: known?.hint ?? BARE.hint, ...chosen },
    deps,
  );
};

// Where a flag goes in an argument vector of the operator's, nobody knows.
const flagsOf = ({ plan, work }: CommandSettings, known?: CommandPreset) =>
  plan === undefined && work === undefined && known !== undefined ? { flags: known.flags } : {};

const chosenBy = ({ model, effort }: ModelChoice): ModelChoice => ({
  ...(model !== undefined && { model }),
  ...(effort !== undefined && { effort }),
});

const noSuchPreset = (id: string, preset: string, presets: object): string =>
  `providers.${id}: there is no preset ${preset}; there are ${Object.keys(presets).join(', ')}.`;

const acpProvider = (
  id: string,
  entry: AcpSettings,
  settings: ProvidersConfig,
  deps: ProviderDeps,
): Provider => {
  const preset = presetOf(entry.preset ?? id);
  if (entry.preset !== undefined && preset === undefined) {
    return unavailable(id, 'acp', noSuchPreset(id, entry.preset, PRESETS));
  }
  const argv = argvOf(entry, preset);
  if (argv === undefined) {
    return unavailable(
      id,
      'acp',
      `providers.${id}: a command is needed, or the preset of a known agent.`,
    );
  }
  const policy = { execute: 'ask', fetch: 'ask', ...settings.permissions } as const;
  const agent = acpAgent(id, argv, { entry, preset: preset ?? BARE }, deps);
  const { modes, ...asking } = askingOf(preset ?? BARE, policy);
  // A mode that the operator names is the one.
  const named = entry.modes?.work !== undefined || modes === undefined;
  const how = { ...asking, ...(!named && { modes }) };
  return createAcpProvider({ ...agent, asking: how }, { ...deps, policy });
};

const presetOf = (name: string): Preset | undefined =>
  Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;

const argvOf = ({ command, args }: AcpSettings, preset?: Preset): readonly string[] | undefined => {
  const [known, ...usual] = preset?.argv ?? [];
  const program = command ?? known;
  return program === undefined ? undefined : [program, ...(args ?? usual)];
};

const BARE: Preset = {
  argv: [],
  modes: { plan: [], work: [] },
  state_dirs: [],
  inherits: [],
  hint: 'Install it, or correct its command in the settings.',
};

const acpAgent = (
  id: string,
  argv: readonly string[],
  { entry, preset }: { entry: AcpSettings; preset: Preset },
  deps: ProviderDeps,
): Omit<AcpAgent, 'asking'> => {
  const { env, state, loggedIn } = ownPlaces(entry, preset, deps);
  const { plan, work } = entry.modes ?? {};
  const { authenticate } = preset;
  return {
    id,
    argv,
    env,
    state,
    modes: {
      plan: plan === undefined ? preset.modes.plan : [plan],
      work: work === undefined ? preset.modes.work : [work],
    },
    ...(authenticate && env[authenticate.when] && { authenticate: authenticate.method }),
    sums_turn: preset.sums_turn ?? true,
    cost_restarts: preset.cost_restarts ?? false,
    token_by_env: preset.token_by_env ?? false,
    loggedIn,
    usual: chosenBy(entry),
    hint: preset.hint,
    ...(preset.meta && { meta: preset.meta }),
    ...(preset.login !== undefined && { login: preset.login }),
  };
};

// What a program is given of its own: its variables, and where it keeps its sessions and its login.
const ownPlaces = (
  entry: Pick<AcpSettings, 'env' | 'state_dirs' | 'state_returns'>,
  preset: Preset,
  { env }: ProviderDeps,
): { env: Environment; state: StatePlace[]; loggedIn: () => LoginState } => {
  const given: Environment = { ...inherited(preset, env), ...preset.env, ...entry.env };
  const home = given.HOME ?? env.HOME ?? '/';
  const usual = usualPlaces(preset, given).map((path) => atHome(path, home));
  const { state_dirs, state_returns } = entry;
  const returns = state_returns && { returns: state_returns };
  const places = state_dirs?.map((dir) => atHome(dir, home)) ?? usual;
  const state = places.map((path): StatePlace => {
    const known = STATE_RULES[preset.state_dirs[usual.indexOf(path)] ?? ''];
    const rules = known ?? returns;
    return { path, ...(rules && { rules: { ...known, ...returns } }) };
  });
  return { env: given, state, loggedIn: () => findLogin(preset, given, usual) };
};

const atHome = (path: string, home: string): string => resolve(path.replace(/^~(?=\/)/, home));

const usualPlaces = ({ state_dirs, state_moved_by = '' }: Preset, env: Environment): string[] => {
  const moved = env[state_moved_by];
  const [first, ...others] = state_dirs.map((dir) => `~/${dir}`);
  return first === undefined ? [] : [moved ?? first, ...others];
};

const inherited = ({ inherits }: Preset, env: ProviderDeps['env']): Environment => {
  const found = inherits.map((name) => [name, env[name]] as const);
  return Object.fromEntries(
    found.filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
};

const unavailable = (id: string, kind: ProviderInfo['kind'], reason: string): Provider => ({
  isolation: 'checked',
  own_network: false,
  missing: () => reason,
  probe: async () => ({ id, kind, available: false, reason, isolation: 'checked' }),
  start: () => failedRun(reason),
});

/** The providers as the settings name them now. */
export interface WithProviders {
  readonly providers: () => Providers;
}
