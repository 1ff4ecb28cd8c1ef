import type { AttentionItem, WaitingValue } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import type { Api } from '../common/page.ts';
import { Answers, attentionLink } from './answers.tsx';
import { attentionLabel, placeIn } from './labels.ts';
import { PendingValue } from './pending-value.tsx';
import { PlanInPlace } from './plan/inline-plan.tsx';
import { RelativeTime } from './relative-time.tsx';

/** Items of the inbox, with the values that wait for trust. */
export interface Attention {
  items: AttentionItem[];
  values: WaitingValue[];
}

interface RowsProps extends Attention {
  isOfPage?: boolean;
}

/** Loads the inbox, or the items of one Work item. */
export const loadAttention = async ({ call }: Api, case_id?: string): Promise<Attention> => {
  const all = await call('GET /attention');
  // The page of a Work item shows problems of its files by itself.
  const isHere = (one: AttentionItem) => one.case_id === case_id && one.kind !== 'file';
  const items = case_id === undefined ? all : all.filter(isHere);
  const isAsked = items.some(({ kind }) => kind === 'trust' || kind === 'held');
  return { items, values: isAsked ? await call('GET /trust') : [] };
};

/** The items, oldest first, each with its actions. On the page of their Work item, they do not repeat its title. */
export const AttentionRows = ({ items, values, isOfPage = false }: RowsProps) => (
  <ol class="rows" aria-label="Needs you, oldest first">
    {items.map((item) => (
      <Row
        key={keyOf(item)}
        item={item}
        value={values.find((value) => matches(value, item))}
        isOfPage={isOfPage}
      />
    ))}
  </ol>
);

// The key stays the same when a plan changes, so that an opened plan stays open.
const keyOf = ({ id, kind, session_id }: AttentionItem): string =>
  kind === 'plan' ? `plan ${session_id}` : id;

const matches = ({ key, hash }: WaitingValue, { answer }: AttentionItem): boolean => {
  const { values = [] } = (answer.body ?? {}) as { values?: { key: string; hash: string }[] };
  return values.some((one) => one.key === key && one.hash === hash);
};

interface RowProps {
  item: AttentionItem;
  value: WaitingValue | undefined;
  isOfPage: boolean;
}

const Row = ({ item, value, isOfPage }: RowProps) => {
  const { id, kind, title, message, since, file, line, output } = item;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <span class={`tag ${kind}`}>{attentionLabel(kind)}</span>
        <a class="title" href={attentionLink(item)} data-key="o">
          {visible(isOfPage ? message : title)}
        </a>
        <RelativeTime at={since} />
      </div>
      {!isOfPage && <p class="message">{visible(message)}</p>}
      {output !== undefined && !message.includes(output.trim()) && (
        <pre class="as-written">
          <code>{visible(output)}</code>
        </pre>
      )}
      {file !== undefined && value === undefined && (
        <p class="quiet">
          <code>{visible(placeIn(file, line))}</code>
        </p>
      )}
      {value !== undefined && <PendingValue {...value} />}
      {kind === 'plan' ? <PlanInPlace {...item} /> : <Answers {...item} />}
    </li>
  );
};
