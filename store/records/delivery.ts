import { type Static, Type } from 'typebox';
import { EVENT_TYPES, EventBody } from './event.ts';
import { Id, orNull, Time } from './fields.ts';

const attempt = {
  at: Time,
  status: orNull(Type.Integer(), 'The HTTP status of the response; null if there was none'),
  error: orNull(Type.String(), 'Why there was no response'),
  duration_ms: Type.Integer(),
};

/** One line of `.dossier/deliveries/<webhook id>.ndjson`: one attempt and its result. */
export const DeliveryLine = Type.Object({
  id: Id,
  seq: Type.Integer(),
  attempt: Type.Integer(),
  ...attempt,
  /** `closed`: no attempt, because the receiver was too far behind, or the webhook was disabled. */
  outcome: Type.Enum(['delivered', 'retrying', 'failed', 'closed']),
  next_at: Type.Union([Type.Null(), Time]),
  body: EventBody,
});
export type DeliveryLine = Static<typeof DeliveryLine>;

/** One event for one receiver, as it is served. */
export const Delivery = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Sent as `X-Service-Delivery`, every time' }),
    event_type: Type.Enum(EVENT_TYPES),
    status: Type.Enum(['waiting', 'retrying', 'delivered', 'failed', 'closed'], {
      description:
        '`waiting`: an earlier one comes first. `closed`: it is no longer retried, because the receiver was too far behind (`webhooks` in the settings), or the webhook was disabled; redeliver it',
    }),
    next_attempt_at: Type.Union([Type.Null(), Time]),
    attempts: Type.Array(Type.Object(attempt)),
    body: EventBody,
  },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof Delivery>;
