import { useState } from 'preact/hooks';
import type { Delivery, Webhook } from '../../../../lib/client/client.ts';
import { counted } from '../../../../lib/text/wording.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Api } from '../../common/page.ts';
import { Section } from '../facts.tsx';
import { browserApi, CallButton } from '../form.tsx';
import { RelativeTime } from '../relative-time.tsx';

/** A page of deliveries. */
export interface Found {
  deliveries: Delivery[];
  /** There are older ones. */
  isMore: boolean;
}

const STEP = 30;

interface DeliveriesProps extends Found {
  webhook: Webhook;
  /** The list does not begin with the newest. */
  isOlder: boolean;
}

/** The deliveries of a webhook, newest first. */
export const Deliveries = ({ webhook, isOlder, ...first }: DeliveriesProps) => {
  const { all, isMore, more } = useOlder(webhook.id, first);
  const here = `/dashboard/settings/webhooks/${webhook.id}`;
  const isOpen = webhook.disabled !== true && webhook.trusted !== false;
  return (
    <Section id="deliveries" title="Deliveries">
      {isOlder && (
        <p>
          <a href={here}>Newest</a>
        </p>
      )}
      {all.length === 0 && (
        <p class="quiet">No deliveries yet. They appear here after the next event.</p>
      )}
      <ol class="rows" aria-label="Deliveries">
        {all.map((delivery) => (
          <DeliveryRow
            key={delivery.id}
            delivery={delivery}
            isOpen={isOpen}
            at={`/webhooks/${webhook.id}/deliveries`}
          />
        ))}
      </ol>
      {isMore && (
        <p>
          <a class="button" href={`${here}?after=${all.at(-1)?.id}`} onClick={more} data-key="m">
            Load more
          </a>
        </p>
      )}
    </Section>
  );
};

/** Loads older deliveries; the page keeps the newest current. */
const useOlder = (id: string, first: Found) => {
  const [older, setOlder] = useState<Found>();
  const known = new Set(first.deliveries.map((one) => one.id));
  const others = older?.deliveries.filter((one) => !known.has(one.id)) ?? [];
  const all = [...first.deliveries, ...others];
  const more = (event: Event) => {
    event.preventDefault();
    void deliveriesOf(browserApi, id, all.at(-1)?.id).then(
      ({ deliveries, isMore }) => setOlder({ deliveries: [...others, ...deliveries], isMore }),
      () => setOlder(undefined),
    );
  };
  return { all, isMore: older?.isMore ?? first.isMore, more };
};

export const deliveriesOf = async (
  { request }: Api,
  id: string,
  after?: string,
): Promise<Found> => {
  const query = { order: 'newest', limit: STEP, ...(after !== undefined && { after }) } as const;
  const { data, headers } = await request('GET /webhooks/{id}/deliveries', { id, query });
  return { deliveries: data as Delivery[], isMore: headers.get('link') !== null };
};

const STATES: Readonly<Record<Delivery['status'], { name: string; kind: string }>> = {
  waiting: { name: 'Waiting', kind: '' },
  retrying: { name: 'Retrying', kind: 'paused' },
  delivered: { name: 'Delivered', kind: 'completed' },
  failed: { name: 'Failed', kind: 'failed' },
  closed: { name: 'Not sent', kind: 'failed' },
};

/** The status of a delivery, with the receiver's last response. */
export const DeliveryTag = ({ of }: { of: Pick<Delivery, 'status' | 'attempts'> }) => {
  const { name, kind } = STATES[of.status];
  const answered = of.attempts.at(-1)?.status ?? undefined;
  return (
    <span class={`tag ${kind}`}>{answered === undefined ? name : `${name}: ${answered}`}</span>
  );
};

interface DeliveryProps {
  delivery: Delivery;
  /** The path of the deliveries in the API. */
  at: string;
  /** Whether the webhook is enabled and trusted. */
  isOpen: boolean;
}

/** A delivery with its attempts and its body. */
const DeliveryRow = ({ delivery, at, isOpen }: DeliveryProps) => {
  const { id, event_type, status, next_attempt_at, attempts, body } = delivery;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <DeliveryTag of={delivery} />
        <h3 class="title mono">{event_type}</h3>
        <RelativeTime at={body.timestamp} />
        {isOpen && status !== 'waiting' && (
          <CallButton call={`POST ${at}/${id}/redeliver`} button="small" keys="r">
            {status === 'retrying' ? 'Retry now' : 'Redeliver'}
          </CallButton>
        )}
      </div>
      {status === 'waiting' && <p class="quiet">Waiting for an earlier delivery.</p>}
      {next_attempt_at !== null && (
        <p class="quiet">
          Next attempt at <Moment at={next_attempt_at} />. Later events wait.
        </p>
      )}
      <details>
        <summary data-key="e" title="Attempts and body">
          {counted(attempts.length, 'attempt')}
          <span class="unseen"> of {event_type}</span>
        </summary>
        {attempts.length > 0 && <Attempts of={attempts} />}
        <p class="quiet">
          Delivery <code>{id}</code>
        </p>
        <pre>{visible(JSON.stringify(body, null, 2))}</pre>
      </details>
    </li>
  );
};

const Attempts = ({ of }: { of: Delivery['attempts'] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Attempt</th>
        <th scope="col">Response</th>
        <th scope="col">Duration</th>
      </tr>
    </thead>
    <tbody>
      {of.map(({ at, status, error, duration_ms }, index) => (
        <tr key={index}>
          <td>
            <Moment at={at} />
          </td>
          <td class={isTaken(status) ? '' : 'bad'}>{status ?? visible(error ?? '')}</td>
          <td>{duration_ms} ms</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const isTaken = (status: number | null): boolean => Math.floor((status ?? 0) / 100) === 2;

const Moment = ({ at }: { at: string }) => (
  <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 19)} UTC`}</time>
);
