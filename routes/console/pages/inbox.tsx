import type { AttentionItem } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Answers } from '../parts/answers.tsx';
import { Since } from '../parts/since.tsx';

interface Inbox {
  items: AttentionItem[];
}

const KINDS: Readonly<Record<AttentionItem['kind'], string>> = {
  plan: 'Plan',
  permission: 'Permission',
  question: 'Question',
  failed: 'Failed',
  blocked: 'Blocked',
  paused: 'Paused',
  manual: 'Yours',
  conflict: 'Conflict',
  review: 'Review',
  feedback: 'Feedback',
  sync: 'Sync',
  webhook: 'Webhook',
  held: 'Held',
  trust: 'Trust',
  file: 'File',
};

const View = ({ items }: Inbox) => (
  <>
    <h1>Inbox</h1>
    {items.length === 0 ? (
      <Empty />
    ) : (
      <ol class="rows" aria-label="What needs you, oldest first">
        {items.map((item) => (
          <Row key={item.id} {...item} />
        ))}
      </ol>
    )}
  </>
);

const Row = (item: AttentionItem) => {
  const { id, kind, title, message, since, file, line } = item;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <span class={`tag ${kind}`}>{KINDS[kind]}</span>
        <a class="title" href={placeOf(item)} data-key="o">
          {title}
        </a>
        <Since at={since} />
      </div>
      <p class="message">{message}</p>
      {file !== undefined && (
        <p class="quiet">
          <code>{line === undefined ? file : `${file}:${line}`}</code>
        </p>
      )}
      <Answers {...item} />
    </li>
  );
};

/** Where what waits is looked at whole. */
const placeOf = ({ kind, case_id, session_id }: AttentionItem): string => {
  if (kind === 'trust' || kind === 'held') return '/dashboard/settings/trust';
  if (case_id === undefined) return '/dashboard/settings/diagnostics';
  const item = `/dashboard/cases/${case_id}`;
  if (kind === 'conflict') return `${item}/conflicts`;
  if (kind === 'review' || kind === 'feedback') return `${item}/pr`;
  return session_id === undefined ? item : `${item}/sessions/${session_id}`;
};

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
export const inbox = page<Inbox>({
  title: ({ items }) => (items.length === 0 ? 'Inbox' : `(${items.length}) Inbox`),
  load: async ({ call }) => ({ items: await call('GET /attention') }),
  View,
  follows: ({ event_type }) => event_type === 'attention_changed',
});
