import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from './event.ts';
import { Id, Time, textOf } from './fields.ts';

const EventName = Type.Enum([...EVENT_TYPES, '*'], {
  description: 'An event type, or `*` for the seven default types',
});

/** The front matter of webhooks/<id>.md, global or of one Work item. Never a secret: those are in `.dossier/secrets`. */
export const WebhookMatter = Type.Object({
  id: Id,
  url: textOf('receiver'),
  events: Type.Optional(Type.Array(EventName, { minItems: 1 })),
  /** Set when the receiver responds with 410. */
  disabled: Type.Optional(Type.Boolean()),
  created_at: Time,
});
export type WebhookMatter = Static<typeof WebhookMatter>;

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Where events are sent: http or https, without a user or password in it',
});

export const CaseWebhookBody = Type.Object({ url: Url });

export const WebhookBody = Type.Object({
  url: Url,
  events: Type.Optional(Type.Array(EventName, { minItems: 1, description: 'Default: `["*"]`' })),
  secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        'The key of the signatures, one line. Stock verifiers take `whsec_` and a key in base64 as it is (`new Webhook(secret)`), any other text as `new Webhook(secret, { format: "raw" })`. Without it the daemon generates one of the first form',
    }),
  ),
});
export type WebhookBody = Static<typeof WebhookBody>;

/** A registration as the API returns it. */
export const Webhook = Type.Object(
  {
    id: Id,
    url: Type.String(),
    events: Type.Array(EventName),
    disabled: Type.Optional(
      Type.Boolean({
        description:
          'True if the receiver responded with 410 (Gone), or if set by hand. Remove the line in the file to send again',
      }),
    ),
    trusted: Type.Optional(
      Type.Boolean({
        description:
          'False until the operator trusts this address and these events; nothing is sent before that (`GET /trust`)',
      }),
    ),
    created_at: Time,
  },
  { $id: 'Webhook' },
);
export type Webhook = Static<typeof Webhook>;

export const NewWebhook = Type.Object(
  {
    ...Webhook.properties,
    secret: Type.String({ description: 'Shown only in this response' }),
  },
  { $id: 'NewWebhook' },
);
export type NewWebhook = Static<typeof NewWebhook>;
