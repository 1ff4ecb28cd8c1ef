import { type Case, Problem, type Session } from '../../../lib/client/client.ts';
import { type Api, page } from '../common/page.ts';
import type { ListedFile } from '../parts/diff-files.tsx';
import { listedOf } from '../parts/diff-list.ts';
import { DiffView } from '../parts/diff-view.tsx';
import { SessionPage } from '../parts/session.tsx';

interface Diff {
  item: Case;
  session: Session;
  /** The session of the Work item whose plan waits. */
  waiting: string | undefined;
  /** undefined where none is kept. */
  patch: { files: ListedFile[]; text: string; isCut: boolean } | undefined;
  /** The worktree, and what is not committed in it. */
  worktree: { path: string; files: { path: string; code: string }[] } | undefined;
}

const View = ({ item, session, waiting, patch, worktree }: Diff) => {
  const { base_commit, approved_at } = session;
  return (
    <SessionPage item={item} of={session} tab="Diff">
      {patch === undefined || patch.text === '' ? (
        <None session={session} isEmpty={patch !== undefined} worktree={worktree} />
      ) : (
        <>
          <p class="quiet">
            {'All changes since the base'}
            {base_commit !== null && <code>{` ${base_commit.slice(0, 12)}`}</code>}
            {approved_at === null
              ? '. No plan was approved.'
              : ', with the plan that was approved.'}
            {session.status === 'paused' && ' As it was when the session was paused.'}
          </p>
          <DiffView
            {...{ id: item.id, sid: session.id, waiting, root: worktree?.path, ...patch }}
          />
        </>
      )}
    </SessionPage>
  );
};

type NoneProps = Pick<Diff, 'session' | 'worktree'> & { isEmpty: boolean };

const None = ({ session: { status }, isEmpty, worktree }: NoneProps) => (
  <div class="empty">
    <p>
      <strong>{isEmpty ? 'The session changed no file.' : 'No diff is kept yet.'}</strong>
    </p>
    {!isEmpty && (
      <p>
        {status === 'working'
          ? 'The session is at work. Its diff comes here when the work is over, or is stopped.'
          : 'It comes here once the session has worked.'}
      </p>
    )}
    {status === 'working' && worktree !== undefined && worktree.files.length > 0 && (
      <ul class="diff-so-far" aria-label="Not committed in the worktree so far">
        {worktree.files.map(({ path, code }) => (
          <li key={path}>
            <code>{`${code} ${path}`}</code>
          </li>
        ))}
      </ul>
    )}
  </div>
);

/** How much of a patch the document holds; the browser asks for the rest. In characters. */
const MOST = 60_000;
/** How many files of a worktree at work are listed. */
const SOME = 200;

const orNone = <T,>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });

const patchOf = async ({ call }: Api, at: { id: string; sid: string }) => {
  const [text, plan] = await Promise.all([
    orNone(call('GET /cases/{id}/sessions/{sid}/diff', at)),
    orNone(call('GET /cases/{id}/sessions/{sid}/plan', { ...at, query: { which: 'approved' } })),
  ]);
  if (text === undefined) return undefined;
  const isCut = text.length > MOST && !('document' in globalThis);
  return { files: listedOf(text, plan), text: isCut ? text.slice(0, MOST) : text, isCut };
};

const worktreeOf = async ({ call }: Api, case_id: string): Promise<Diff['worktree']> => {
  const status = await orNone(call('GET /api/worktrees/{case_id}/status', { case_id }));
  if (status === undefined) return undefined;
  const files = (status.files ?? []).slice(0, SOME);
  return { path: status.path, files: files.map(({ path, code }) => ({ path, code })) };
};

/** What a session changed. */
export const diff = page<Diff>({
  title: ({ item }) => `Diff · ${item.title}`,
  load: async (api, { params: { id = '', sid = '' } }) => {
    const [item, session, all, patch, worktree] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      api.call('GET /cases/{id}/sessions/{sid}', { id, sid }),
      api.call('GET /cases/{id}/sessions', { id }),
      patchOf(api, { id, sid }),
      worktreeOf(api, id),
    ]);
    const waiting = all.findLast(({ status }) => status === 'plan_ready')?.id;
    return { item, session, waiting, patch, worktree };
  },
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
