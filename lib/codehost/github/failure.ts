import type { TokenSource } from '../code-host.ts';

/** How a request failed. */
export type Failure =
  | { kind: 'answer'; status: number; headers: Headers; body: unknown }
  /** GraphQL errors, in a response with status 200. */
  | { kind: 'errors'; errors: readonly unknown[]; headers: Headers }
  | { kind: 'timeout'; seconds: number }
  /** A response over the size limit. */
  | { kind: 'too_large'; bytes: number }
  /** No response, because of a network error. */
  | { kind: 'unreachable'; cause: unknown };

export type Headers = Readonly<Record<string, string | number | undefined>>;

/** The request, for the text of an error. */
export interface RequestContext {
  host: string;
  /** The base URL of its API. */
  base: string;
  /** Such as `acme/app` or `acme/app#12`. */
  about: string;
  write: boolean;
  source: TokenSource | null;
  /** The GraphQL URL; undefined for REST. */
  graphql?: string;
  /** The required permission, if GitHub's error does not name it. */
  needs?: string;
}

/** A failed response of REST or GraphQL in one form. */
export interface HostAnswer {
  status: number;
  headers: Headers;
  message: string;
  /** GitHub's messages about single fields. */
  details: string[];
  /** The types of GraphQL errors. */
  types: string[];
  /** Whether GitHub's request id is present; without it, a proxy answered. */
  numbered: boolean;
  isJson: boolean;
}
