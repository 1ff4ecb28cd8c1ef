import { newId } from '../../../store/base/new-id.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type { StoredPull } from '../../../store/codehost/pulls.ts';
import {
  createUpdate,
  listUpdates,
  markPublished,
  type StoredUpdate,
} from '../../../store/codehost/updates.ts';
import { withScratchFiles } from '../../../store/fs/directories.ts';
import type { BodyUpdate } from '../../../store/records/body-update.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import type { HostedRepository, Pull, PullRule, WithCodeHost } from '../../codehost/code-host.ts';
import { afterDone, invalidState, notFound, orNotFound, ServiceError } from '../../errors.ts';
import { textDiff } from '../../tools/git/read/text-diff.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { publishable, pullDraft } from './compose.ts';
import { hostedToWrite } from './own-pull.ts';
import { getPull, hostedFor, recordPull, underPullLock, writePull } from './record.ts';

/**
 * Publishes the current text of a queued update, once: a second approval throws 422. `seen` binds it to the text that
 * the operator read (409 `update_changed`). A body that has changed on the host throws 409 `codehost_conflict` with the
 * diff, and is not changed.
 */
export const approveUpdate = (
  service: HostedNeeds,
  caseId: string,
  id: string,
  seen?: string,
): Promise<BodyUpdate> => {
  checkCase(service.store, caseId);
  getUpdate(service.store, caseId, id);
  return underPullLock(service.store, caseId, async () => {
    const update = getUpdate(service.store, caseId, id);
    const pull = getPull(service.store, caseId);
    refuseUnfit(update, pull, seen);
    const hosted = await hostedToWrite(service, pull);
    const published = await publish(service, hosted, update);
    const besides = { published_sha256: sha256(published.body) };
    return afterDone(`the body of #${published.number} was published`, async () => {
      await recordPull(service.store, caseId, { name: hosted.name, pull: published, besides });
      const done = orNotFound(await markPublished(service.store, update), 'update', id);
      return servedUpdate(service, done);
    });
  });
};

const refuseUnfit = ({ matter, body }: StoredUpdate, pull: StoredPull, seen?: string): void => {
  if (matter.status === 'published')
    throw invalidState(
      `The update was already published at ${matter.published_at}. Suggest another one.`,
    );
  if (matter.pull !== pull.matter.number)
    throw invalidState(
      `The update is for #${matter.pull}, but the pull request is now #${pull.matter.number}. Suggest it again.`,
    );
  if (body.trim() === '')
    throw invalidState('The update is empty. Write the new body into its file.');
  const now = sha256(body);
  if (seen === undefined || seen === now) return;
  throw new ServiceError(
    'update_changed',
    'The update was edited since you read it. Read it again, then approve it.',
    { members: { body_sha256: now } },
  );
};

// Equal text on the host was published by an earlier call that was cut off.
const publish = (service: GitNeeds, hosted: HostedRepository, update: StoredUpdate) => {
  const { body, matter } = update;
  const isDone = (now: Pull): boolean => isSameText(now.body, body);
  const rule: PullRule = async (now) => {
    if (isDone(now)) return undefined;
    if (sha256(now.body) === matter.base_sha256) return { body };
    throw await changedThere(service, update, now.body);
  };
  const { pull: number } = matter;
  return writePull({ hosted, number }, () => hosted.updatePull(number, rule), isDone);
};

const changedThere = async (
  service: GitNeeds,
  { base = '', matter }: StoredUpdate,
  there: string,
): Promise<ServiceError> =>
  new ServiceError(
    'codehost_conflict',
    `The body of #${matter.pull} was changed on the host since this update was suggested. Nothing was published. Check the diff, then suggest an update from the current body.`,
    {
      members: {
        diff: await bodyDiff(service, { suggested_for: base, on_the_host: there }),
        base_sha256: matter.base_sha256,
        host_sha256: sha256(there),
      },
    },
  );

/**
 * Queues a new body for the operator to approve: the draft, or the given body. It is bound to the current body on the
 * host. Throws 422 where that is equal.
 */
export const suggestUpdate = (
  service: WithCodeHost & WithGit & WithStore,
  caseId: string,
  { body: given }: { body?: string },
): Promise<BodyUpdate> => {
  checkTexts({ body: given });
  const id = newId();
  return underPullLock(service.store, caseId, async () => {
    const known = listUpdates(service.store, caseId)?.find(({ matter }) => matter.id === id);
    if (known !== undefined) return servedUpdate(service, known);
    const pull = getPull(service.store, caseId);
    const { number } = pull.matter;
    const body = given ?? publishable((await pullDraft(service.store, caseId)).body);
    const { body: base } = await hostedFor(service.codeHost, pull).pull(number);
    if (isSameText(base, body)) throw nothingNew(number);
    const matter = {
      id,
      pull: number,
      status: 'queued' as const,
      base_sha256: sha256(base),
      created_at: service.store.clock().toISOString(),
    };
    const kept = await createUpdate(service.store, caseId, { matter, body, base });
    if (kept === undefined) throw notFound('Work item', caseId);
    return servedUpdate(service, kept);
  });
};

/** The host may use other line endings, and trim the end. */
const isSameText = (a: string, b: string): boolean => plain(a) === plain(b);

const plain = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd();

const nothingNew = (number: number): ServiceError =>
  invalidState(
    `The body of #${number} is already the same. Compose the draft again, or send another body.`,
  );

/** The updates of the Work item's pull requests, oldest first. */
export const servedUpdates = async (service: GitNeeds, caseId: string): Promise<BodyUpdate[]> => {
  checkCase(service.store, caseId);
  const served: BodyUpdate[] = [];
  for (const kept of listUpdates(service.store, caseId) ?? [])
    served.push(await servedUpdate(service, kept));
  return served;
};

/** One update as it is on disk. Throws 404. */
export const getUpdate = (store: Store, caseId: string, id: string): StoredUpdate =>
  orNotFound(
    listUpdates(store, caseId)?.find(({ matter }) => matter.id === id),
    'update',
    id,
  );

export const servedUpdate = async (service: GitNeeds, kept: StoredUpdate): Promise<BodyUpdate> => {
  const { case_id, matter, body, base = '' } = kept;
  const { id, pull, status, base_sha256, created_at, published_at = null } = matter;
  return {
    id,
    case_id,
    pull,
    status,
    base_sha256,
    created_at,
    published_at,
    body,
    body_sha256: sha256(body),
    diff: await bodyDiff(service, { published: base, proposed: body }),
  };
};

/** The unified diff of two bodies, with their names as file names. */
const bodyDiff = ({ store, git }: GitNeeds, bodies: Record<string, string>): Promise<string> => {
  const [before = '', after = ''] = Object.keys(bodies);
  const texts = Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [name, body === '' ? '' : `${body.trimEnd()}\n`]),
  );
  return withScratchFiles(store.layout, texts, (dir) => textDiff(git.at(dir), [before, after]));
};
