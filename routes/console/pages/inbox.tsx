import { page } from '../common/page.ts';
import { NotifyMe } from '../parts/notify-me.tsx';
import { WaitingRows, type Waits, waitsOf } from '../parts/waiting-row.tsx';

const View = (waits: Waits) => (
  <>
    <div class="line apart">
      <h1>Inbox</h1>
      <NotifyMe />
    </div>
    {waits.items.length === 0 ? <Empty /> : <WaitingRows {...waits} />}
  </>
);

const Empty = () => (
  <div class="empty">
    <p>
      <strong>Nothing needs you.</strong>
    </p>
    <p>
      Plans to approve, questions of agents, failed sessions and what else waits for your word come
      here by themselves.
    </p>
    <p>
      <a href="/dashboard/new">Make a Work item</a>, or look at{' '}
      <a href="/dashboard/board">the board</a>.
    </p>
  </div>
);

/** What needs the operator now, oldest first. */
export const inbox = page<Waits>({
  title: () => 'Inbox',
  load: (api) => waitsOf(api),
  View,
  follows: ({ event_type }) => event_type === 'attention_changed',
});
