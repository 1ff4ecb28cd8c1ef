import { lockOn } from '../../../base/locks.ts';
import { sha256 } from '../../../base/sha256.ts';
import { readPullDraft, type StoredPullDraft, savePullDraft } from '../../../store/pulls/drafts.ts';
import type { PullDraft } from '../../../store/records/pull-request.ts';
import type { Store } from '../../../store/store.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import { notFound, ServiceError } from '../../errors.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { composeDraft, draftFrom } from '../pull-requests/compose.ts';
import { MAX_BODY } from '../pull-requests/compose-body.ts';
import { draftOf, partsOf } from '../pull-requests/own-words.ts';

interface ServedDraft {
  draft: PullDraft;
  etag: string;
}

interface Wanted {
  title?: string;
  labels?: string[];
  overwrite?: boolean;
}

/**
 * Composes the draft of the body anew and keeps it. What the operator wrote below its line stays, title and labels too;
 * 409 `draft_edited` where the composed part was edited by hand, unless that may be overwritten.
 */
export const composePullBody = (
  store: Store,
  caseId: string,
  { title, labels, overwrite = false }: Wanted,
): Promise<ServedDraft> => {
  checkTexts({ title });
  return store.turns.take(lockOn.draft(caseId), async () => {
    checkCase(store, caseId);
    const before = readPullDraft(store, caseId);
    if (before !== undefined && isEdited(before) && !overwrite) throw edited();
    const own = before === undefined ? '' : partsOf(before.body).own;
    const made = await composeDraft(store, caseId, MAX_BODY - own.length - 2);
    const { composed } = partsOf(made.body);
    refuseLong(composed, own);
    const matter = {
      title: title ?? before?.matter.title ?? made.title,
      labels: labels ?? before?.matter.labels ?? made.labels,
      composed_at: store.clock().toISOString(),
      composed_sha256: sha256(composed),
    };
    const body = draftOf({ composed, own });
    const kept = await savePullDraft(store, caseId, { matter, body }, before?.etag ?? null);
    if (kept === undefined) throw notFound('Work item', caseId);
    return served(kept);
  });
};

/** The draft as it is kept. 404, with what to do, where nothing was composed yet. */
export const keptDraft = (store: Store, caseId: string): ServedDraft => {
  checkCase(store, caseId);
  const kept = readPullDraft(store, caseId);
  if (kept !== undefined) return served(kept);
  throw new ServiceError(
    'not_found',
    `Nothing was composed yet for the Work item ${caseId}. Send POST /api/cases/${caseId}/pr-body/compose.`,
  );
};

const served = (kept: StoredPullDraft): ServedDraft => ({
  draft: draftFrom(kept),
  etag: kept.etag,
});

const isEdited = ({ matter, body }: StoredPullDraft): boolean =>
  sha256(partsOf(body).composed) !== matter.composed_sha256;

const edited = (): ServiceError =>
  new ServiceError(
    'draft_edited',
    'pr/draft.md was edited by hand above its line, and composing it anew would take that away. Move what you wrote below the line, or send {"overwrite": true}: the file as it is stays in .dossier/undo for a while.',
  );

const refuseLong = (composed: string, own: string): void => {
  const length = composed.length + own.length;
  if (length + 2 <= MAX_BODY) return;
  throw new ServiceError(
    'invalid_state',
    `The body would have ${length} characters, and the host takes ${MAX_BODY}. Shorten what you wrote below the line in pr/draft.md, which has ${own.length}.`,
  );
};
