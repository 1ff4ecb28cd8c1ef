import type { TokenSource } from '../code-host.ts';

/** What came of a request that failed. */
export type Failure =
  | { kind: 'answer'; status: number; headers: Headers; body: unknown }
  /** An answer of GraphQL's, whose status is 200. */
  | { kind: 'errors'; errors: readonly unknown[]; headers: Headers }
  | { kind: 'timeout'; seconds: number }
  /** No answer at all: the reason is of the network. */
  | { kind: 'silence'; cause: unknown };

export type Headers = Readonly<Record<string, string | number | undefined>>;

/** What was asked, for the words of an error. */
export interface RequestContext {
  host: string;
  /** Of its API. */
  base: string;
  /** Such as `acme/app` or `acme/app#12`. */
  about: string;
  write: boolean;
  source: TokenSource | null;
  /** Where it was asked by GraphQL; undefined for REST. */
  graphql?: string;
  /** What GitHub asks for here, where its own words do not say. */
  needs?: string;
}

/** An answer, by REST or GraphQL, in one form. */
export interface HostAnswer {
  status: number;
  headers: Headers;
  message: string;
  /** What exactly is wrong, in GitHub's words. */
  details: string[];
  /** Of GraphQL's errors. */
  types: string[];
  /** GitHub's own servers number each request: without it, somebody before them answered. */
  numbered: boolean;
  isJson: boolean;
}
