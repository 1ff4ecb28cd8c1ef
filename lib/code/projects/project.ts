import { repositoryIn } from '../../../store/records/applied.ts';
import { projectRemotes, settingsOf } from '../../../store/settings/globals.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import { badField, ServiceError } from '../../errors.ts';
import { needProject, projectNamed } from '../../guard/trust/need.ts';

/** The repository of a project: the settings' `projects`, where `--repo` names the default. Undefined when it has none. */
export const projectRepository = (
  service: WithConfig & WithStore,
  project: string,
): string | undefined => {
  const { store, config } = service;
  if (project === 'default' && config.repo !== undefined) return config.repo;
  return repositoryIn(settingsOf(store), projectNamed(service, project));
};

/** The project of a new Work item that names none. */
export { theOnlyProject } from '../../guard/trust/need.ts';

/** Why a project has none, and what to do. */
export const noRepository = (service: WithConfig & WithStore, project: string): ServiceError =>
  new ServiceError('no_repository', whyNoRepository(service, projectNamed(service, project)));

const whyNoRepository = ({ store }: WithStore, project: string): string => {
  const remotes = projectRemotes(store);
  const names = Object.keys({ ...settingsOf(store).projects, ...remotes });
  if (Object.hasOwn(remotes, project))
    return `The project ${project} has no repository on this machine. Clone ${remotes[project]}, and run dossier in it.`;
  if (project === 'default' && names.length > 1)
    return `The Work item names no project, and there are several. Give it one: ${names.join(', ')}.`;
  return `The project ${project} has no repository. Run dossier in it, or name its path in workspace.md under projects.`;
};

export const checkProject = (
  service: WithConfig & WithStore,
  project: string | undefined,
): void => {
  if (project !== undefined && project !== 'default') needProject(service, project);
  if (
    project === undefined ||
    project === 'default' ||
    projectRepository(service, project) !== undefined ||
    Object.hasOwn(projectRemotes(service.store), project)
  )
    return;
  throw badField(
    '/project',
    'is not in the settings',
    `There is no project ${project}. Name it under projects in workspace.md first.`,
  );
};
