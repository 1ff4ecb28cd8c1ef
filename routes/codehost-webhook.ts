import { Type } from 'typebox';
import { processDelivery } from '../lib/host/inbound/deliveries.ts';
import { route } from '../lib/http/route.ts';
import { Id } from '../store/records/fields.ts';

const MOST_BYTES = 26_214_400;

export const codehostWebhookRoutes = [
  route('POST /api/codehost/webhook', {
    operationId: 'receiveCodehostEvent',
    anyone: true,
    summary: 'Receive an event from the code host',
    description:
      "For a program that forwards the code host's webhooks unchanged to this machine, such as `gh webhook forward`. Requires a valid `X-Hub-Signature-256` with the secret in the settings. A delivery that was received before, by `X-GitHub-Delivery` or by its event and body, is answered with `duplicate`. Adds entries to timelines, and marks links and pull requests as stale. Makes no request to the code host, and changes no state of a Work item.",
    body: Type.Unsafe<Buffer>(
      Type.Object({}, { additionalProperties: true, description: "The code host's payload" }),
    ),
    raw: true,
    maxBytes: MOST_BYTES,
    response: Type.Object({
      event: Type.String(),
      duplicate: Type.Boolean({
        description: 'The delivery was received before, and nothing was done',
      }),
      case_ids: Type.Array(Id, { description: 'The affected Work items' }),
      note: Type.String(),
    }),
    errors: ['codehost_no_webhook_secret', 'unreadable_record', 'file_busy'],
    handler: ({ headers, body }, { store }) => processDelivery(store, { headers, bytes: body }),
  }),
];
