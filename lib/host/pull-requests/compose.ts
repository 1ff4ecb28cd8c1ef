import { lockOn } from '../../../store/base/locks.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { readProofs } from '../../../store/cases/proofs.ts';
import { readLink } from '../../../store/codehost/links.ts';
import {
  readPullDraft,
  type StoredPullDraft,
  savePullDraft,
} from '../../../store/codehost/pulls.ts';
import type { Proof } from '../../../store/records/proof.ts';
import type { PullDraft } from '../../../store/records/pull-request.ts';
import { sessionSummary } from '../../../store/sessions/edited-summary.ts';
import { allSessionsOf, sessionDirOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { readWorktree } from '../../../store/worktrees/worktrees.ts';
import { getItem } from '../../code/projects/project.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import { invalidState, notFound, ServiceError } from '../../errors.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { getItemWithProofs } from '../../work/proof/attach.ts';
import { listChecklist } from '../../work/proof/checklist.ts';
import { composeBody, MAX_BODY, publicWords } from './compose-body.ts';

/** The draft: the stored one with its hand edits, else one that is composed now. */
export const pullDraft = async (store: Store, caseId: string): Promise<PullDraft> => {
  await getItem(store, caseId);
  const kept = readPullDraft(store, caseId);
  if (kept === undefined) return composeDraft(store, caseId);
  return draftFrom(kept);
};

/** A stored draft as the API returns it. Text below the operator's line does not count as an edit. */
const draftFrom = ({ matter, body }: StoredPullDraft): PullDraft => {
  const { title, labels = [], composed_at = null, composed_sha256 = null } = matter;
  const edited = composed_sha256 !== null && composed_sha256 !== sha256(partsOf(body).composed);
  return { title, body, labels, composed_at, edited };
};

/**
 * Composes title, body and labels from the Work item, its sessions and its proof, without writing. `room` limits the
 * body in characters.
 */
const composeDraft = async (store: Store, caseId: string, room?: number): Promise<PullDraft> => {
  const { title, description } = await getItem(store, caseId);
  const sessions = (allSessionsOf(store, caseId) ?? [])
    .filter(({ session: { status, mode } }) => status === 'completed' && mode === 'work')
    .map((kept) => {
      const summary = sessionSummary(store, sessionDirOf(store, kept));
      return { session: kept.session, words: publicWords(summary) };
    });
  const issue = readLink(store, caseId)?.issue;
  const proofs = await verifiedProofs(store, caseId);
  const checklist = await listChecklist(store, caseId);
  const body = composeBody({ title, description, sessions, issue, proofs, checklist }, room);
  return { title, body, labels: issue?.labels ?? [], composed_at: null, edited: false };
};

/**
 * The verified proofs for reviewers, oldest first. A proof made before the work was committed shows no commit, because
 * its commit is the base.
 */
export const verifiedProofs = async (store: Store, caseId: string): Promise<Proof[]> => {
  const proofs = readProofs(store, await getItemWithProofs(store, caseId));
  const base = readWorktree(store, caseId)?.base_commit;
  return proofs
    .filter(({ verified }) => verified)
    .map((proof) => (proof.commit === base ? { ...proof, commit: null } : proof));
};

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
 * Composes the draft again and stores it. Title, labels and the text below the operator's line stay. Throws 409
 * `draft_edited` where the composed part was edited, unless `overwrite` is set.
 */
export const composePullBody = (
  store: Store,
  caseId: string,
  { title, labels, overwrite = false }: Wanted,
): Promise<ServedDraft> => {
  checkTexts({ title });
  return store.locks.take(lockOn.draft(caseId), async () => {
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

/** The stored draft. Throws 404 where nothing was composed yet. */
export const keptDraft = (store: Store, caseId: string): ServedDraft => {
  checkCase(store, caseId);
  const kept = readPullDraft(store, caseId);
  if (kept !== undefined) return served(kept);
  throw new ServiceError(
    'not_found',
    `The Work item ${caseId} has no draft yet. Compose one with POST /api/cases/${caseId}/pr-body/compose.`,
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
    'pr/draft.md was edited by hand above its line, and composing it again would overwrite that. Move your text below the line, or send {"overwrite": true}; the current file is then kept in .dossier/undo for some days.',
  );

const refuseLong = (composed: string, own: string): void => {
  const length = composed.length + own.length;
  if (length + 2 <= MAX_BODY) return;
  throw invalidState(
    `The body would have ${length} characters; the host allows ${MAX_BODY}. Shorten your text below the line in pr/draft.md, which has ${own.length}.`,
  );
};

/**
 * The line that divides a draft into the composed part and the operator's text below it. Untrusted text cannot contain
 * it, because comments in it are disarmed.
 */
export const MARK = '<!-- Below this line is yours: it stays when the body is composed anew. -->';

interface DraftParts {
  composed: string;
  /** The operator's text; empty without the line. */
  own: string;
}

export const partsOf = (body: string): DraftParts => {
  const lines = body.split('\n');
  const at = lines.findIndex((line) => line.trimEnd() === MARK);
  if (at < 0) return { composed: ended(body), own: '' };
  return {
    composed: ended(lines.slice(0, at).join('\n')),
    own: lines
      .slice(at + 1)
      .join('\n')
      .trim(),
  };
};

/** The text of a draft; the line is always there. */
export const draftOf = ({ composed, own }: DraftParts): string =>
  [ended(composed), `${MARK}\n`, ...(own === '' ? [] : [`${own}\n`])].join('\n');

/** The body to publish: the draft without its line. */
export const publishable = (body: string): string => {
  const { composed, own } = partsOf(body);
  return own === '' ? composed : `${composed}\n${own}\n`;
};

const ended = (text: string): string => `${text.trimEnd()}\n`;
