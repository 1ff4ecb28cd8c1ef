import { onlyProject } from '../../../store/records/applied.ts';
import { projectRemotes, settingsOf, waitingSettings } from '../../../store/settings/globals.ts';
import { placesOf } from '../../../store/settings/trust/place.ts';
import { trustCommandFor } from '../../../store/settings/trust/told.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';

/**
 * Throws 422 `trust_needed` while one of these settings waits for the operator's word: no default and no former value
 * stands in for it. `codehost.*` is all below `codehost`.
 */
export const requireTrusted = (store: Store, wanted: readonly string[]): void => {
  const waiting = waitingSettings(store).filter(({ key }) => isWanted(wanted, key));
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
    `You have not trusted what stands in the settings on this machine: ${named.join(', ')}. Run ${trustCommandFor(store.layout)} to see it and say yes, then try again.`,
    { members: { waiting: values } },
  );
};

const isWanted = (wanted: readonly string[], key: string): boolean =>
  wanted.some((one) => (one.endsWith('.*') ? key.startsWith(one.slice(0, -1)) : key === one));

const SHUT_IN = ['sandbox', 'sandbox_readable', 'network', 'allow_local'];

/** The same for whatever starts a provider: its entry, what shuts it in, and what it may do unasked. */
export const needProvider = (store: Store, name: string): void => {
  if (name === 'manual') return;
  requireTrusted(store, [`providers.${name}`, 'permissions.*', ...SHUT_IN]);
};

/** The same for whatever goes by the provider of the settings where none is named. */
export const needChosen = (store: Store, named: string | undefined): void => {
  if (named === undefined) requireTrusted(store, ['provider']);
};

/** The same for whoever uses the repository of a project; `--repo` is the operator's word for the default one. */
export const needProject = (service: WithConfig & WithStore, name: string): void => {
  if (name === 'default' && service.config.repo !== undefined) return;
  requireTrusted(service.store, [`projects.${projectNamed(service, name)}`]);
};

/** The only project, where none is called `default`: it is what a Work item means that names none. */
export const theOnlyProject = ({ store, config }: WithConfig & WithStore): string | undefined => {
  if (config.repo !== undefined) return undefined;
  const known = Object.keys({ ...settingsOf(store).projects, ...projectRemotes(store) });
  return onlyProject(known.length > 0 ? known : waitingProjects(store));
};

// While nothing else has a name, one that waits for trust is meant: the answer says so.
const waitingProjects = (store: Store): string[] =>
  waitingSettings(store).flatMap(({ key }) => /^projects\.(.+)$/s.exec(key)?.[1] ?? []);

/** What a project is called in the settings: `default`, where nothing is called so, is the only one. */
export const projectNamed = (service: WithConfig & WithStore, name: string): string =>
  (name === 'default' ? theOnlyProject(service) : undefined) ?? name;

/** The same for a worktree that is made or set up. */
export const needWorktree = (store: Store): void =>
  requireTrusted(store, ['worktrees.root', 'worktrees.setup', 'worktrees.copy_files', ...SHUT_IN]);

/** The same for what is asked of the code host, or pushed there. */
export const needCodeHost = (store: Store): void => requireTrusted(store, ['codehost.*']);
