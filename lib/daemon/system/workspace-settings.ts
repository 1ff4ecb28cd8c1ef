import { resolve } from 'node:path';
import { chosenProvider } from '../../../store/records/applied.ts';
import type {
  WorkspaceSettings,
  WorkspaceSettingsChange,
} from '../../../store/records/workspace-settings.ts';
import {
  projectRemotes,
  settingsEntry,
  untrustedSettings,
} from '../../../store/settings/globals.ts';
import {
  changeSettings,
  currentSettings,
  type StoredSettings,
} from '../../../store/settings/settings.ts';
import { parseRemoteUrl } from '../../codehost/remote-url.ts';
import { badField } from '../../errors.ts';
import type { Service } from '../../service.ts';
import { originFirst, remoteSettings } from '../../tools/git/read/remotes.ts';
import { findRepository, whyUnfit } from '../../tools/git/read/repository.ts';
import { maxSessionsOf } from '../../work/sessions/live/slots.ts';

type Needs = Pick<Service, 'config' | 'git' | 'providers' | 'store'>;

interface Served {
  settings: WorkspaceSettings;
  etag: string;
}

/** Reads the projects and the provider from workspace.md. */
export const readWorkspaceSettings = async (service: Needs): Promise<Served> =>
  served(service, await currentSettings(service.store));

const served = async (service: Needs, { settings, etag }: StoredSettings): Promise<Served> => {
  const { store, config } = service;
  const { repo } = config;
  const named = Object.entries(settings.projects ?? {}).filter(
    ([name]) => name !== 'default' || repo === undefined,
  );
  const remotes = projectRemotes(store);
  const here = await Promise.all([
    ...(repo === undefined ? [] : [projectOf(service, ['default', repo], 'flag')]),
    ...named.map((one) => projectOf(service, one, 'settings')),
  ]);
  const names = new Set(here.map(({ name }) => name));
  const projects: Project[] = [
    ...here.map((one) => ({ ...one, ...(remotes[one.name] && { remote: remotes[one.name] }) })),
    ...Object.entries(remotes)
      .filter(([name]) => !names.has(name))
      .map(([name, remote]) => remoteProject(name, remote)),
  ];
  return {
    settings: {
      file: store.layout.settings,
      provider: chosenProvider(settings),
      max_sessions: maxSessionsOf(store),
      projects,
      waiting: untrustedSettings(store).map(({ key }) => key),
    },
    etag,
  };
};

type Project = WorkspaceSettings['projects'][number];

const projectOf = async (
  { git, store }: Needs,
  [name, path]: [string, string],
  of: Project['of'],
): Promise<Project> => {
  const place = resolve(store.layout.root, path);
  const found = await findRepository(git, place).catch(() => undefined);
  return { name, path, place, of, repository: found !== undefined };
};

const remoteProject = (name: string, remote: string): Project => ({
  name,
  path: remote,
  place: remote,
  of: 'remote',
  repository: false,
  remote,
});

/**
 * Writes the given settings and keeps all others; null removes a setting. Paths of projects are written to
 * .dossier/local.md, and their remotes, which identify them on other machines, to workspace.md. Throws `bad_request`.
 */
export const changeWorkspaceSettings = async (
  service: Needs,
  { projects = {}, ...rest }: WorkspaceSettingsChange,
  ifMatch: string | undefined,
): Promise<Served> => {
  refuseProvider(service, rest.provider);
  for (const [name, path] of Object.entries(projects)) await refusePath(service, name, path);
  const wish = {
    key: 'projects' as const,
    changes: await sharedPart(service, projects),
    beside: withoutNull(rest),
    paths: withoutNull(projects),
    ifMatch,
  };
  return served(service, await changeSettings(service.store, wish));
};

// Keeps entries that were written by hand, unless they are removed.
const sharedPart = async (
  { git, store }: Needs,
  projects: Record<string, string | null>,
): Promise<Record<string, string | undefined>> => {
  const written = settingsEntry(store)?.value?.projects ?? {};
  const changes: Record<string, string | undefined> = {};
  for (const [name, path] of Object.entries(projects)) {
    if (path === null) changes[name] = undefined;
    else if (!Object.hasOwn(written, name)) {
      const remote = await remoteOf(git, resolve(store.layout.root, path));
      if (remote !== undefined) changes[name] = remote;
    }
  }
  return changes;
};

// Leaves out credentials of the URL: the remote is only compared.
const remoteOf = async (git: Needs['git'], place: string): Promise<string | undefined> => {
  const found = await findRepository(git, place);
  const { remotes } = found ? await remoteSettings(git.at(found)) : { remotes: [] };
  for (const { url } of originFirst(remotes)) {
    const at = parseRemoteUrl(url);
    if ('why' in at) continue;
    const full = `${at.owner}/${at.name}.git`;
    return at.by === 'ssh' ? `git@${at.host}:${full}` : `https://${at.host}/${full}`;
  }
  return undefined;
};

const withoutNull = (change: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? undefined]));

const refuseProvider = ({ providers }: Needs, name: string | null | undefined): void => {
  if (typeof name !== 'string' || providers().get(name) !== undefined) return;
  throw badField('/provider', 'is not a known provider: GET /api/sessions/providers lists them');
};

const refusePath = async (
  { git, store }: Needs,
  name: string,
  path: string | null,
): Promise<void> => {
  if (path === null) return;
  const why = /^~|\0/.test(path)
    ? 'must be an absolute path: only a shell expands ~'
    : await repositoryProblem(git, resolve(store.layout.root, path));
  if (why !== undefined) throw badField(`/projects/${name}`, why);
};

const repositoryProblem = async (git: Needs['git'], place: string): Promise<string | undefined> => {
  const found = await findRepository(git, place).catch((error: Error) => error);
  if (found instanceof Error) return `cannot be read: ${found.message}`;
  return found === undefined
    ? `is not a git repository: run git init in ${place}`
    : whyUnfit(found);
};
