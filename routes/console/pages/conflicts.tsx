import type { Case, Conflict, ConflictFile, Data } from '../../../lib/client/client.ts';
import { orTold } from '../common/load.ts';
import { type Api, page, type Told } from '../common/page.ts';
import {
  type ConflictedText,
  ConflictFileShown,
  ConflictFiles,
} from '../parts/conflicts/files.tsx';
import { ConflictHistory, NewRebase, RebaseUnderWay } from '../parts/conflicts/rebase.tsx';
import { Item } from '../parts/frames.tsx';

interface Conflicts {
  item: Case;
  /** The rebase that is under way. */
  open: Conflict | undefined;
  files: ConflictFile[];
  diff: string;
  /** Why the files cannot be shown. */
  told: Told | undefined;
  /** The file that is looked at. */
  chosen: ConflictedText | undefined;
  /** Oldest first. */
  history: Conflict[];
  metrics: Data<'GET /api/cases/{id}/conflicts/metrics'>;
}

const View = ({ item, open, files, diff, told, chosen, history, metrics }: Conflicts) => (
  <Item of={item} tab="Conflicts">
    {open === undefined && <NewRebase id={item.id} last={history.at(-1)} />}
    {open !== undefined && (
      <>
        <RebaseUnderWay of={open} files={files} />
        {told !== undefined && (
          <p class="box warn">
            <strong>{told.title}.</strong> {told.detail}
          </p>
        )}
        <ConflictFiles id={item.id} files={files} diff={diff} chosen={chosen?.path} />
        {chosen !== undefined && <ConflictFileShown key={chosen.path} id={item.id} {...chosen} />}
      </>
    )}
    <ConflictHistory history={history} metrics={metrics} />
  </Item>
);

/** More is not edited in a page. In characters. */
const LONGEST = 200_000;

const textOf = async (
  { request }: Api,
  id: string,
  { path, kind }: ConflictFile,
): Promise<ConflictedText> => {
  const { value, told } = await orTold(
    request('GET /cases/{id}/editor/files', { id, query: { path } }),
  );
  if (told !== undefined || value.status === 304) return { path, kind, missing: told?.detail };
  const { data, etag } = value;
  if (data.binary) return { path, kind, etag, missing: 'It is no text.' };
  const isLong = data.content.length > LONGEST;
  if (isLong) return { path, kind, etag, missing: 'It is too long to be edited here.' };
  return { path, kind, etag, content: data.content };
};

const previewOf = async (api: Api, id: string, wanted: string | undefined) => {
  const { value, told } = await orTold(api.call('GET /api/cases/{id}/conflicts/preview', { id }));
  const { files = [], diff = '' } = value ?? {};
  const file = files.find(({ path }) => path === wanted) ?? files[0];
  const chosen = file === undefined ? undefined : await textOf(api, id, file);
  return { told, files: files.slice(0, 200), diff: diff.slice(0, LONGEST / 4), chosen };
};

const NOTHING = { told: undefined, files: [], diff: '', chosen: undefined };

/** The rebase of a Work item's branch: what stands against it, and how that is resolved. */
export const conflicts = page<Conflicts>({
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
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
