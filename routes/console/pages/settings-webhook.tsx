import type { Webhook } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { definePage } from '../common/page.ts';
import { Fact } from '../parts/facts.tsx';
import { Settings } from '../parts/frames.tsx';
import { Copy } from '../parts/links.tsx';
import { RelativeTime } from '../parts/relative-time.tsx';
import { Deliveries, deliveriesOf, type Found } from '../parts/settings/deliveries.tsx';
import {
  DeleteWebhook,
  DeliveryStopped,
  Events,
  WebhookState,
} from '../parts/settings/webhook.tsx';

interface Shown extends Found {
  webhook: Webhook;
  /** The list does not begin with the newest. */
  isOlder: boolean;
}

const View = (shown: Shown) => {
  const { webhook } = shown;
  const { id, url, events, created_at } = webhook;
  return (
    <Settings tab="Webhooks">
      <p>
        <a href="/dashboard/settings/webhooks" data-key="u">
          All webhooks
        </a>
      </p>
      <div class="line">
        <h2 class="mono">{visible(url)}</h2>
        <Copy class="small" name="the address" text={url} />
        <WebhookState of={webhook} />
      </div>
      <DeliveryStopped of={webhook} />
      <dl class="facts">
        <Fact name="Events">
          <Events of={events} />
        </Fact>
        <Fact name="Added">
          <RelativeTime at={created_at} />
        </Fact>
      </dl>
      <DeleteWebhook of={webhook} />
      <Deliveries key={id} {...shown} />
    </Settings>
  );
};

/** A webhook and its deliveries. */
export const page = definePage<Shown>({
  title: () => 'Deliveries',
  load: async (api, { params, query }) => {
    const { id = '' } = params;
    const [webhook, found] = await Promise.all([
      api.call('GET /webhooks/{id}', { id }),
      deliveriesOf(api, id, query.after),
    ]);
    return { webhook, ...found, isOlder: query.after !== undefined };
  },
  View,
});
