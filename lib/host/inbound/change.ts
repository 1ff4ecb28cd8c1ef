import type { PullTransition } from '../../../store/records/pull-request.ts';
import type { PullState } from '../../codehost/code-host.ts';
import { record, text, type Wire } from '../../text/unknown-json.ts';
import { payloadLogin, timeOf } from './payload.ts';

/** What happened to a pull request, as the timeline keeps it, but for what was before. */
export interface Change {
  event: PullTransition['event'];
  to: PullState;
  occurred_at: string;
  actor: string | null;
  head_sha: string | null;
  host_event_id: string | null;
}

/** What a payload tells of a pull request's state; undefined for what belongs into no timeline, such as a label. */
export const changeOf = (name: string, payload: Wire): Change | undefined => {
  const pull = record(payload.pull_request);
  const event = name === 'pull_request' ? ofPull(payload, pull) : ofReview(name, payload);
  const occurred_at = event && occurredAt(event, payload, pull);
  if (event === undefined || occurred_at === undefined) return undefined;
  const actor = event === 'review' ? record(payload.review).user : undefined;
  return {
    event,
    to: stateOf(pull),
    occurred_at,
    actor: payloadLogin(actor ?? payload.sender),
    head_sha: text(record(pull.head).sha) ?? null,
    host_event_id: idOf(event, payload, pull),
  };
};

const ACTIONS: Readonly<Record<string, Change['event']>> = {
  opened: 'opened',
  reopened: 'reopened',
  ready_for_review: 'ready',
  converted_to_draft: 'draft',
  synchronize: 'head_pushed',
};

const ofPull = (payload: Wire, pull: Wire): Change['event'] | undefined => {
  const action = text(payload.action) ?? '';
  if (action === 'closed') return isMerged(pull) ? 'merged' : 'closed';
  if (action === 'edited') return 'title' in record(payload.changes) ? 'renamed' : undefined;
  return Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
};

const ofReview = (name: string, { action }: Wire): Change['event'] | undefined =>
  name === 'pull_request_review' && (action === 'submitted' || action === 'dismissed')
    ? 'review'
    : undefined;

const isMerged = ({ merged, merged_at }: Wire): boolean =>
  merged === true || text(merged_at) !== undefined;

// The payload of a review has a shorter pull request, without `merged`.
const stateOf = (pull: Wire): PullState => {
  if (isMerged(pull)) return 'merged';
  if (pull.state === 'closed') return 'closed';
  return pull.draft === true ? 'draft' : 'open';
};

const TIMES: Partial<Record<Change['event'], string>> = {
  opened: 'created_at',
  closed: 'closed_at',
  merged: 'merged_at',
};

const occurredAt = (event: Change['event'], payload: Wire, pull: Wire): string | undefined => {
  const { review, action } = payload;
  const reviewed = event === 'review' && action === 'submitted';
  const own = reviewed ? record(review).submitted_at : pull[TIMES[event] ?? ''];
  return timeOf(own) ?? timeOf(pull.updated_at);
};

/**
 * What tells it from others. Of a change of state none: when the host is asked it tells that once more, with an id that
 * no payload has.
 */
const idOf = (event: Change['event'], payload: Wire, pull: Wire): string | null => {
  const { action, review } = payload;
  if (event === 'opened') return `opened:${text(pull.node_id)}`;
  if (event === 'head_pushed') return `head:${text(record(pull.head).sha)}`;
  if (event === 'review') return `review:${String(record(review).id)}:${String(action)}`;
  if (event === 'renamed') return `renamed:${text(pull.updated_at)}`;
  return null;
};
