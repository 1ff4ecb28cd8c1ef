import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from './event.ts';
import { Id, Time } from './id.ts';

export const EventName = Type.Enum([...EVENT_TYPES, '*'], {
  description: 'An event type, or `*` for all',
});

/** The front matter of webhooks/<id>.md, global or of one Work item. Never a secret: those are in `.dossier/secrets`. */
export const WebhookMatter = Type.Object({
  id: Id,
  url: Type.String({ format: 'uri', pattern: '^https?://' }),
  events: Type.Optional(Type.Array(EventName, { minItems: 1 })),
  /** Set when the receiver answered 410: it wants no more. */
  disabled: Type.Optional(Type.Boolean()),
  created_at: Time,
});
export type WebhookMatter = Static<typeof WebhookMatter>;
