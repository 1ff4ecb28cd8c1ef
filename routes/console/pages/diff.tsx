import type { Case, Session, SessionMessage } from '../../../lib/client/client.ts';
import { counted, utcOf } from '../../../lib/text/wording.ts';
import { visible } from '../../../store/base/visible.ts';
import { orNone } from '../common/load.ts';
import { type Api, definePage, followsItem } from '../common/page.ts';
import { type ListedFile, listFiles } from '../parts/diff/files.ts';
import type { DiffBase } from '../parts/diff/review-state.ts';
import { oneLine } from '../parts/diff/rows.ts';
import { DiffView } from '../parts/diff/view.tsx';
import { Empty } from '../parts/facts.tsx';
import { isBrowser } from '../parts/form.tsx';
import { SessionPage } from '../parts/frames.tsx';
import { hasEnded } from '../parts/labels.ts';

interface Diff {
  item: Case;
  session: Session;
  /** The session of the Work item whose plan is ready. */
  waiting: string | undefined;
  /** undefined if no diff is stored. */
  patch: { files: ListedFile[]; text: string; isCut: boolean } | undefined;
  /** Files that run later, outside of the sandbox. */
  runs: RunsFile[];
  /** The worktree and its uncommitted files. */
  worktree: { path: string; files: { path: string; code: string }[] } | undefined;
  since: DiffBase;
  messages: SessionMessage[];
}

const View = ({ item, session, waiting, patch, runs, worktree, since, messages }: Diff) => (
  <SessionPage item={item} of={session} tab="Diff">
    {patch !== undefined && <When session={session} since={since} />}
    <Messages all={messages} />
    <RunsLater files={runs} />
    {patch === undefined || patch.text === '' ? (
      <None session={session} isEmpty={patch !== undefined} worktree={worktree} />
    ) : (
      <DiffView
        id={item.id}
        sid={session.id}
        type={session.type}
        since={since}
        waiting={waiting}
        root={worktree?.path}
        {...patch}
        key={since}
      />
    )}
  </SessionPage>
);

const WHEN = [
  { since: 'base', name: 'Since base', at: '' },
  { since: 'approval', name: 'Since approval', at: '?since=approval' },
] as const;

const When = ({ session, since }: Pick<Diff, 'session' | 'since'>) => {
  const { id, case_id, base_commit, approved_at, status } = session;
  return (
    <div class="line diff-when">
      {approved_at === null ? (
        'All changes since the base. No plan is approved.'
      ) : (
        <nav aria-label="Compare with">
          {WHEN.map((one) => (
            <a
              key={one.since}
              class="button"
              href={`/dashboard/cases/${case_id}/sessions/${id}/diff${one.at}`}
              {...(one.since === since && { 'aria-current': 'page' as const })}
            >
              {one.name}
            </a>
          ))}
        </nav>
      )}
      <span class="quiet">
        {since === 'approval' && 'Changes made before the approval are left out.'}
        {since === 'base' && base_commit !== null && (
          <>
            Base <code>{base_commit.slice(0, 12)}</code>.
          </>
        )}
        {status === 'paused' && ' As it was when the session was paused.'}
        {hasEnded(status) && (
          <>
            {' As it was when the session ended: '}
            <a href={`/dashboard/cases/${case_id}/files`}>show current files</a>
          </>
        )}
      </span>
    </div>
  );
};

type NoneProps = Pick<Diff, 'session' | 'worktree'> & { isEmpty: boolean };

const None = ({ session: { status }, isEmpty, worktree }: NoneProps) => (
  <Empty title={isEmpty ? 'No file differs.' : 'No diff yet.'}>
    {!isEmpty && (
      <p>
        {status === 'working'
          ? 'The session is working. Its diff appears when it ends or is paused.'
          : 'The diff appears once the session has worked.'}
      </p>
    )}
    {status === 'working' && worktree !== undefined && worktree.files.length > 0 && (
      <ul class="diff-so-far" aria-label="Uncommitted files in the worktree">
        {worktree.files.map(({ path, code }) => (
          <li key={path}>
            <code>{`${code} ${path}`}</code>
          </li>
        ))}
      </ul>
    )}
  </Empty>
);

/** The part of a patch in the document; the browser loads the rest. In characters. */
const MOST = 16_384;
/** The most uncommitted files listed while a session works. */
const SOME = 200;

