import { GITHUB } from '../../codehost/github/address.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import {
  type Change,
  changeOf,
  formerName,
  type PayloadRepository,
  payloadRepository,
  type Subject,
  subjectOf,
  timeOf,
} from './payload.ts';

/** What a delivery tells of, as far as it may concern a Work item. */
export interface HostNews extends PayloadRepository {
  event: string;
  action: string | undefined;
  pulls: (Subject & { change?: Change | undefined })[];
  issues: Subject[];
  /** A commit whose checks changed. */
  commit: string | undefined;
  /** What the repository was called before. */
  formerly: string | undefined;
}

/** The Work items that something was told, and those that knew of something newer already. */
export interface Heard {
  told: string[];
  older: string[];
}

/** Reads a payload, trusting no part of it. Undefined where it tells of no repository. */
export const readNews = (event: string, payload: Wire): HostNews | undefined => {
  const at = payloadRepository(payload);
  if (at === undefined) return undefined;
  const action = text(payload.action);
  const read = READERS[event];
  const nothing = { pulls: [], issues: [], commit: undefined, formerly: undefined };
  return { ...at, event, action, ...nothing, ...read?.(payload) };
};

type Reader = (payload: Wire) => Partial<HostNews>;

const ofPull =
  (event: string): Reader =>
  (payload) => {
    const subject = subjectOf(payload.pull_request);
    if (subject === undefined) return {};
    return { pulls: [{ ...subject, change: changeOf(event, payload) }] };
  };

// A pull request is an issue too, for whoever comments on it.
const ofIssue: Reader = ({ issue }) => {
  const subject = subjectOf(issue);
  if (subject === undefined) return {};
  // What identifies it is the issue's there, not the pull request's.
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

/** What a record is about, as far as it names it. */
interface Known {
  host?: string;
  repository: string;
  number: number;
  node_id?: string | null | undefined;
}

/**
 * Which of these subjects a record is about: by its name, or by the host's own id, for the repository may be called
 * otherwise by now. Any, where it is the repository that was renamed.
 */
export const meant = <T extends Subject>(
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

/** Whether a record is of that repository; neither hosts nor repositories know upper case. */
export const isIn = (
  { host, repository }: PayloadRepository,
  known: Pick<Known, 'host' | 'repository'>,
): boolean =>
  repository.toLowerCase() === known.repository.toLowerCase() &&
  host.toLowerCase() === (known.host ?? GITHUB).toLowerCase();

/** When the host has last told of something, by its own clock, where that is later than was known. */
export const newest = (
  { updated_at }: Subject,
  { told_at }: { told_at?: string | null | undefined },
): { told_at?: string } =>
  updated_at !== undefined && updated_at > (told_at ?? '') ? { told_at: updated_at } : {};

/** Whether a payload was made before what is known was read. */
export const isOlder = ({ updated_at }: Subject, known: string | null | undefined): boolean => {
  const seen = timeOf(known ?? undefined);
  return updated_at !== undefined && seen !== undefined && updated_at < seen;
};
