import type { Webhook } from '../../../../lib/client/client.ts';
import { Do } from '../do.tsx';
import { Written } from '../written.tsx';

/** Whether anything is sent to a receiver at all. */
export const WebhookState = ({ of: { disabled, trusted } }: { of: Webhook }) => (
  <>
    {disabled === true && <span class="tag failed">Disabled</span>}
    {trusted === false && <span class="tag trust">Not trusted</span>}
  </>
);

/** Why nothing is sent, and how to go on. */
export const WhyNot = ({ of: { id, disabled, trusted } }: { of: Webhook }) => (
  <>
    {disabled === true && (
      <p class="box warn">
        <strong>The receiver answered 410: it wants no more.</strong> To go on, take the line{' '}
        <code>disabled: true</code> out of its file, <code>{`webhooks/${id}.md`}</code> in the
        workspace if it was made here; or delete it and add it again. What happened in the meantime
        is not sent.
      </p>
    )}
    {trusted === false && (
      <p class="box warn">
        <strong>Nothing is sent to this address yet.</strong> It came by hand or by git:{' '}
        <a href="/dashboard/settings/trust">look at what waits for your trust</a>.
      </p>
    )}
  </>
);

/** What it is told of. */
export const Events = ({ of }: { of: Webhook['events'] }) => (
  <span class="quiet">
    {of.map((name) => (name === '*' ? 'the usual events' : name)).join(', ')}
  </span>
);

/** To open it is the question, to press the button the answer. */
export const DeleteWebhook = ({ of: { id, url } }: { of: Webhook }) => (
  <details>
    <summary>
      Delete…
      <span class="unseen">
        {' '}
        <Written text={url} />
      </span>
    </summary>
    <Do call={`DELETE /webhooks/${id}`} then="/dashboard/settings/webhooks">
      <p class="quiet">
        What was not delivered is dropped, with the list of deliveries. Its secret ends: added
        again, it gets another.
      </p>
      <button type="submit" class="danger">
        Delete this webhook now
      </button>
    </Do>
  </details>
);