const patchOf = async ({ call }: Api, at: { id: string; sid: string }, since: DiffBase) => {
  const [text, plan] = await Promise.all([
    orNone(call('GET /cases/{id}/sessions/{sid}/diff', { ...at, query: { since } })),
    orNone(call('GET /cases/{id}/sessions/{sid}/plan', { ...at, query: { which: 'approved' } })),
  ]);
  if (text === undefined) return undefined;
  const isCut = text.length > MOST && !isBrowser;
  return { files: listFiles(text, plan), text: isCut ? text.slice(0, MOST) : text, isCut };
};

const runsOf = async ({ call }: Api, at: { id: string; sid: string }, since: DiffBase) => {
  const files = await orNone(
    call('GET /cases/{id}/sessions/{sid}/diff/files', { ...at, query: { since } }),
  );
  return (files ?? [])
    .filter(({ runs }) => runs.length > 0)
    .map(({ path, runs }) => ({ path, runs }));
};

const worktreeOf = async ({ call }: Api, case_id: string): Promise<Diff['worktree']> => {
  const status = await orNone(call('GET /api/worktrees/{case_id}/status', { case_id }));
  if (status === undefined) return undefined;
  const files = (status.files ?? []).slice(0, SOME);
  return { path: status.path, files: files.map(({ path, code }) => ({ path, code })) };
};

// There is a diff once the work stops. A call that is refused would be an error in the browser's console.
const workOf = async (
  api: Api,
  { case_id, id: sid, mode, status }: Session,
  since: DiffBase,
): Promise<Pick<Diff, 'patch' | 'runs' | 'worktree'>> => {
  if (mode !== 'work') return { patch: undefined, runs: [], worktree: undefined };
  const at = { id: case_id, sid };
  const hasDiff = status !== 'working';
  const [patch, runs, worktree] = await Promise.all([
    hasDiff ? patchOf(api, at, since) : undefined,
    hasDiff ? runsOf(api, at, since) : [],
    worktreeOf(api, case_id),
  ]);
  return { patch, runs, worktree };
};

/** The changes of a session. */
export const page = definePage<Diff>({
  title: ({ item }) => `Diff · ${item.title}`,
  load: async (api, { params: { id = '', sid = '' }, query }) => {
    const since = query.since === 'approval' ? 'approval' : 'base';
    const session = api.call('GET /cases/{id}/sessions/{sid}', { id, sid });
    const [item, all, work, messages] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      api.call('GET /cases/{id}/sessions', { id }),
      session.then((one) => workOf(api, one, since)),
      orNone(api.call('GET /cases/{id}/sessions/{sid}/messages', { id, sid })),
    ]);
    const waiting = all.findLast(({ status }) => status === 'plan_ready')?.id;
    return { item, session: await session, waiting, ...work, since, messages: messages ?? [] };
  },
  View,
  follows: followsItem,
});

/** The operator's messages to a session. */
const Messages = ({ all }: { all: readonly SessionMessage[] }) => {
  if (all.length === 0) return null;
  return (
    <details class="messages" open={all.length < 4}>
      <summary>{`${counted(all.length, 'message')} from you`}</summary>
      <ol>
        {all.map(({ id, at, mode, text, delivered_at }) => (
          <li key={id}>
            <span class="quiet">
              {`${utcOf(at)}, ${mode === 'plan' ? 'Plan mode' : 'Work mode'}${delivered_at === null ? ', not delivered' : ''}`}
            </span>
            <pre class="as-written">{visible(text)}</pre>
          </li>
        ))}
      </ol>
    </details>
  );
};

/** A file that runs later, and what runs it. */
interface RunsFile {
  path: string;
  runs: readonly string[];
}

/** The most files listed. */
const MOST_RUNS = 100;

/** The changed files that run later, before everything else. */
const RunsLater = ({ files }: { files: readonly RunsFile[] }) => {
  if (files.length === 0) return null;
  return (
    <section class="box diff-runs">
      <h2>{`Runs later, outside the sandbox (${files.length})`}</h2>
      <ul>
        {files.slice(0, MOST_RUNS).map(({ path, runs }) => (
          <li key={path}>
            <code>{oneLine(path)}</code>
            {` ${runs.map(oneLine).join('; ')}`}
          </li>
        ))}
      </ul>
      {files.length > MOST_RUNS && <p class="quiet">{`and ${files.length - MOST_RUNS} more`}</p>}
    </section>
  );
};
