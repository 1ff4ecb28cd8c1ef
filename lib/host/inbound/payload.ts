import { isUtf8 } from 'node:buffer';
import { orElse } from '../../../store/base/attempt.ts';
import { ownValue } from '../../../store/base/own-value.ts';
import type { PullTransition } from '../../../store/records/pull-request.ts';
import type { PullState } from '../../codehost/code-host.ts';
import { GITHUB } from '../../codehost/github/address.ts';
import { ServiceError } from '../../errors.ts';
import { number, record, text, type Wire } from '../../text/unknown-json.ts';
import { isObject } from '../../tools/git/read/refs.ts';

/** The payload of a delivery. Throws `bad_request` for anything but a JSON object. */
export const payloadOf = (bytes: Buffer): Wire => {
  const value = isUtf8(bytes) ? parsed(bytes.toString('utf8')) : undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Wire;
  throw new ServiceError(
    'bad_request',
    'The body is not a JSON object in UTF-8. Set the content type of the webhook to application/json.',
  );
};

// Undefined too where the nesting is too deep for the parser.
const parsed = (json: string): unknown => orElse(() => JSON.parse(json), undefined);

/** A repository by host and `owner/name`. */
export interface PayloadRepository {
  host: string;
  repository: string;
}

export const payloadRepository = (payload: Wire): PayloadRepository | undefined => {
  const { full_name, html_url } = record(payload.repository);
  const repository = text(full_name);
  if (repository === undefined) return undefined;
  return { host: hostOf(text(html_url)), repository };
};

const hostOf = (url: string | undefined): string =>
  url !== undefined && URL.canParse(url) ? new URL(url).host : GITHUB;

/** The former name of the repository, in the event of its rename or transfer. */
export const formerName = (payload: Wire): string | undefined => {
  const { name, full_name } = record(payload.repository);
  const { repository, owner } = record(payload.changes);
  const formerly = text(record(record(repository).name).from);
  const [now] = (text(full_name) ?? '').split('/');
  if (formerly !== undefined) return `${now}/${formerly}`;
  const { user, organization } = record(record(owner).from);
  const login = text(record(user).login) ?? text(record(organization).login);
  return login === undefined ? undefined : `${login}/${text(name)}`;
};

/** The issue or pull request of a payload. */
export interface Subject {
  number: number;
  node_id: string | undefined;
  /** The last change, by the host's clock. */
  updated_at: string | undefined;
}

export const subjectOf = (value: unknown): Subject | undefined => {
  const { number: counted, node_id, updated_at } = record(value);
  const found = number(counted);
  if (found === undefined) return undefined;
  return { number: found, node_id: text(node_id), updated_at: timeOf(updated_at) };
};

/** An ISO time with milliseconds, as in all records; undefined for an invalid one. */
export const timeOf = (value: unknown): string | undefined => {
  const time = Date.parse(text(value) ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

/** A change of a pull request as in the timeline, but for the state before. */
export interface Change {
  event: PullTransition['event'];
  to: PullState;
  occurred_at: string;
  actor: string | null;
  head_sha: string | null;
  host_event_id: string | null;
}

/** The change of a pull request in a payload; undefined for one that is not in timelines, such as a label. */
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
    actor: text(record(actor ?? payload.sender).login) ?? null,
    head_sha: text(record(pull.head).sha) ?? null,
    host_event_id: idOf(event, payload, pull),
  };
};

/** What a merge tells of a pull request, whose record may have an older head and base. */
export interface Merge {
  merged_at: string;
  base_ref: string;
  head_sha: string;
  merge_commit: string | null;
}

export const mergeOf = (change: Change | undefined, payload: Wire): Merge | undefined => {
  const { base, merge_commit_sha } = record(payload.pull_request);
  const base_ref = text(record(base).ref);
  const { event, occurred_at: merged_at, head_sha } = change ?? {};
  if (event !== 'merged' || merged_at === undefined || !base_ref) return undefined;
  if (!isObject(head_sha)) return undefined;
  const merge_commit = text(merge_commit_sha);
  return {
    merged_at,
    base_ref,
    head_sha,
    merge_commit: isObject(merge_commit) ? merge_commit : null,
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
  return ownValue(ACTIONS, action);
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
 * The id of a change in the timeline. A change of state has none here: the host's API reports it again with an id that
 * payloads lack.
 */
const idOf = (event: Change['event'], payload: Wire, pull: Wire): string | null => {
  const { action, review } = payload;
  if (event === 'opened') return `opened:${text(pull.node_id)}`;
  if (event === 'head_pushed') return `head:${text(record(pull.head).sha)}`;
  if (event === 'review') return `review:${String(record(review).id)}:${String(action)}`;
  if (event === 'renamed') return `renamed:${text(pull.updated_at)}`;
  return null;
};
