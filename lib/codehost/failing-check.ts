export interface FailingChecks {
  checks: FailingCheck[];
  /** Why some of them are not known, each in a sentence: what the token may not read. */
  unread: string[];
}

export interface FailingCheck {
  /** As the host counts runs of checks; `status-` before it for what another service has told of a commit. */
  id: string;
  name: string;
  /** The host's word, such as `failure` or `timed_out`. */
  conclusion: string;
  /** Who checks. */
  app: string | null;
  /** What that says of it, its annotations too; empty where nothing. */
  said: string;
  url: string | null;
  at: string | null;
  /** Of the host's own runners: its log may be there. */
  job: number | null;
}

export interface JobLog {
  /** The first that failed. */
  step: { number: number; name: string } | null;
  /** The end of what the step said, everything in it to be seen; null where it could not be read. */
  end: string | null;
  /** Why it is null. */
  why: string | null;
}
