import { ownValue } from '../../../store/base/own-value.ts';
import { GITHUB } from '../../codehost/github/address.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import {
  type Change,
  changeOf,
  formerName,
  type Merge,
  mergeOf,
  type PayloadRepository,
  payloadRepository,
  type Subject,
  subjectOf,
  timeOf,
} from './payload.ts';

/** The parts of a delivery that may concern a Work item. */
export interface HostNews extends PayloadRepository {
  event: string;
  action: string | undefined;
  pulls: (Subject & { change?: Change | undefined; merge?: Merge | undefined })[];
  issues: Subject[];
  /** The commit whose checks changed. */
  commit: string | undefined;
  /** The former name of the repository. */
  formerly: string | undefined;
}

/** Reads an untrusted payload. Undefined where it names no repository. */
export const readNews = (event: string, payload: Wire): HostNews | undefined => {
  const at = payloadRepository(payload);
  if (at === undefined) return undefined;
  const action = text(payload.action);
  const read = ownValue(READERS, event);
  const nothing = { pulls: [], issues: [], commit: undefined, formerly: undefined };
  return { ...at, event, action, ...nothing, ...read?.(payload) };
};

type Reader = (payload: Wire) => Partial<HostNews>;

const ofPull =
  (event: string): Reader =>
  (payload) => {
    const subject = subjectOf(payload.pull_request);
    if (subject === undefined) return {};
    const change = changeOf(event, payload);
    return { pulls: [{ ...subject, change, merge: mergeOf(change, payload) }] };
  };

// For comments, the host presents a pull request as an issue.
const ofIssue: Reader = ({ issue }) => {
  const subject = subjectOf(issue);
  if (subject === undefined) return {};
  // The node id there is that of the issue, not of the pull request.
  if ('pull_request' in record(issue)) return { pulls: [{ ...subject, node_id: undefined }] };
  return { issues: [subject] };
};

const ofCheck =
  (name: string): Reader =>
  (payload) => ({
    pulls: list(record(payload[name]).pull_requests).flatMap((pull) => subjectOf(pull) ?? []),
    commit: text(record(payload[name]).head_sha),
  });

const READERS: Readonly<Record<string, Reader>> = {
  pull_request: ofPull('pull_request'),
  pull_request_review: ofPull('pull_request_review'),
  pull_request_review_comment: ofPull('pull_request_review_comment'),
  pull_request_review_thread: ofPull('pull_request_review_thread'),
  issues: ofIssue,
  issue_comment: ofIssue,
  check_run: ofCheck('check_run'),
  check_suite: ofCheck('check_suite'),
  workflow_run: ofCheck('workflow_run'),
  status: ({ sha }) => ({ commit: text(sha) }),
  repository: (payload) => ({ formerly: formerName(payload) }),
};

/** What a record says about its issue or pull request. */
interface Known {
  host?: string;
  repository: string;
  number: number;
  node_id?: string | null | undefined;
}

/**
 * The subject that a record is about, by name or by the host's node id, because the repository may have been renamed.
 * Any record of the repository matches when it was renamed.
 */
export const matchingSubject = <T extends Subject>(
  told: HostNews,
  subjects: readonly T[],
  known: Known,
): T | Subject | undefined => {
  const isNamed = isIn(told, known);
  const found = subjects.find(
    ({ number, node_id }) =>
      (isNamed && number === known.number) || (node_id !== undefined && node_id === known.node_id),
  );
  if (found !== undefined) return found;
  const { formerly } = told;
  if (formerly === undefined || !isIn({ ...told, repository: formerly }, known)) return undefined;
  return { number: known.number, node_id: undefined, updated_at: undefined };
};

/** Whether a record is of that repository; host and repository names are case-insensitive. */
export const isIn = (
  { host, repository }: PayloadRepository,
  known: Pick<Known, 'host' | 'repository'>,
): boolean =>
  repository.toLowerCase() === known.repository.toLowerCase() &&
  host.toLowerCase() === (known.host ?? GITHUB).toLowerCase();

/** The time of the host's last report, by its own clock, where it is newer than the known one. */
export const newest = (
  { updated_at }: Subject,
  { told_at }: { told_at?: string | null | undefined },
): { told_at?: string } =>
  updated_at !== undefined && updated_at > (told_at ?? '') ? { told_at: updated_at } : {};

/** Whether a payload is older than the known record. */
export const isOlder = ({ updated_at }: Subject, known: string | null | undefined): boolean => {
  const seen = timeOf(known ?? undefined);
  return updated_at !== undefined && seen !== undefined && updated_at < seen;
};
