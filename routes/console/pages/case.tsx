import type {
  Case,
  CaseUsage,
  Data,
  HistoryEntry,
  MemoryFile,
  Session,
  SessionLock,
} from '../../../lib/client/client.ts';
import { orNone, orProblem } from '../common/load.ts';
import { type Api, definePage, followsItem, type Previous } from '../common/page.ts';
import { type Attention, loadAttention } from '../parts/attention-rows.tsx';
import { EditItem } from '../parts/case/edit.tsx';
import { History, Memory } from '../parts/case/memory.tsx';
import { type CaseProgress, NextStep } from '../parts/case/next-step.tsx';
import { Sessions } from '../parts/case/sessions.tsx';
import { Delete, Export, Facts, Issue, StateForm } from '../parts/case/sidebar.tsx';
import { loadProviders, type ProviderChoice } from '../parts/case/start.tsx';
import { WorktreeActions, WorktreeFacts, type WorktreeShown } from '../parts/case/worktree.tsx';
import { Item } from '../parts/frames.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { FailedCommands } from '../parts/problems.tsx';
import { hasCodeHost } from '../parts/pull/merge.tsx';

interface Overview {
  item: Case;
  etag: string | undefined;
  sessions: Session[];
  usage: CaseUsage;
  memory: MemoryFile[];
  history: HistoryEntry[];
  worktree: WorktreeShown | undefined;
  providers: ProviderChoice[];
  waits: Attention;
  way: Pick<CaseProgress, 'planning' | 'isProven' | 'pull' | 'isToMerge'>;
  issue: Data<'GET /api/cases/{id}/github'>['issue'];
  lock: SessionLock;
  /** How often work of its worktree was saved. */
  saved: number;
}

const View = ({ item, etag, sessions, usage, worktree, memory, history, ...rest }: Overview) => (
  <Item of={item} tab="Overview">
    <FailedCommands of={sessions.find(({ mode }) => mode === 'work')?.commands} />
    <NextStep
      {...rest.way}
      id={item.id}
      state={item.state}
      isMerged={item.merged !== undefined}
      sessions={sessions}
      waits={rest.waits}
    />
    <div class="overview">
      <div>
        {item.description.trim() === '' ? (
          <p class="quiet">No description. Describe what you want: the agent plans from it.</p>
        ) : (
          <Markdown text={item.description} />
        )}
        <EditItem item={item} etag={etag} />
        <Sessions
          case_id={item.id}
          sessions={sessions}
          providers={rest.providers}
          isBegun={worktree !== undefined}
        />
        <Memory case_id={item.id} files={memory} />
        <History of={history} />
      </div>
      <aside aria-label="Details">
        <StateForm of={item} etag={etag} />
        <Facts of={item} usage={usage} />
        {rest.issue !== null && <Issue id={item.id} issue={rest.issue} />}
        {worktree !== undefined && <WorktreeFacts of={worktree} />}
        <WorktreeActions lock={rest.lock} isThere={worktree !== undefined} saved={rest.saved} />
        <Export id={item.id} />
        <Delete of={item} etag={etag} sessions={sessions.length} worktree={worktree} />
      </aside>
    </div>
  </Item>
);

/** The number of commits shown. */
const COMMITS = 10;

/** Events that may change the worktree, or the history: git is only asked again after these. */
const MOVES_WORKTREE = /^(?:session_|agent_completed|case_state_changed)/;
const MOVES_FILES = /^(?:case_|proof_|checklist_|problem_)/;

const hasHappened = (known: Previous<Overview> | undefined, what: RegExp): boolean =>
  known === undefined || known.since.some(({ event_type }) => what.test(event_type));

const worktreeOf = async ({ call }: Api, id: string): Promise<WorktreeShown | undefined> => {
  const health = await call('GET /api/worktrees/{case_id}/health', { case_id: id });
  if (!health.exists) return undefined;
  const worktree = await orNone(call('GET /api/cases/{id}/worktree', { id }));
  return worktree && { ...worktree, health };
};

// An unreadable file is shown as a problem and must not hide the rest.
const progressOf = async ({ call }: Api, id: string) => {
  const [planning, proof, link, saved] = await Promise.all([
    orProblem(call('GET /api/cases/{id}/planning/gate', { id })),
    orProblem(call('GET /cases/{id}/proof/gate', { id })),
    orProblem(call('GET /api/cases/{id}/github', { id })),
    orProblem(call('GET /api/worktrees/{case_id}/recoveries', { case_id: id })),
  ]);
  return {
    planning: planning.value?.status ?? 'not_started',
    isProven: proof.value?.satisfied === true,
    pull: link.value?.pr ?? null,
    issue: link.value?.issue ?? null,
    saved: saved.value?.length ?? 0,
  };
};

/** Whether only the operator can merge: the branch has commits, and the project no code host. */
const isUnmerged = async (
  api: Api,
  { id, merged }: Case,
  worktree: WorktreeShown | undefined,
): Promise<boolean> => {
  if (merged !== undefined || worktree?.health.head == null) return false;
  if (worktree.health.head === worktree.base_commit) return false;
  return !(await hasCodeHost(api, id));
};

// The page also works if the history cannot be read.
const historyOf = ({ call }: Api, id: string): Promise<HistoryEntry[]> =>
  call('GET /cases/{id}/history', { id, query: { limit: COMMITS } }).catch(() => []);

/** The overview of a Work item, with its sessions. */
export const page = definePage<Overview>({
  title: ({ item }) => item.title,
  load: async (api, { params: { id = '' } }, known) => {
    const { call, request } = api;
    // First, so that nothing else is requested of a Work item that is gone.
    const read = await request('GET /cases/{id}', { id });
    const [sessions, usage, memory, history, worktree, providers, ...more] = await Promise.all([
      call('GET /cases/{id}/sessions', { id }),
      call('GET /cases/{id}/usage', { id }),
      call('GET /cases/{id}/memory', { id }),
      hasHappened(known, MOVES_FILES) ? historyOf(api, id) : known?.shown.history,
      hasHappened(known, MOVES_WORKTREE) ? worktreeOf(api, id) : known?.shown.worktree,
      loadProviders(api),
      loadAttention(api, id),
      progressOf(api, id),
      call('GET /api/worktrees/{case_id}/lock', { case_id: id }),
    ]);
    const [waits, { issue, saved, ...way }, lock] = more;
    const { data, etag } = read;
    const isDone = sessions.at(-1)?.status === 'completed' && way.pull === null;
    const isToMerge = isDone && (await isUnmerged(api, data as Case, worktree));
    return {
      item: data as Case,
      etag,
      sessions: sessions.toReversed(),
      usage,
      memory,
      history: history ?? [],
      worktree,
      providers,
      waits,
      way: { ...way, isToMerge },
      issue,
      lock,
      saved,
    };
  },
  View,
  follows: followsItem,
});
