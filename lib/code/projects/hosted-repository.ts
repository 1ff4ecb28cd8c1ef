import type { Detection } from '../../../store/records/code-host.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type { HostedRepository, WithCodeHost } from '../../codehost/code-host.ts';
import { GITHUB } from '../../codehost/github/address.ts';
import { hasErrorCode } from '../../codehost/github/problem.ts';
import { ServiceError } from '../../errors.ts';
import { requireTrustedCodeHost } from '../../guard/trust/require.ts';
import { detect } from './detect.ts';
import type { ProjectNeeds } from './project.ts';

/** The services of operations that call the code host for a project's repository. */
export type HostedNeeds = ProjectNeeds & WithCodeHost;

/**
 * The API of the repository that a project's pull requests go to. Makes no request itself. Throws 422
 * `codehost_repo_not_detected` if none is detected, and `no_repository` if the project has no git repository.
 */
export const hostedRepositoryOf = async (
  service: HostedNeeds,
  project = 'default',
): Promise<HostedRepository> => {
  const { base } = await detected(service, project);
  return service.codeHost().repository(base);
};

/** Like `detect`, but throws 422 `codehost_repo_not_detected` if none is detected. */
export const detected = (
  service: ProjectNeeds,
  project: string,
  branch?: string,
): Promise<Detection> =>
  detect(service, project, branch).catch((error: unknown) => {
    throw notDetected(error);
  });

// `detect` reports 404; for other operations the missing repository is an invalid state.
const notDetected = (error: unknown): unknown =>
  hasErrorCode(error, 'codehost_no_remote')
    ? new ServiceError('codehost_repo_not_detected', error.message, { members: error.members })
    : error;

/** The host for calls that need no repository: of the settings, else of the project's repository, else github.com. */
export const hostOf = async (service: ProjectNeeds, project = 'default'): Promise<string> => {
  requireTrustedCodeHost(service.store);
  const { host } = settingsOf(service.store).codehost ?? {};
  if (host !== undefined) return host.toLowerCase();
  try {
    return (await detect(service, project)).host;
  } catch (error) {
    if (hasErrorCode(error, 'codehost_no_remote', 'no_repository')) return GITHUB;
    throw error;
  }
};

/** The number of open issues of a project's repository. */
export const countIssues = async (
  service: HostedNeeds,
  project?: string,
): Promise<{ repository: string; open: number }> => {
  const hosted = await hostedRepositoryOf(service, project);
  const { owner, name } = hosted.name;
  return { repository: `${owner}/${name}`, open: await hosted.countOpenIssues() };
};

/** Whether a project has a repository on a code host, without network access; undefined if that cannot be told. */
export const isHosted = async (
  service: ProjectNeeds,
  project: string,
): Promise<boolean | undefined> => {
  try {
    await detect(service, project);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return hasErrorCode(error, 'codehost_no_remote') ? false : undefined;
  }
};
