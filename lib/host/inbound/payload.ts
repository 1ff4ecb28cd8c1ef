import { isUtf8 } from 'node:buffer';
import { orElse } from '../../../store/base/attempt.ts';
import { GITHUB } from '../../codehost/github/address.ts';
import { ServiceError } from '../../errors.ts';
import { number, record, text, type Wire } from '../../text/unknown-json.ts';

/** The payload of a delivery. Throws `bad_request` for what is no JSON object. */
export const payloadOf = (bytes: Buffer): Wire => {
  const value = isUtf8(bytes) ? parsed(bytes.toString('utf8')) : undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Wire;
  throw new ServiceError(
    'bad_request',
    'The body is no JSON object in UTF-8. Let the code host send it as application/json, and let nobody change it.',
  );
};

// What is nested too deeply for the parser is no payload either.
const parsed = (json: string): unknown => orElse(() => JSON.parse(json), undefined);

/** A repository as the code host names it: `github.com` and `owner/name`. */
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

/** How it was called before, in the event that tells of its new name or owner. */
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

/** An issue or a pull request that a payload is about. */
export interface Subject {
  number: number;
  node_id: string | undefined;
  /** When it last changed, by the host's clock. */
  updated_at: string | undefined;
}

export const subjectOf = (value: unknown): Subject | undefined => {
  const { number: counted, node_id, updated_at } = record(value);
  const found = number(counted);
  if (found === undefined) return undefined;
  return { number: found, node_id: text(node_id), updated_at: timeOf(updated_at) };
};

/** In milliseconds, as all times are kept here; undefined for what is none. */
export const timeOf = (value: unknown): string | undefined => {
  const time = Date.parse(text(value) ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

export const payloadLogin = (value: unknown): string | null => text(record(value).login) ?? null;
