import type {
  Case,
  CaseUsage,
  HistoryEntry,
  MemoryFile,
  Session,
} from '../../../lib/client/client.ts';
import { type Api, page } from '../common/page.ts';
import { Delete, Facts, Problems } from '../parts/case-about.tsx';
import { EditItem } from '../parts/case-edit.tsx';
import { History, Memory } from '../parts/case-kept.tsx';
import { Sessions } from '../parts/case-sessions.tsx';
import { type Choice, providersOf } from '../parts/case-start.tsx';
import { StateForm } from '../parts/case-state.tsx';
import { WorktreePlace, type WorktreeStatus } from '../parts/case-worktree.tsx';
import { Item } from '../parts/item.tsx';
import { Markdown } from '../parts/markdown.tsx';

interface Overview {
  item: Case;
  etag: string | undefined;
  sessions: Session[];
  usage: CaseUsage;
  memory: MemoryFile[];
  history: HistoryEntry[];
  worktree: WorktreeStatus | undefined;
  providers: Choice[];
}

const View = ({ item, etag, sessions, usage, worktree, memory, history, providers }: Overview) => (
  <Item of={item} tab="Overview">
    <Problems of={item} />
    <div class="overview">
      <div>
        {item.description.trim() === '' ? (
          <p class="quiet">It has no description yet. Say what you want: the plan is made of it.</p>
        ) : (
          <Markdown text={item.description} />
        )}
        <EditItem item={item} etag={etag} />
        <Sessions case_id={item.id} sessions={sessions} providers={providers} />
        <Memory case_id={item.id} files={memory} />
        <History of={history} />
      </div>
      <aside aria-label="About it">
        <StateForm of={item} etag={etag} />
        <Facts of={item} usage={usage} />
        {worktree !== undefined && <WorktreePlace of={worktree} />}
        <Delete of={item} etag={etag} />
      </aside>
    </div>
  </Item>
);

/** How much of its history is shown. */
const COMMITS = 10;

const worktreeOf = async ({ call }: Api, case_id: string): Promise<WorktreeStatus | undefined> => {
  const { exists } = await call('GET /api/worktrees/{case_id}/health', { case_id });
  if (!exists) return undefined;
  return call('GET /api/worktrees/{case_id}/status', { case_id }).catch(() => undefined);
};

/** What a Work item is, and the attempts at it. */
export const overview = page<Overview>({
  title: ({ item }) => item.title,
  load: async (api, { params: { id = '' } }) => {
    const { call, request } = api;
    const [read, sessions, usage, memory, history, worktree, providers] = await Promise.all([
      request('GET /cases/{id}', { id }),
      call('GET /cases/{id}/sessions', { id }),
      call('GET /cases/{id}/usage', { id }),
      call('GET /cases/{id}/memory', { id }),
      // A workspace whose history cannot be read has all else.
      call('GET /cases/{id}/history', { id, query: { limit: COMMITS } }).catch(() => []),
      worktreeOf(api, id),
      providersOf(api),
    ]);
    const { data, etag } = read;
    const kept = { sessions: sessions.toReversed(), usage, memory, history };
    return { item: data as Case, etag, ...kept, worktree, providers };
  },
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
