import { resolve } from 'node:path';
import type {
  WorkspaceSettings,
  WorkspaceSettingsChange,
} from '../../../store/records/workspace-settings.ts';
import { waitingSettings } from '../../../store/settings/globals.ts';
import {
  changeSettings,
  currentSettings,
  type StoredSettings,
} from '../../../store/settings/settings.ts';
import { ServiceError } from '../../errors.ts';
import type { Service } from '../../service.ts';
import { findRepository } from '../../tools/git/read/repository.ts';
import { maxSessionsOf } from '../../work/sessions/live/places.ts';

type Needs = Pick<Service, 'config' | 'git' | 'providers' | 'store'>;

interface Served {
  settings: WorkspaceSettings;
  etag: string;
}

/** Which repositories are worked on and who works, as workspace.md says it this moment. */
export const readWorkspaceSettings = async (service: Needs): Promise<Served> =>
  served(service, await currentSettings(service.store));

const served = async (service: Needs, { settings, etag }: StoredSettings): Promise<Served> => {
  const { store, config } = service;
  const { repo } = config;
  const named = Object.entries(settings.projects ?? {}).filter(
    ([name]) => name !== 'default' || repo === undefined,
  );
  const projects = await Promise.all([
    ...(repo === undefined ? [] : [projectOf(service, ['default', repo], 'flag')]),
    ...named.map((one) => projectOf(service, one, 'settings')),
  ]);
  return {
    settings: {
      file: store.layout.settings,
      provider: settings.provider ?? 'runbook',
      max_sessions: maxSessionsOf(store),
      projects,
      waiting: waitingSettings(store).map(({ key }) => key),
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

/** Writes into workspace.md what is given, and leaves the rest of the file as it is; null takes a setting out. */
export const changeWorkspaceSettings = async (
  service: Needs,
  { projects = {}, ...rest }: WorkspaceSettingsChange,
  ifMatch: string | undefined,
): Promise<Served> => {
  refuseProvider(service, rest.provider);
  for (const [name, path] of Object.entries(projects)) await refusePath(service, name, path);
  const wish = { key: 'projects', changes: taken(projects), beside: taken(rest), ifMatch } as const;
  return served(service, await changeSettings(service.store, wish));
};

const taken = (change: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? undefined]));

const refuseProvider = ({ providers }: Needs, name: string | null | undefined): void => {
  if (typeof name !== 'string' || providers().get(name) !== undefined) return;
  throw refusal(
    '/provider',
    'is no provider that there is: GET /api/sessions/providers lists them',
  );
};

const refusePath = async (
  { git, store }: Needs,
  name: string,
  path: string | null,
): Promise<void> => {
  if (path === null) return;
  const why = /^~|\0/.test(path)
    ? 'has to be written out: ~ is a word of the shell'
    : await whyNoRepository(git, resolve(store.layout.root, path));
  if (why !== undefined) throw refusal(`/projects/${name}`, why);
};

const whyNoRepository = async (git: Needs['git'], place: string): Promise<string | undefined> => {
  const found = await findRepository(git, place).catch((error: Error) => error);
  if (found instanceof Error) return `cannot be looked at: ${found.message}`;
  return found === undefined ? `is no git repository: run git init in ${place}` : undefined;
};

const refusal = (path: string, message: string): ServiceError =>
  new ServiceError('bad_request', `${path} ${message}.`, { errors: [{ path, message }] });
