import type { CodeHostSettings } from '../../../store/records/settings.ts';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { CodeHost, HostedRepository } from '../code-host.ts';

/** What the client is made from. */
export interface Surroundings {
  env: Config['env'];
  settings: () => CodeHostSettings;
}

/** GitHub, and GitHub Enterprise. Nothing is loaded and nobody is asked before the first call. */
export const createGitHub = (_given: Surroundings): CodeHost => ({
  kind: 'github',
  availability: notYet,
  authStatus: notYet,
  authRefresh: notYet,
  me: notYet,
  gitLogin: notYet,
  repository: (name): HostedRepository => ({
    name,
    validate: notYet,
    permissions: notYet,
    meta: notYet,
    labels: notYet,
    milestones: notYet,
    assignees: notYet,
    countOpenIssues: notYet,
    issues: notYet,
    issue: notYet,
    issuesByNumber: notYet,
    issueComments: notYet,
    linkedPulls: notYet,
    findPull: notYet,
    pull: notYet,
    pullEvents: notYet,
    reviews: notYet,
    threads: notYet,
    createPull: notYet,
    updatePull: notYet,
    setLabels: notYet,
    markReady: notYet,
    resolveThread: notYet,
    comment: notYet,
  }),
});

const notYet = (): Promise<never> =>
  Promise.reject(new ServiceError('unavailable', 'GitHub cannot be asked by this build.'));
