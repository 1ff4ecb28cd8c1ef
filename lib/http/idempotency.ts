import { withSeededIds } from '../../store/base/new-id.ts';
import { sha256 } from '../../store/base/sha256.ts';
import type { KeyedCall } from '../../store/workspace/idempotency.ts';
import { badField, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { bodyBytes } from './answer.ts';
import { isUpload } from './body.ts';
import { Answer, type Headers, type Route } from './route.ts';

export const KEY_HEADER = 'idempotency-key';
// Marks an answer that was given before.
const REPLAYED = { 'idempotent-replayed': 'true' };

/** Whether the route creates or starts something: a POST that accepts an Idempotency-Key. */
export const isCreating = ({
  method,
  status,
  orStatus,
}: Pick<Route, 'method' | 'status' | 'orStatus'>): boolean =>
  method === 'POST' && (status === 201 || status === 202 || orStatus === 201);

/** What identifies a request besides its key. */
interface IdempotentRequest {
  headers: Headers;
  /** Path and query. */
  url: string;
  body: unknown;
}

/**
 * Makes a call, or replays the stored answer to the same Idempotency-Key of the last 24 hours, also after a restart. Throws
 * `idempotency_in_use` while the first call is in progress, and `idempotency_mismatch` if it was a different request.
 */
export const withIdempotency = async (
  route: Route,
  request: IdempotentRequest,
  service: Service,
  make: () => Promise<unknown>,
): Promise<unknown> => {
  const key = readKey(request.headers[KEY_HEADER]);
  if (key === undefined) return make();
  let made: unknown;
  const once = await service.firstAnswers.once({
    key,
    said: fingerprint(route, request),
    make: (call) =>
      withSeededIds(call, async () => {
        made = await make();
        return toStored(route, made);
      }),
  });
  if (once === 'in_use') throw inUse();
  if (once === 'mismatch') throw mismatch();
  return once.isFirst ? made : replay(route, once.answer, service);
};

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

const readKey = (header: string | string[] | undefined): string | undefined => {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw badField(
    'header/Idempotency-Key',
    'is not 1 to 255 printable characters',
    'Idempotency-Key takes 1 to 255 printable ASCII characters, such as a UUID.',
  );
};

const fingerprint = (
  { method }: Route,
  { headers, url, body }: IdempotentRequest,
): KeyedCall['said'] => {
  const start = `${method} ${url}\n${headers['content-type'] ?? ''}\n`;
  if (isUpload(body)) return async () => sha256(start + (await body.sha256()));
  return sha256(Buffer.isBuffer(body) ? Buffer.concat([Buffer.from(start), body]) : start);
};

const toStored = (route: Route, result: unknown): Stored => {
  const answer = result instanceof Answer ? result : new Answer<unknown>(result);
  const { headers, etag } = answer;
  const bytes = bodyBytes(withoutSecret(route, answer));
  return {
    status: answer.status ?? route.status ?? 200,
    headers,
    ...(etag !== undefined && { etag }),
    ...(bytes !== undefined && { body: bytes.toString('utf8') }),
  };
};

// The member stays, as null, so that a replay can fill it in.
const withoutSecret = ({ secret }: Route, answer: Answer<unknown>): Answer<unknown> =>
  secret === undefined
    ? answer
    : new Answer({ ...(answer.body as object), [secret.member]: null }, answer.headers);

const replay = async (
  { secret }: Route,
  { status, headers, etag, body }: Stored,
  service: Service,
): Promise<Answer<unknown>> => {
  const all = { ...headers, ...REPLAYED };
  if (body === undefined) return new Answer(body, all, etag, status);
  if (secret === undefined) return new Answer(Buffer.from(body), all, etag, status);
  const made = JSON.parse(body);
  const whole = { ...made, [secret.member]: await secret.read(service, made as never) };
  return new Answer<object>(whole, all, etag, status);
};

type Stored = Awaited<ReturnType<KeyedCall['make']>>;

const inUse = (): ServiceError =>
  new ServiceError(
    'idempotency_in_use',
    'A request with this Idempotency-Key is in progress. Wait for its answer, then send the request again to get the same answer.',
  );

const mismatch = (): ServiceError =>
  new ServiceError(
    'idempotency_mismatch',
    'The Idempotency-Key was used for a different request, so nothing was done. Use a new key for each new request.',
  );
