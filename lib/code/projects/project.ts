import { repositoryIn } from '../../../store/records/applied.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import { badField } from '../../errors.ts';
import { needProject } from '../../guard/trust/need.ts';

/** The repository of a project: the settings' `projects`, where `--repo` names the default. Undefined when it has none. */
export const projectRepository = (
  { store, config }: WithConfig & WithStore,
  project: string,
): string | undefined => {
  if (project === 'default' && config.repo !== undefined) return config.repo;
  return repositoryIn(settingsOf(store), project);
};

/** Of a Work item that names none while there is no `default`: the only one there is. With several nobody is pointed at one. */
export const projectOfNew = (service: WithConfig & WithStore): string | undefined => {
  const [only, ...others] = Object.keys(settingsOf(service.store).projects ?? {});
  const isChoice = others.length > 0 || service.config.repo !== undefined;
  return isChoice || only === 'default' ? undefined : only;
};

export const checkProject = (
  service: WithConfig & WithStore,
  project: string | undefined,
): void => {
  if (project !== undefined && project !== 'default') needProject(service, project);
  if (
    project === undefined ||
    project === 'default' ||
    projectRepository(service, project) !== undefined
  )
    return;
  throw badField(
    '/project',
    'is not in the settings',
    `There is no project ${project}. Name it under projects in workspace.md first.`,
  );
};
