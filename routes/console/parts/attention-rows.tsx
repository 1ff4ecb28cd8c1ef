import type { AttentionItem, WaitingValue } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import type { Api } from '../common/page.ts';
import { Answers, placeOf } from './answers.tsx';
import { KINDS } from './labels.ts';
import { Waiting } from './pending-value.tsx';
import { PlanInPlace } from './plan/inline-plan.tsx';
import { Since } from './relative-time.tsx';

/** What needs the operator, and what of it waits to be trusted. */
export interface Waits {
  items: AttentionItem[];
  values: WaitingValue[];
}

/** What waits: all of it, or what is of one Work item. */
export const waitsOf = async ({ call }: Api, case_id?: string): Promise<Waits> => {
  const all = await call('GET /attention');
  // What is wrong with its files the page of a Work item says itself.
  const isHere = (one: AttentionItem) => one.case_id === case_id && one.kind !== 'file';
  const items = case_id === undefined ? all : all.filter(isHere);
  const isAsked = items.some(({ kind }) => kind === 'trust' || kind === 'held');
  return { items, values: isAsked ? await call('GET /trust') : [] };
};

/** What waits, oldest first, each with what it is, since when, and how it is answered. */
export const WaitingRows = ({ items, values }: Waits) => (
  <ol class="rows" aria-label="What needs you, oldest first">
    {items.map((item) => (
      <Row key={keyOf(item)} item={item} value={values.find((value) => isOf(value, item))} />
    ))}
  </ol>
);

// A plan that changed stays open where it is read, and is read again.
const keyOf = ({ id, kind, session_id }: AttentionItem): string =>
  kind === 'plan' ? `plan ${session_id}` : id;

const isOf = ({ key, hash }: WaitingValue, { answer }: AttentionItem): boolean => {
  const { values = [] } = (answer.body ?? {}) as { values?: { key: string; hash: string }[] };
  return values.some((one) => one.key === key && one.hash === hash);
};

const Row = ({ item, value }: { item: AttentionItem; value: WaitingValue | undefined }) => {
  const { id, kind, title, message, since, file, line, output } = item;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <span class={`tag ${kind}`}>{KINDS[kind]}</span>
        <a class="title" href={placeOf(item)} data-key="o">
          {visible(title)}
        </a>
        <Since at={since} />
      </div>
      <p class="message">{visible(message)}</p>
      {output !== undefined && (
        <pre class="as-written">
          <code>{visible(output)}</code>
        </pre>
      )}
      {file !== undefined && value === undefined && (
        <p class="quiet">
          <code>{visible(line === undefined ? file : `${file}:${line}`)}</code>
        </p>
      )}
      {value !== undefined && <Waiting {...value} />}
      {kind === 'plan' ? <PlanInPlace {...item} /> : <Answers {...item} />}
    </li>
  );
};
