import type { Delivery, Webhook } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { definePage } from '../common/page.ts';
import { Empty } from '../parts/facts.tsx';
import { Settings } from '../parts/frames.tsx';
import { RelativeTime } from '../parts/relative-time.tsx';
import { DeliveryTag } from '../parts/settings/deliveries.tsx';
import {
  DeleteWebhook,
  Events,
  NewWebhook,
  NewWebhookSecret,
  WebhookState,
} from '../parts/settings/webhook.tsx';

interface Shown {
  webhooks: Webhook[];
  /** The number of webhooks not shown. */
  more: number;
  /** The last delivery, by the webhook's id. */
  last: Record<string, Pick<Delivery, 'status' | 'attempts'>>;
}

const MOST = 200;
/** Each of them reads a log. */
const MOST_LAST = 20;

const View = ({ webhooks, more, last }: Shown) => (
  <Settings tab="Webhooks">
    <NewWebhookSecret />
    <p class="quiet">
      Each event is sent to these addresses, signed, until the receiver accepts it.
    </p>
    {webhooks.length === 0 ? (
      <Empty title="No webhooks.">
        <p>Add the address of a program that should receive events.</p>
      </Empty>
    ) : (
      <ul class="rows" aria-label="Webhooks">
        {webhooks.map((webhook) => (
          <Row key={webhook.id} webhook={webhook} last={last[webhook.id]} />
        ))}
      </ul>
    )}
    {more > 0 && <p class="quiet">{more} more are listed by GET /webhooks.</p>}
    <NewWebhook />
  </Settings>
);

const Row = ({ webhook, last }: { webhook: Webhook; last: Shown['last'][string] | undefined }) => (
  <li class="row" data-row={webhook.id} tabIndex={-1}>
    <div class="head">
      <h2 class="title mono">
        <a href={`/dashboard/settings/webhooks/${webhook.id}`} data-key="o">
          {visible(webhook.url)}
        </a>
      </h2>
      <WebhookState of={webhook} />
      {last !== undefined && <DeliveryTag of={last} />}
      <RelativeTime at={webhook.created_at} />
    </div>
    <p class="message">
      <Events of={webhook.events} />
    </p>
    <DeleteWebhook of={webhook} />
  </li>
);

/** All webhooks. */
export const page = definePage<Shown>({
  title: () => 'Webhooks',
  load: async ({ call }) => {
    const all = await call('GET /webhooks');
    const webhooks = all.slice(0, MOST);
    const query = { order: 'newest', limit: 1 } as const;
    const lasts = webhooks.slice(0, MOST_LAST).map(async ({ id }) => {
      const [one] = await call('GET /webhooks/{id}/deliveries', { id, query }).catch(() => []);
      return one === undefined ? [] : [[id, { status: one.status, attempts: one.attempts }]];
    });
    const last = Object.fromEntries((await Promise.all(lasts)).flat());
    return { webhooks, more: all.length - webhooks.length, last };
  },
  View,
  follows: ({ event_type }) => event_type === 'attention_changed',
});
