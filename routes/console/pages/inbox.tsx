import { useState } from 'preact/hooks';
import { definePage } from '../common/page.ts';
import { type Attention, AttentionRows, loadAttention } from '../parts/attention-rows.tsx';
import { Empty } from '../parts/facts.tsx';

const View = (waits: Attention) => (
  <>
    <div class="line apart">
      <h1>Inbox</h1>
      <NotifyMe />
    </div>
    {waits.items.length === 0 ? <NothingWaits /> : <AttentionRows {...waits} />}
  </>
);

const NothingWaits = () => (
  <Empty title="The inbox is empty.">
    <p>
      Plans to approve, questions from agents, failed sessions and everything else that needs you
      appear here.
    </p>
    <p>
      <a href="/dashboard/new">Create a Work item</a>, or open{' '}
      <a href="/dashboard/board">the board</a>.
    </p>
  </Empty>
);

// An opened plan says how many of its comments are unsent.
const FOLLOWED: ReadonlySet<string> = new Set(['attention_changed', 'session_comments_changed']);

/** The inbox, oldest items first. */
export const page = definePage<Attention>({
  title: () => 'Inbox',
  load: (api) => loadAttention(api),
  View,
  follows: ({ event_type }) => FOLLOWED.has(event_type),
});

/** Asks for permission to show notifications, until the browser has an answer. */
const NotifyMe = () => {
  const [isOpen, setOpen] = useState(
    'Notification' in globalThis && Notification.permission === 'default',
  );
  if (!isOpen) return null;
  const ask = () => void Notification.requestPermission().then(() => setOpen(false));
  return (
    <button type="button" onClick={ask} data-key="n">
      Notify me
    </button>
  );
};
