import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { HostedRepository, RepositoryName } from './code-host.ts';
import { type Detection, detect } from './detect.ts';

/**
 * What can be asked of the repository on the code host that a project's pull requests go to. Asks nobody itself. Throws
 * 422 `codehost_repo_not_detected` where there is none, and `no_repository` where the project has no git repository.
 */
export const hostedRepositoryOf = async (
  service: Service,
  project = 'default',
): Promise<HostedRepository> => {
  const { base } = await detected(service, project);
  return hostedRepositoryNamed(service, base);
};

/** Which repositories a project has there, for who needs one: 422 `codehost_repo_not_detected` without. */
export const detected = (service: Service, project: string): Promise<Detection> =>
  detect(service, project).catch((error: unknown) => {
    throw notDetected(error);
  });

/** The same for one that is known by name. */
export const hostedRepositoryNamed = (service: Service, name: RepositoryName): HostedRepository =>
  service.codeHost().repository(name);

// Who asked to detect gets 404; for everybody else it is the state that is wrong.
const notDetected = (error: unknown): unknown =>
  error instanceof ServiceError && error.code === 'codehost_no_remote'
    ? new ServiceError('codehost_repo_not_detected', error.message, { members: error.members })
    : error;
