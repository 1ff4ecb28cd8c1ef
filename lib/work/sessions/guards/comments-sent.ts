import { noteSent, tellComments } from '../../../../store/sessions/comments.ts';
import { readPlan } from '../../../../store/sessions/session-texts.ts';
import { type StoredSession, whereIs } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';

/** Has comments.md say what of it was sent: first the session knows it, so that nothing is taken for sent that was not. */
export const noteCommentsSent = async (store: Store, kept: StoredSession): Promise<void> => {
  const { feedback } = kept.matter;
  if (typeof feedback !== 'string') return;
  const dir = whereIs(store, kept);
  await noteSent(store, dir, feedback, readPlan(store, dir)?.sha256 ?? '');
  await tellComments(store, kept.session.case_id);
};
