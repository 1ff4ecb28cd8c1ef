import type { ProviderSettings, Settings } from './settings.ts';
import type { WorktreeConfig } from './worktree-config.ts';

/** Agents known by name, which need no entry in the settings. */
const KNOWN_AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'qwen'] as const;
export type KnownAgent = (typeof KNOWN_AGENTS)[number];

/** The default provider. */
export const chosenProvider = ({ provider = 'runbook' }: Pick<Settings, 'provider'>): string =>
  provider;

/** The entries of all providers that are not built in: agents known by name, overridden by the settings. */
export const providerEntries = ({
  providers = {},
}: Pick<Settings, 'providers'>): Map<string, ProviderSettings> =>
  new Map([
    ...KNOWN_AGENTS.map((name): [string, ProviderSettings] => [name, { kind: 'acp' }]),
    ...Object.entries(providers),
  ]);

/** How many sessions may plan or work at once. */
export const maxSessions = ({ max_sessions = 4 }: Pick<Settings, 'max_sessions'>): number =>
  max_sessions;

/** The network settings of one provider, or of all. */
export interface NetworkRules {
  network?: Settings['network'];
  allow_local?: readonly string[] | undefined;
}

/** The rules of one provider: its own `network` overrides the general one; `allow_local` is the union of both. */
export const networkRules = (all: NetworkRules, own: NetworkRules): NetworkRules => ({
  network: own.network ?? all.network,
  allow_local: [...(all.allow_local ?? []), ...(own.allow_local ?? [])],
});

/** What an agent may do in Work mode without asking the operator. */
export const permissionPolicy = ({
  permissions,
}: Pick<Settings, 'permissions'>): Required<NonNullable<Settings['permissions']>> => ({
  execute: 'plan',
  fetch: 'ask',
  ...permissions,
});

/** The sandbox settings, and further readable paths. */
export const sandboxSettings = ({ sandbox = 'auto', sandbox_readable = [] }: Settings) => ({
  sandbox,
  sandbox_readable,
});

/** The variables of every program of a run; inherited ones have the value in `source`, if there is one. */
export const runVariables = (
  { env = {} }: Pick<Settings, 'env'>,
  source: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      const given = typeof value === 'string' ? value : source[name];
      return given === undefined ? [] : [[name, given]];
    }),
  );

/** How far a webhook may fall behind before its backlog is closed. */
export const webhookRetention = ({
  webhooks,
}: Pick<Settings, 'webhooks'>): Required<NonNullable<Settings['webhooks']>> => ({
  retention_hours: 168,
  retention_mb: 256,
  ...webhooks,
});

/** The repository of a project; undefined if the settings have none. */
export const repositoryIn = (
  { projects = {} }: Pick<Settings, 'projects'>,
  project: string,
): string | undefined => (Object.hasOwn(projects, project) ? projects[project] : undefined);

/**
 * The project to use if none is named and none is called `default`: the only one of these names. If several exist,
 * returns undefined.
 */
export const onlyProject = (names: readonly string[]): string | undefined => {
  const [only, ...others] = new Set(names);
  return others.length > 0 || only === 'default' ? undefined : only;
};

/** The worktree settings in force. */
export const worktreeConfigOf = ({
  worktrees = {},
}: Pick<Settings, 'worktrees'>): WorktreeConfig => ({
  root: worktrees.root ?? DEFAULT_ROOT,
  ttl_hours: worktrees.ttl_hours ?? 168,
  branch_prefix: worktrees.branch_prefix ?? 'work/',
  branch_template: worktrees.branch_template ?? '{prefix}{name}',
  base_branch: worktrees.base_branch ?? null,
  setup: worktrees.setup ?? [],
  copy_files: worktrees.copy_files ?? [],
  share: worktrees.share ?? [],
  commit: worktrees.commit ?? 'end',
});

/** The default directory of worktrees. */
export const DEFAULT_ROOT = '.dossier/worktrees';

/** The limits of a run: silence, duration and output. */
export const runLimits = ({
  limits: { idle_minutes = 15, wall_hours = 8, output_mb = 64, quiet_seconds = 4 } = {},
}: Pick<Settings, 'limits'>) => ({
  idle_ms: idle_minutes * 60_000,
  wall_ms: wall_hours * 3_600_000,
  output_bytes: Math.ceil(output_mb * 1024 * 1024),
  quiet_ms: quiet_seconds * 1000,
});
