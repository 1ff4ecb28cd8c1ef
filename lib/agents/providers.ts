import { resolve } from 'node:path';
import { ownValue } from '../../store/base/own-value.ts';
import { chosenProvider, permissionPolicy, providerEntries } from '../../store/records/applied.ts';
import type { ProviderSettings, Settings } from '../../store/records/settings.ts';
import type { StatePlace } from '../sandbox/state/rules.ts';
import type { Environment } from '../tools/process/environment.ts';
import { isFilled } from '../tools/process/find-program.ts';
import { createAcpProvider } from './acp/acp.ts';
import type { AcpDeps } from './acp/run.ts';
import { askSwitchesFor } from './ask-switches.ts';
import { createCommandProvider } from './command/command.ts';
import { COMMAND_PRESETS, type CommandPreset } from './command/presets.ts';
import type { ProviderDeps } from './launch.ts';
import { createManualProvider } from './manual.ts';
import { NO_OFFERS } from './model-choice.ts';
import { type LoginState, type OwnPlaces, PRESETS, type Preset } from './presets.ts';
import type { Provider, ProviderInfo } from './provider.ts';
import { failedRun } from './run-end.ts';
import { createRunbookProvider } from './runbook/runbook.ts';
import { STATE_RULES } from './state-rules.ts';

/** The settings of providers. The default provider of new sessions is the runbook. */
export type ProvidersConfig = Pick<Settings, 'provider' | 'providers' | 'permissions'>;

export interface Providers {
  /** The name of the provider of new sessions. */
  chosen: string;
  get(name: string): Provider | undefined;
  /** All providers, with the reason if one is not available. Unless `probe` is false, agents are started to find out. */
  list(probe?: boolean): Promise<ProviderInfo[]>;
}

/** Creates the providers: runbook and manual, the known agents, and those of the settings, which override. */
export const createProviders = (settings: ProvidersConfig, deps: ProviderDeps): Providers => {
  const known = new Map<string, Provider>([
    ['runbook', createRunbookProvider(deps)],
    ['manual', createManualProvider()],
  ]);
  const policy = permissionPolicy(settings);
  for (const [id, entry] of providerEntries(settings))
    known.set(id, fromSettings(id, entry, { ...deps, policy }));
  return {
    chosen: chosenProvider(settings),
    get: (name) => known.get(name),
    list: (probe = true) =>
      Promise.all([...known].map(([id, provider]) => infoOf(id, provider, probe))),
  };
};

const infoOf = async (id: string, provider: Provider, probe: boolean): Promise<ProviderInfo> => ({
  ...(probe ? await provider.probe() : installed(id, provider)),
  offers: provider.offers?.() ?? NO_OFFERS,
});

const installed = (id: string, { boundary, isolation, missing }: Provider): ProviderInfo => {
  const [{ kind }, reason] = [boundary(), missing()];
  return { id, kind, isolation, available: reason === undefined, ...(reason && { reason }) };
};

const fromSettings = (id: string, entry: ProviderSettings, deps: AcpDeps): Provider => {
  if (id === 'runbook' || id === 'manual')
    return unavailable(
      id,
      id,
      `The name ${id} belongs to a built-in provider. Give providers.${id} another name.`,
    );
  const { kind, network, allow_local } = entry;
  const own = { ...deps, network: deps.network.for({ network, allow_local }) };
  const made = kind === 'acp' ? acpProvider(id, entry, own) : commandProvider(id, entry, own);
  return typeof made === 'string'
    ? unavailable(id, kind === 'command' ? kind : 'acp', `providers.${id}: ${made}`)
    : made;
};

// These return a reason if the entry is not a valid provider.
const commandProvider = (
  id: string,
  entry: ProviderSettings,
  deps: ProviderDeps,
): Provider | string => {
  const { kind, preset = id, output } = entry;
  if (kind !== 'command') return `the kind ${kind} is not supported. Use acp or command.`;
  const known = ownValue(COMMAND_PRESETS, preset);
  if (entry.preset !== undefined && known === undefined) return noSuch(preset, COMMAND_PRESETS);
  const { plan = known?.argv.plan, work = known?.argv.work } = entry;
  if (work === undefined)
    return 'there is no program for Work mode. Set work to a program and its arguments, or set preset.';
  const how = { output: output ?? known?.output ?? 'text', ...flagsOf(entry, known) };
  const own = ownPlaces(entry, ownValue(PRESETS, preset) ?? BARE, deps);
  const argv = { work, ...(plan !== undefined && { plan }) };
  return createCommandProvider({ id, argv, ...how, ...own }, deps);
};

