import { resolve } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { needProject } from '../../guard/trust/need.ts';
import { findRepository, type Repository } from '../../tools/git/read/repository.ts';
import type { ProjectNeeds } from './needs.ts';
import { noRepository, projectRepository } from './project.ts';

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
