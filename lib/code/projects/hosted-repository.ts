import type { Detection } from '../../../store/records/code-host.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type {
  CodeHost,
  HostedRepository,
  RepositoryName,
  WithCodeHost,
} from '../../codehost/code-host.ts';
import { GITHUB } from '../../codehost/github/address.ts';
import { hasErrorCode } from '../../codehost/github/problem.ts';
import { ServiceError } from '../../errors.ts';
import { needCodeHost } from '../../guard/trust/require.ts';
import { detect } from './detect.ts';
import type { ProjectNeeds } from './project.ts';

/** For what asks the code host about a project's repository. */
export type HostedNeeds = ProjectNeeds & WithCodeHost;

/**
 * What can be asked of the repository on the code host that a project's pull requests go to. Asks nobody itself. Throws
 * 422 `codehost_repo_not_detected` where there is none, and `no_repository` where the project has no git repository.
 */
export const hostedRepositoryOf = async (
  service: HostedNeeds,
  project = 'default',
): Promise<HostedRepository> => {
  const { base } = await detected(service, project);
  return hostedRepositoryNamed(service.codeHost, base);
};

/** Which repositories a project has there, for who needs one: 422 `codehost_repo_not_detected` without. */
export const detected = (
  service: ProjectNeeds,
  project: string,
  branch?: string,
): Promise<Detection> =>
  detect(service, project, branch).catch((error: unknown) => {
    throw notDetected(error);
  });

/** The same for one that is known by name. */
export const hostedRepositoryNamed = (
  codeHost: () => CodeHost,
  name: RepositoryName,
): HostedRepository => codeHost().repository(name);

// Who asked to detect gets 404; for everybody else it is the state that is wrong.
const notDetected = (error: unknown): unknown =>
  hasErrorCode(error, 'codehost_no_remote')
    ? new ServiceError('codehost_repo_not_detected', error.message, { members: error.members })
    : error;

/** The host that is meant where no repository has to be: of the settings, else of the project's, else GitHub's own. */
export const hostOf = async (service: ProjectNeeds, project = 'default'): Promise<string> => {
  needCodeHost(service.store);
  const { host } = settingsOf(service.store).codehost ?? {};
  if (host !== undefined) return host.toLowerCase();
  try {
    return (await detect(service, project)).host;
  } catch (error) {
    if (hasErrorCode(error, 'codehost_no_remote', 'no_repository')) return GITHUB;
    throw error;
  }
};

/** How many issues are open, and where. */
export const countIssues = async (
  service: HostedNeeds,
  project?: string,
): Promise<{ repository: string; open: number }> => {
  const hosted = await hostedRepositoryOf(service, project);
  const { owner, name } = hosted.name;
  return { repository: `${owner}/${name}`, open: await hosted.countOpenIssues() };
};
