import { resolve } from 'node:path';
import { readCase } from '../../../store/cases/cases.ts';
import { repositoryIn } from '../../../store/records/applied.ts';
import type { Case } from '../../../store/records/case.ts';
import { projectRemotes, settingsOf } from '../../../store/settings/globals.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import { badField, orNotFound, ServiceError } from '../../errors.ts';
import { needProject, projectNamed } from '../../guard/trust/require.ts';
import { findRepository, type Repository } from '../../tools/git/read/repository.ts';
import type { WithGit } from '../../tools/git/run/git.ts';

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
export { theOnlyProject } from '../../guard/trust/require.ts';

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

/** What it takes to know a project's repository. */
export type ProjectNeeds = WithConfig & WithGit & WithStore;

/**
 * The repository of a project. A path in the settings that is not absolute starts at the workspace. 422 `trust_needed` for
 * one that waits for the operator's word.
 */
export const repositoryFor = async (
  service: ProjectNeeds,
  project: string,
): Promise<Repository> => {
  needProject(service, project);
  const named = projectRepository(service, project);
  if (named === undefined) throw noRepository(service, project);
  const repository = await findProjectRepository(service, project);
  const { root } = service.store.layout;
  if (repository?.root === root)
    throw new ServiceError(
      'no_repository',
      `The repository of the project ${project} is the workspace itself, ${root}. Give the project another one.`,
    );
  if (repository !== undefined) return repository;
  const path = resolve(root, named);
  throw new ServiceError(
    'no_repository',
    `${path} is not a git repository. Run git init there, or give the project ${project} another one.`,
  );
};

/** The same where there may be none. */
export const findProjectRepository = async (
  service: ProjectNeeds,
  project: string,
): Promise<Repository | undefined> => {
  const named = projectRepository(service, project);
  if (named === undefined) return undefined;
  return findRepository(service.git, resolve(service.store.layout.root, named));
};

/** The Work item as it is on disk this moment. 404 when there is none. */
export const getItem = async (store: Store, caseId: string): Promise<Case> => {
  return orNotFound(await readCase(store, caseId), 'Work item', caseId);
};
