import { Type } from 'typebox';
import { takeDelivery } from '../lib/host/inbound/deliveries.ts';
import { route } from '../lib/http/route.ts';
import { Id } from '../store/records/id.ts';

const MOST_BYTES = 26_214_400;

export const codehostWebhookRoutes = [
  route('POST /api/codehost/webhook', {
    operationId: 'receiveCodehostEvent',
    anyone: true,
    summary: 'Take an event from the code host',
    description:
      "For whatever forwards the host's webhook to this machine, such as `gh webhook forward`, with all its headers and its body as it is. Only what `X-Hub-Signature-256` signs with the secret of the settings is taken; a delivery that was taken before, by `X-GitHub-Delivery` or by its event and body, is answered with `duplicate`. It adds to timelines and marks links and pull requests as stale. Nobody is asked, and no Work item moves.",
    body: Type.Unsafe<Buffer>(
      Type.Object({}, { additionalProperties: true, description: "The host's payload" }),
    ),
    raw: true,
    maxBytes: MOST_BYTES,
    response: Type.Object({
      event: Type.String(),
      duplicate: Type.Boolean({ description: 'It was taken before, and nothing was done' }),
      case_ids: Type.Array(Id, { description: 'The Work items that it concerned' }),
      note: Type.String(),
    }),
    errors: ['codehost_no_webhook_secret', 'unreadable_record', 'file_busy'],
    handler: ({ headers, body }, { store }) => takeDelivery(store, { headers, bytes: body }),
  }),
];
