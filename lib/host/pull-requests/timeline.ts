import {
  appendTimeline,
  type NewTransition,
  readTimeline,
} from '../../../store/codehost/timeline.ts';
import type { PullTransition } from '../../../store/records/pull-request.ts';
import type { Store } from '../../../store/store.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import type { Pull, PullEvent, PullState } from '../../codehost/code-host.ts';
import { inMilliseconds } from './record.ts';

/** The changes of the Work item's pull requests, in order of occurrence. */
export const pullTimeline = (store: Store, caseId: string): PullTransition[] => {
  checkCase(store, caseId);
  return readTimeline(store, caseId).sort(byOccurrence);
};

export const byOccurrence = (a: PullTransition, b: PullTransition): number =>
  apart(a.occurred_at, b.occurred_at) || a.seq - b.seq;

/** Appends the transitions that are not known yet, and returns them. */
export const addTransitions = async (
  store: Store,
  caseId: string,
  told: readonly NewTransition[],
): Promise<PullTransition[]> =>
  (await appendTimeline(store, caseId, (known) => unknown(known, told))) ?? [];

type Told = Pick<
  NewTransition,
  'number' | 'event' | 'to' | 'occurred_at' | 'source' | 'host_event_id'
>;

/**
 * The transitions in `told` that are not in `known`. They are matched by the host's id; transitions of the daemon and
 * of webhooks have none, so those match a similar one within a minute, by the host's clock. Each known transition
 * matches once.
 */
export const unknown = <T extends Told>(known: readonly Told[], told: readonly T[]): T[] => {
  const left = [...known];
  const take = (isIt: (each: Told) => boolean): boolean => {
    const at = left.findIndex(isIt);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  };
  const identified = told.filter(
    ({ host_event_id }) =>
      host_event_id === null || !take((each) => each.host_event_id === host_event_id),
  );
  return identified.filter((one) => !take((each) => isAlike(each, one)));
};

const isAlike = (a: Told, b: Told): boolean =>
  (a.host_event_id === null || b.host_event_id === null) &&
  a.number === b.number &&
  a.event === b.event &&
  a.to === b.to &&
  Math.abs(Date.parse(a.occurred_at) - Date.parse(b.occurred_at)) <= MINUTE_MS;

const MINUTE_MS = 60_000;

type Observed = Pick<NewTransition, 'observed_at' | 'source'>;

/** The transition that opens a pull request, with the same id from every source. */
export const opened = (
  pull: Pick<Pull, 'number' | 'node_id' | 'author' | 'created_at'>,
  to: PullState,
  observed: Observed & { head_sha: string | null },
): NewTransition => ({
  number: pull.number,
  event: 'opened',
  from: 'none',
  to,
  occurred_at: inMilliseconds(pull.created_at),
  ...observed,
  actor: pull.author,
  host_event_id: `opened:${pull.node_id}`,
});

/** All changes of state that the host reports for a pull request, from its opening on. */
export const transitionsOf = (
  pull: Pull,
  events: readonly PullEvent[],
  observed: Observed,
): NewTransition[] => {
  const first = events.find(({ kind }) => kind === 'ready' || kind === 'draft')?.kind;
  const isDraft = first === undefined ? pull.state === 'draft' : first === 'ready';
  let from: PullState = isDraft ? 'draft' : 'open';
  const found = [opened(pull, from, { ...observed, head_sha: null })];
  let draft = isDraft;
  for (const event of events) {
    if (event.kind === 'ready' || event.kind === 'draft') draft = event.kind === 'draft';
    const to = after(event, from, draft);
    if (to === from || isOfMerge(event, events)) continue;
    found.push({
      number: pull.number,
      event: event.kind,
      from,
      to,
      occurred_at: inMilliseconds(event.at),
      ...observed,
      actor: event.actor,
      head_sha: event.head_sha,
      host_event_id: event.id,
    });
    from = to;
  }
  return found;
};

/** The warning for events that cannot be used, so that the timeline is without them. */
export const oddEvents = (unread: readonly string[]): string[] =>
  unread.length === 0 ? [] : [`The timeline is not whole: ${unread.join('; ')}.`];

const after = ({ kind }: PullEvent, from: PullState, draft: boolean): PullState => {
  if (kind === 'merged' || from === 'merged') return 'merged';
  if (kind === 'closed') return 'closed';
  const isStanding = from !== 'closed' && (kind === 'ready' || kind === 'draft');
  if (kind === 'reopened' || isStanding) return draft ? 'draft' : 'open';
  return from;
};

// The host reports a merge as a close, too.
const isOfMerge = ({ kind, at }: PullEvent, events: readonly PullEvent[]): boolean =>
  kind === 'closed' &&
  events.some((other) => other.kind === 'merged' && Math.abs(apart(other.at, at)) <= SAME_MS);

const SAME_MS = 5000;

const apart = (a: string, b: string): number => Date.parse(a) - Date.parse(b);
