import type { AttentionItem, WaitingValue } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Answers } from '../parts/answers.tsx';
import { KINDS } from '../parts/kinds.ts';
import { NotifyMe } from '../parts/notify-me.tsx';
import { PlanInPlace } from '../parts/plan-in-place.tsx';
import { Since } from '../parts/since.tsx';
import { Waiting } from '../parts/waiting-value.tsx';

interface Inbox {
  items: AttentionItem[];
  /** What of it waits to be trusted. */
  values: WaitingValue[];
}

const View = ({ items, values }: Inbox) => (
  <>
    <div class="line apart">
      <h1>Inbox</h1>
      <NotifyMe />
    </div>
    {items.length === 0 ? (
      <Empty />
    ) : (
      <ol class="rows" aria-label="What needs you, oldest first">
        {items.map((item) => (
          <Row key={item.id} item={item} value={values.find((value) => isOf(value, item))} />
        ))}
      </ol>
    )}
  </>
);

const isOf = ({ key, hash }: WaitingValue, { answer }: AttentionItem): boolean => {
  const { values = [] } = (answer.body ?? {}) as { values?: { key: string; hash: string }[] };
  return values.some((one) => one.key === key && one.hash === hash);
};

const Row = ({ item, value }: { item: AttentionItem; value: WaitingValue | undefined }) => {
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
      {file !== undefined && value === undefined && (
        <p class="quiet">
          <code>{line === undefined ? file : `${file}:${line}`}</code>
        </p>
      )}
      {value !== undefined && <Waiting {...value} />}
      {kind === 'plan' ? <PlanInPlace {...item} /> : <Answers {...item} />}
    </li>
  );
};

/** Where what waits is looked at whole. */
const placeOf = ({ kind, case_id, session_id }: AttentionItem): string => {
  if (kind === 'trust' || kind === 'held') return '/dashboard/settings/trust';
  if (case_id === undefined) return '/dashboard/settings/diagnostics';
  const item = `/dashboard/cases/${case_id}`;
  if (kind === 'plan') return `${item}/sessions/${session_id}/plan`;
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
  load: async ({ call }) => {
    const items = await call('GET /attention');
    const isAsked = items.some(({ kind }) => kind === 'trust' || kind === 'held');
    return { items, values: isAsked ? await call('GET /trust') : [] };
  },
  View,
  follows: ({ event_type }) => event_type === 'attention_changed',
});
