import type { EventBody, EventRecord } from '../../store/records/event.ts';
import type { Registration } from '../../store/webhooks.ts';

/** Whether a receiver asked for this event: of its Work item, where it has one, and of a type it names. */
export const wants = ({ scope, matter }: Registration, event: EventBody): boolean => {
  if (scope !== undefined && event.payload.case_id !== scope) return false;
  const { events = ['*'] } = matter;
  return events.includes('*') || events.includes(event.event_type);
};

/** The place of the first event after `seq`, in events ordered by it. */
export const firstAfter = (events: readonly EventRecord[], seq: number): number => {
  let [from, to] = [0, events.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((events[middle]?.seq ?? 0) <= seq) from = middle + 1;
    else to = middle;
  }
  return from;
};
