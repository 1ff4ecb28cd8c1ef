import { sha256 } from '../../../base/sha256.ts';
import { withTexts } from '../../../store/disk/scratch.ts';
import { newId } from '../../../store/new-id.ts';
import { createUpdate, listUpdates, type StoredUpdate } from '../../../store/pulls/updates.ts';
import type { BodyUpdate } from '../../../store/records/body-update.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import { notFound, orNotFound, ServiceError } from '../../errors.ts';
import { textDiff } from '../../tools/git/read/text-diff.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { pullDraft } from '../pull-requests/compose.ts';
import { getPull, hostedFor, inPullTurn } from '../pull-requests/current.ts';
import { publishable } from '../pull-requests/own-words.ts';

/**
 * Queues a change of the published body, for the operator to approve: the draft, or the body that is given. It is bound to
 * the body that the host has now. 422 where that is the same already.
 */
export const suggestUpdate = (
  service: WithCodeHost & WithGit & WithStore,
  caseId: string,
  { body: given }: { body?: string },
): Promise<BodyUpdate> => {
  checkTexts({ body: given });
  const id = newId();
  return inPullTurn(service.store, caseId, async () => {
    const known = listUpdates(service.store, caseId)?.find(({ matter }) => matter.id === id);
    if (known !== undefined) return servedUpdate(service, known);
    const pull = getPull(service.store, caseId);
    const { number } = pull.matter;
    const body = given ?? publishable((await pullDraft(service.store, caseId)).body);
    const { body: base } = await hostedFor(service.codeHost, pull).pull(number);
    if (isSameText(base, body)) throw nothingNew(number);
    const matter = {
      ...{ id, pull: number, status: 'queued' as const, base_sha256: sha256(base) },
      created_at: service.store.clock().toISOString(),
    };
    const kept = await createUpdate(service.store, caseId, { matter, body, base });
    if (kept === undefined) throw notFound('Work item', caseId);
    return servedUpdate(service, kept);
  });
};

/** The host may have other line ends, and none at the end. */
export const isSameText = (a: string, b: string): boolean => plain(a) === plain(b);

const plain = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd();

const nothingNew = (number: number): ServiceError =>
  new ServiceError(
    'invalid_state',
    `The body of #${number} says the same already: there is nothing to update. Compose the draft anew, or send another body.`,
  );

/** All updates of the Work item's pull requests, oldest first. */
export const servedUpdates = async (service: GitNeeds, caseId: string): Promise<BodyUpdate[]> => {
  checkCase(service.store, caseId);
  const served: BodyUpdate[] = [];
  for (const kept of listUpdates(service.store, caseId) ?? [])
    served.push(await servedUpdate(service, kept));
  return served;
};

/** One of them as it is on disk. 404 without it. */
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
    ...{ id, case_id, pull, status, base_sha256, created_at, published_at },
    body,
    body_sha256: sha256(body),
    diff: await bodyDiff(service, { published: base, proposed: body }),
  };
};

/** The unified diff of two bodies, each by its name. */
export const bodyDiff = (
  { store, git }: GitNeeds,
  bodies: Record<string, string>,
): Promise<string> => {
  const [before = '', after = ''] = Object.keys(bodies);
  const texts = Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [name, body === '' ? '' : `${body.trimEnd()}\n`]),
  );
  return withTexts(store.layout, texts, (dir) => textDiff(git.at(dir), [before, after]));
};
