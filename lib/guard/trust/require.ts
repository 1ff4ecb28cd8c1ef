import { trustCommandFor } from '../../../store/base/text.ts';
import { onlyProject } from '../../../store/records/applied.ts';
import { projectRemotes, settingsOf, untrustedSettings } from '../../../store/settings/globals.ts';
import { placesOf } from '../../../store/settings/trust/waiting.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';

/**
 * Throws 422 `trust_needed` while one of these settings is untrusted; no default or former value is used instead.
 * `codehost.*` means all settings below `codehost`.
 */
export const requireTrusted = (store: Store, wanted: readonly string[]): void => {
  const waiting = untrustedSettings(store).filter(({ key }) => isWanted(wanted, key));
  if (waiting.length === 0) return;
  const places = placesOf(
    store.layout,
    waiting.map(({ key }) => key),
  );
  const values = waiting.map(({ key, hash }) => ({
    key,
    file: 'workspace.md',
    hash,
    ...(places.has(key) && { line: places.get(key)?.line }),
  }));
  const named = values.map(
    ({ key, file, line }) => `${key} (${[file, line].filter(Boolean).join(':')})`,
  );
  throw new ServiceError(
    'trust_needed',
    `These settings are not trusted on this machine: ${named.join(', ')}. Review and trust them with ${trustCommandFor(store.layout)}, then try again.`,
    { members: { waiting: values } },
  );
};

const isWanted = (wanted: readonly string[], key: string): boolean =>
  wanted.some((one) => (one.endsWith('.*') ? key.startsWith(one.slice(0, -1)) : key === one));

const EVERY_RUN = ['sandbox', 'sandbox_readable', 'network', 'allow_local', 'env.*'];

/** Requires the settings that starting a provider uses: its entry, the sandbox, the variables and its permissions. */
export const requireTrustedProvider = (store: Store, name: string): void => {
  if (name === 'manual') return;
  requireTrusted(store, [`providers.${name}`, 'permissions.*', ...EVERY_RUN]);
};

/** Requires the default provider to be trusted if no provider is named. */
export const requireTrustedDefaultProvider = (store: Store, named: string | undefined): void => {
  if (named === undefined) requireTrusted(store, ['provider']);
};

/** Requires the repository of a project to be trusted. The operator's `--repo` needs no trust. */
export const requireTrustedProject = (service: WithConfig & WithStore, name: string): void => {
  if (name === 'default' && service.config.repo !== undefined) return;
  requireTrusted(service.store, [`projects.${projectNamed(service, name)}`]);
};

/** The name of the only project, if it is not called `default`: Work items without a project belong to it. */
export const onlyProjectName = ({ store, config }: WithConfig & WithStore): string | undefined => {
  if (config.repo !== undefined) return undefined;
  const known = Object.keys({ ...settingsOf(store).projects, ...projectRemotes(store) });
  return onlyProject(known.length > 0 ? known : waitingProjects(store));
};

// Without trusted projects, an untrusted one is used, so that the error names it.
const waitingProjects = (store: Store): string[] =>
  untrustedSettings(store).flatMap(({ key }) => /^projects\.(.+)$/s.exec(key)?.[1] ?? []);

/** The name of a project in the settings: `default` can stand for the only project. */
export const projectNamed = (service: WithConfig & WithStore, name: string): string =>
  (name === 'default' ? onlyProjectName(service) : undefined) ?? name;

/** Requires the settings that creating and setting up a worktree uses. */
export const requireTrustedWorktreeSettings = (store: Store): void =>
  requireTrusted(store, [...WORKTREES, ...EVERY_RUN]);

const WORKTREES = ['root', 'setup', 'copy_files', 'share'].map((name) => `worktrees.${name}`);

/** Requires the setting that worktrees begin on for which no base is named. */
export const requireTrustedBase = (store: Store): void => requireTrusted(store, [BASE]);

/** Whether that setting waits for the operator. */
export const isBaseWaiting = (store: Store): boolean =>
  untrustedSettings(store).some(({ key }) => key === BASE);

const BASE = 'worktrees.base_branch';

/** Requires the settings of the code host. */
export const requireTrustedCodeHost = (store: Store): void => requireTrusted(store, ['codehost.*']);
