import { sha256 } from '../../../base/sha256.ts';
import type { StoredPull } from '../../../store/pulls/pulls.ts';
import { notePublished, type StoredUpdate } from '../../../store/pulls/updates.ts';
import type { BodyUpdate } from '../../../store/records/body-update.ts';
import type { WithStore } from '../../../store/store.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import type { HostedRepository, Pull, WithCodeHost } from '../../codehost/code-host.ts';
import { orNotFound, ServiceError } from '../../errors.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import { getPull, hostedFor, inPullTurn } from '../pull-requests/current.ts';
import { recordPull, writePull } from '../pull-requests/record.ts';
import { bodyDiff, getUpdate, isSameText, servedUpdate } from './updates.ts';

/**
 * Publishes a queued update, the text that is in its file now, and once: of two approvals the second is 422. `seen` binds
 * it to what the operator read (409 `update_changed`); a body that has changed on the host since is 409
 * `codehost_conflict`, with what changed, and is not touched.
 */
export const approveUpdate = (
  service: WithCodeHost & WithGit & WithStore,
  caseId: string,
  id: string,
  seen?: string,
): Promise<BodyUpdate> => {
  checkCase(service.store, caseId);
  getUpdate(service.store, caseId, id);
  return inPullTurn(service.store, caseId, async () => {
    const update = getUpdate(service.store, caseId, id);
    const pull = getPull(service.store, caseId);
    refuseUnfit(update, pull, seen);
    const hosted = hostedFor(service.codeHost, pull);
    const published = await publish(service, hosted, update);
    const besides = { published_sha256: sha256(published.body) };
    await recordPull(service.store, caseId, { name: hosted.name, pull: published, besides });
    const done = orNotFound(await notePublished(service.store, update), 'update', id);
    return servedUpdate(service, done);
  });
};

const refuseUnfit = ({ matter, body }: StoredUpdate, pull: StoredPull, seen?: string): void => {
  if (matter.status === 'published')
    throw invalid(`The update was published at ${matter.published_at}. Suggest another.`);
  if (matter.pull !== pull.matter.number)
    throw invalid(
      `The update is of #${matter.pull}, and the pull request is #${pull.matter.number} now. Suggest it anew.`,
    );
  if (body.trim() === '')
    throw invalid('The update is empty. Write into its file what is to be published.');
  const now = sha256(body);
  if (seen === undefined || seen === now) return;
  throw new ServiceError(
    'update_changed',
    'The update was edited since you read it. Read it again, then approve what it says now.',
    { members: { body_sha256: now } },
  );
};

const invalid = (message: string): ServiceError => new ServiceError('invalid_state', message);

// What is on the host already was published by a call whose end nobody saw.
const publish = async (
  service: GitNeeds,
  hosted: HostedRepository,
  update: StoredUpdate,
): Promise<Pull> => {
  const { body, matter } = update;
  const now = await hosted.pull(matter.pull);
  if (isSameText(now.body, body)) return now;
  if (sha256(now.body) !== matter.base_sha256) throw await changedThere(service, update, now.body);
  return writePull(
    { hosted, number: matter.pull },
    () => hosted.updatePull(matter.pull, { body }),
    (there) => isSameText(there.body, body),
  );
};

const changedThere = async (
  service: GitNeeds,
  { base = '', matter }: StoredUpdate,
  there: string,
): Promise<ServiceError> =>
  new ServiceError(
    'codehost_conflict',
    `The body of #${matter.pull} was changed on the host since this was suggested, and is left as it is. Look at the diff, take over what is to stay, and suggest an update anew.`,
    {
      members: {
        diff: await bodyDiff(service, { suggested_for: base, on_the_host: there }),
        base_sha256: matter.base_sha256,
        host_sha256: sha256(there),
      },
    },
  );
