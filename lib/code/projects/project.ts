import { resolve } from 'node:path';
import { readCase } from '../../../store/cases/cases.ts';
import { repositoryIn } from '../../../store/records/applied.ts';
import type { Case } from '../../../store/records/case.ts';
import { projectRemotes, settingsOf } from '../../../store/settings/globals.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { isThere } from '../../../store/workspace/inspect.ts';
import type { WithConfig } from '../../config.ts';
import { badField, orNotFound, ServiceError } from '../../errors.ts';
import { projectNamed, requireTrustedProject } from '../../guard/trust/require.ts';
import { findRepository, type Repository, whyUnfit } from '../../tools/git/read/repository.ts';
import type { WithGit } from '../../tools/git/run/git.ts';

/** The configured repository path of a project: `--repo` for the default one, else `projects` of the settings. */
export const projectRepository = (
  service: WithConfig & WithStore,
  project: string,
): string | undefined => {
  const { store, config } = service;
  if (project === 'default' && config.repo !== undefined) return config.repo;
  return repositoryIn(settingsOf(store), projectNamed(service, project));
};

/** The default project of a new Work item. */
export { onlyProjectName } from '../../guard/trust/require.ts';

/** The error for a project without a repository. */
export const noRepository = (service: WithConfig & WithStore, project: string): ServiceError =>
  new ServiceError('no_repository', whyNoRepository(service, projectNamed(service, project)));

const whyNoRepository = ({ store }: WithStore, project: string): string => {
  const remotes = projectRemotes(store);
  const names = Object.keys({ ...settingsOf(store).projects, ...remotes });
  if (Object.hasOwn(remotes, project))
    return `The project ${project} has no repository on this machine. Clone ${remotes[project]} and run \`dossier\` in it.`;
  if (project === 'default' && names.length > 1)
    return `The Work item has no project, and there are several. Set one: ${names.join(', ')}.`;
  return `The project ${project} has no repository. Run \`dossier\` in it, or set its path in workspace.md under projects.`;
};

export const checkProject = (
  service: WithConfig & WithStore,
  project: string | undefined,
): void => {
  if (project !== undefined && project !== 'default') requireTrustedProject(service, project);
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
    `There is no project ${project}. Add it in workspace.md under projects first.`,
  );
};

/** The services that operations on a project's repository take. */
export type ProjectNeeds = WithConfig & WithGit & WithStore;

/** The repository of a project. A relative path in the settings starts at the workspace. 422 `trust_needed` if untrusted. */
export const repositoryFor = async (
  service: ProjectNeeds,
  project: string,
): Promise<Repository> => {
  requireTrustedProject(service, project);
  const named = projectRepository(service, project);
  if (named === undefined) throw noRepository(service, project);
  const { root } = service.store.layout;
  const path = resolve(root, named);
  const repository = await findRepository(service.git, path);
  if (repository?.root === root)
    throw new ServiceError(
      'no_repository',
      `The repository of the project ${project} is the workspace itself: ${root}. Set another one in workspace.md under projects.`,
    );
  const unfit = repository && whyUnfit(repository);
  if (unfit !== undefined)
    throw new ServiceError(
      'no_repository',
      `${JSON.stringify(path)}, the repository of the project ${project}, ${unfit}.`,
    );
  if (repository !== undefined) return repository;
  throw new ServiceError(
    'no_repository',
    isThere(path)
      ? `${path} is not a git repository. Run git init there, or set another one for the project ${project}.`
      : `${path}, the repository of the project ${project}, does not exist. If it moved, set its new path in .dossier/local.md under projects.`,
  );
};

/** Like `repositoryFor`, but undefined if there is none; does not check trust. */
export const findProjectRepository = async (
  service: ProjectNeeds,
  project: string,
): Promise<Repository | undefined> => {
  const named = projectRepository(service, project);
  if (named === undefined) return undefined;
  return findRepository(service.git, resolve(service.store.layout.root, named));
};

/** Reads a Work item from disk. 404 if there is none. */
export const getItem = async (store: Store, caseId: string): Promise<Case> => {
  return orNotFound(await readCase(store, caseId), 'Work item', caseId);
};
