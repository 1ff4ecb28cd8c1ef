import { type EventBody, isStarred } from '../../../store/records/event.ts';
import type { Registration } from '../../../store/webhooks.ts';

/** Whether a receiver asked for this event: of its Work item, where it has one, and of a type it names. */
export const wants = ({ scope, matter }: Registration, event: EventBody): boolean => {
  if (scope !== undefined && event.payload.case_id !== scope) return false;
  const { events = ['*'] } = matter;
  const isAll = events.includes('*') && isStarred(event.event_type);
  return isAll || events.includes(event.event_type);
};