// Flags are known only for the argument vectors of presets.
const flagsOf = ({ plan, work }: ProviderSettings, known?: CommandPreset) =>
  plan === undefined && work === undefined && known !== undefined ? { flags: known.flags } : {};

const noSuch = (preset: string, presets: object): string =>
  `there is no preset ${preset}. Use one of ${Object.keys(presets).join(', ')}.`;

const acpProvider = (id: string, entry: ProviderSettings, deps: AcpDeps): Provider | string => {
  const preset = ownValue(PRESETS, entry.preset ?? id);
  if (entry.preset !== undefined && preset === undefined) return noSuch(entry.preset, PRESETS);
  const argv = argvOf(entry, preset);
  if (argv === undefined)
    return 'there is no program. Set command, or the preset of a known agent.';
  const agent = acpAgent(entry, preset ?? BARE, deps);
  const { modes, ...asking } = askSwitchesFor(preset ?? BARE, deps.policy);
  // A mode in the settings takes precedence.
  const named = entry.modes?.work !== undefined || modes === undefined;
  const how = { ...asking, ...(!named && { modes }) };
  return createAcpProvider({ ...agent, id, argv, asking: how }, deps);
};

const argvOf = (
  { command, args }: ProviderSettings,
  preset?: Preset,
): readonly string[] | undefined => {
  const [known, ...usual] = preset?.argv ?? [];
  const program = command ?? known;
  return program === undefined ? undefined : [program, ...(args ?? usual)];
};

const BARE: Preset = {
  argv: [],
  modes: { plan: [], work: [] },
  state_dirs: [],
  inherits: [],
};

const acpAgent = (entry: ProviderSettings, preset: Preset, deps: ProviderDeps) => {
  const own = ownPlaces(entry, preset, deps);
  const { plan, work } = entry.modes ?? {};
  const { authenticate, ...facts } = preset;
  return {
    ...facts,
    ...own,
    modes: {
      plan: plan === undefined ? preset.modes.plan : [plan],
      work: work === undefined ? preset.modes.work : [work],
    },
    ...(authenticate && own.env[authenticate.when] && { authenticate: authenticate.method }),
  };
};

const ownPlaces = (entry: ProviderSettings, preset: Preset, { env }: ProviderDeps): OwnPlaces => {
  const given: Environment = { ...inherited(preset, env), ...preset.env, ...entry.env };
  const home = given.HOME ?? env.HOME ?? '/';
  const usual = usualPlaces(preset, given).map((path) => atHome(path, home));
  const { state_dirs, state_returns, model, effort } = entry;
  const chosen = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }) };
  const returns = state_returns && { returns: state_returns };
  const places = state_dirs?.map((dir) => atHome(dir, home)) ?? usual;
  const state = places.map((path): StatePlace => {
    const known = STATE_RULES[preset.state_dirs[usual.indexOf(path)] ?? ''];
    const rules = known ?? returns;
    return { path, ...(rules && { rules: { ...known, ...returns } }) };
  });
  const loggedIn = () => findLogin(preset, given, usual);
  return { env: given, state, loggedIn, usual: chosen };
};

/** Looks for a login without starting the agent. `places`: the paths of its state, in the order of the preset. */
const findLogin = (
  { logged_in_by: signs, state_dirs }: Preset,
  env: Environment,
  places: readonly string[],
): LoginState => {
  if (signs === undefined) return 'unknown';
  const files = signs.files.map((file) => {
    const at = state_dirs.findIndex((dir) => file.startsWith(`${dir}/`));
    return `${places[at]}${file.slice(state_dirs[at]?.length ?? 0)}`;
  });
  const found = signs.env.some((name) => (env[name] ?? '') !== '') || files.some(isFilled);
  if (found) return 'yes';
  // On macOS the login may be in the keychain.
  return process.platform === 'darwin' ? 'unknown' : signs.otherwise;
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
  boundary: () => ({ kind }),
  missing: () => reason,
  probe: async () => ({ id, kind, available: false, reason, isolation: 'checked' }),
  start: () => failedRun(reason),
});

/** A service with the providers of the current settings. */
export interface WithProviders {
  readonly providers: () => Providers;
}

/** The providers for a new session, the default first. */
export const sessionProviders = async (
  { list, chosen }: Providers,
  probe?: boolean,
): Promise<ProviderInfo[]> => {
  const all = await list(probe);
  return all.toSorted((a, b) => Number(b.id === chosen) - Number(a.id === chosen));
};
