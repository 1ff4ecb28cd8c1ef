import type { Case, Conflict, ConflictFile, Data } from '../../../lib/client/client.ts';
import { orProblem } from '../common/load.ts';
import { type Api, definePage, followsItem, type ProblemSummary } from '../common/page.ts';
import {
  type ConflictedText,
  ConflictFileShown,
  ConflictFiles,
} from '../parts/conflicts/files.tsx';
import { ConflictHistory, NewRebase, RebaseUnderWay } from '../parts/conflicts/rebase.tsx';
import { Item } from '../parts/frames.tsx';

interface Conflicts {
  item: Case;
  /** The rebase in progress. */
  open: Conflict | undefined;
  files: ConflictFile[];
  diff: string;
  /** Why the files cannot be shown. */
  problem: ProblemSummary | undefined;
  /** The selected file. */
  chosen: ConflictedText | undefined;
  /** Oldest first. */
  history: Conflict[];
  metrics: Data<'GET /api/cases/{id}/conflicts/metrics'>;
}

const View = ({ item, open, files, diff, problem, chosen, history, metrics }: Conflicts) => (
  <Item of={item} tab="Conflicts">
    {open === undefined && <NewRebase id={item.id} last={history.at(-1)} />}
    {open !== undefined && (
      <>
        <RebaseUnderWay of={open} files={files} />
        {problem !== undefined && (
          <p class="box warn">
            <strong>{problem.title}.</strong> {problem.detail}
          </p>
        )}
        <ConflictFiles id={item.id} files={files} diff={diff} chosen={chosen?.path} />
        {chosen !== undefined && <ConflictFileShown key={chosen.path} id={item.id} {...chosen} />}
      </>
    )}
    <ConflictHistory history={history} metrics={metrics} />
  </Item>
);

/** Longer files are not edited in the page. In characters. */
const LONGEST = 200_000;

const textOf = async (
  { request }: Api,
  id: string,
  { path, kind }: ConflictFile,
): Promise<ConflictedText> => {
  const { value, problem } = await orProblem(
    request('GET /cases/{id}/editor/files', { id, query: { path } }),
  );
  if (problem !== undefined || value.status === 304)
    return { path, kind, missing: problem?.detail };
  const { data, etag } = value;
  if (data.binary) return { path, kind, etag, missing: 'The file is binary.' };
  const isLong = data.content.length > LONGEST;
  if (isLong) return { path, kind, etag, missing: 'The file is too long to edit here.' };
  return { path, kind, etag, content: data.content };
};

const previewOf = async (api: Api, id: string, wanted: string | undefined) => {
  const { value, problem } = await orProblem(
    api.call('GET /api/cases/{id}/conflicts/preview', { id }),
  );
  const { files = [], diff = '' } = value ?? {};
  const file = files.find(({ path }) => path === wanted) ?? files[0];
  const chosen = file === undefined ? undefined : await textOf(api, id, file);
  return { problem, files: files.slice(0, 200), diff: diff.slice(0, LONGEST / 4), chosen };
};

const NOTHING = { problem: undefined, files: [], diff: '', chosen: undefined };

/** The rebase of a Work item's branch and its conflicts. */
export const page = definePage<Conflicts>({
  title: ({ item }) => `Conflicts of ${item.title}`,
  load: async (api, { params: { id = '' }, query }) => {
    const [item, all, metrics] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      api.call('GET /api/cases/{id}/conflicts/history', { id }),
      api.call('GET /api/cases/{id}/conflicts/metrics', { id }),
    ]);
    const open = all.findLast(({ outcome, elsewhere }) => outcome === null && elsewhere !== true);
    const seen = open === undefined ? NOTHING : await previewOf(api, id, query.file);
    return { item, open, ...seen, history: all.slice(-10), metrics };
  },
  View,
  follows: followsItem,
});
