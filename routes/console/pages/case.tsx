import type { Case, Session } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Item } from '../parts/item.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { StatusTag } from '../parts/session.tsx';
import { Since } from '../parts/since.tsx';

interface Overview {
  item: Case;
  sessions: Session[];
}

const View = ({ item, sessions }: Overview) => (
  <Item of={item} tab="Overview">
    <Markdown text={item.description} />
    <h2>Sessions</h2>
    {sessions.length === 0 ? <p class="quiet">There are none yet.</p> : <Sessions of={sessions} />}
  </Item>
);

const Sessions = ({ of: sessions }: { of: readonly Session[] }) => (
  <ol class="rows">
    {sessions.toReversed().map(({ id, case_id, type, provider, status, created_at, error }) => (
      <li key={id} class="row" data-row={id} tabIndex={-1}>
        <div class="head">
          <StatusTag status={status} />
          <a class="title" href={`/dashboard/cases/${case_id}/sessions/${id}`} data-key="o">
            {`${type}, ${provider}`}
          </a>
          <Since at={created_at} />
        </div>
        {error !== null && <p class="message">{error}</p>}
      </li>
    ))}
  </ol>
);

/** What a Work item is, and the attempts at it. */
export const overview = page<Overview>({
  title: ({ item }) => item.title,
  load: async ({ call }, { params: { id = '' } }) => {
    const [item, sessions] = await Promise.all([
      call('GET /cases/{id}', { id }),
      call('GET /cases/{id}/sessions', { id }),
    ]);
    return { item, sessions };
  },
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
