import { useContext } from 'preact/hooks';
import type { Case, Session } from '../../../../lib/client/client.ts';
import { counted } from '../../../../lib/text/wording.ts';
import type { Api } from '../../common/page.ts';
import { countKept } from '../diff/kept.ts';
import { InReach } from '../do.tsx';
import { useLoaded } from '../loaded.ts';

/** What of the work was not looked at when a proof of it is verified. */
interface Viewed {
  at: string;
  files: number;
  viewed: number;
  comments: number;
}

/** How much of the newest diff of a Work item this browser has viewed; null where it has none. */
export const useViewed = ({ id, updated_at }: Pick<Case, 'id' | 'updated_at'>) => {
  const api = useContext(InReach);
  return useLoaded(() => viewedOf(api as Api, id), updated_at);
};

const WORKED: ReadonlySet<Session['status']> = new Set(['completed', 'failed', 'paused']);

const viewedOf = async ({ call }: Api, id: string): Promise<Viewed | null> => {
  const sessions = await call('GET /cases/{id}/sessions', { id });
  const last = sessions.findLast(
    ({ approved_at, status }) => approved_at !== null && WORKED.has(status),
  );
  if (last === undefined) return null;
  const at = { id, sid: last.id };
  const patch = await call('GET /cases/{id}/sessions/{sid}/diff', {
    ...at,
    query: { since: 'base' },
  });
  const counts = await countKept(last.id, patch);
  return { at: `/dashboard/cases/${id}/sessions/${last.id}/diff`, ...counts };
};

/** Says it beside the button that verifies. */
export const ViewedLine = ({
  value,
  failed,
}: Pick<ReturnType<typeof useViewed>, 'value' | 'failed'>) => {
  if (failed) return <span class="quiet">The diff could not be read.</span>;
  if (value == null || (value.files === 0 && value.comments === 0)) return null;
  const { at, files, viewed, comments } = value;
  return <a href={at}>{`${viewed} of ${counted(files, 'file')} viewed${unsent(comments)}`}</a>;
};

const unsent = (comments: number): string =>
  comments === 0 ? '' : `, ${counted(comments, 'comment')} not sent`;
