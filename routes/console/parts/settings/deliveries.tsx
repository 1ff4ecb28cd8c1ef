import { useContext, useState } from 'preact/hooks';
import type { Delivery, Webhook } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import { InReach } from '../do.tsx';
import { DeliveryRow } from './delivery.tsx';

/** What was sent, as far as one page of it reaches. */
export interface Found {
  deliveries: Delivery[];
  /** There are older ones. */
  isMore: boolean;
}

const STEP = 30;

interface DeliveriesProps extends Found {
  webhook: Webhook;
  /** These are not the newest. */
  isOlder: boolean;
}

/** What was sent to a receiver, the newest first, and more as it is asked for. */
export const Deliveries = ({ webhook, isOlder, ...first }: DeliveriesProps) => {
  const { all, isMore, more } = useOlder(webhook.id, first);
  const here = `/dashboard/settings/webhooks/${webhook.id}`;
  const isOpen = webhook.disabled !== true && webhook.trusted !== false;
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      {isOlder && (
        <p>
          <a href={here}>The newest</a>
        </p>
      )}
      {all.length === 0 && (
        <p class="quiet">
          Nothing was sent yet. Change a Work item, and what it is told stands here.
        </p>
      )}
      <ol class="rows" aria-label="Deliveries">
        {all.map((delivery) => (
          <DeliveryRow
            key={delivery.id}
            {...{ delivery, isOpen, at: `/webhooks/${webhook.id}/deliveries` }}
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
    </section>
  );
};

/** What is older than the newest, as far as it was asked for; the newest are kept up by the page. */
const useOlder = (id: string, first: Found) => {
  const api = useContext(InReach);
  const [older, setOlder] = useState<Found>();
  const known = new Set(first.deliveries.map((one) => one.id));
  const others = older?.deliveries.filter((one) => !known.has(one.id)) ?? [];
  const all = [...first.deliveries, ...others];
  const more = (event: Event) => {
    if (api === undefined) return;
    event.preventDefault();
    void deliveriesOf(api, id, all.at(-1)?.id).then(
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
