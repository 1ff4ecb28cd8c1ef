import { useEffect, useState } from 'preact/hooks';
import { page } from '../common/page.ts';
import { WaitingRows, type Waits, waitsOf } from '../parts/attention-rows.tsx';

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

/** Asks the browser for leave to tell of what waits while one looks elsewhere. Not there where it was answered. */
const NotifyMe = () => {
  const [isOpen, setOpen] = useState(false);
  useEffect(
    () => setOpen('Notification' in globalThis && Notification.permission === 'default'),
    [],
  );
  if (!isOpen) return null;
  const ask = () => void Notification.requestPermission().then(() => setOpen(false));
  return (
    <button type="button" onClick={ask} data-key="n">
      Notify me
    </button>
  );
};
