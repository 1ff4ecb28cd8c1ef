import { sha256 } from '../../store/base/sha256.ts';
import { withIdsOf } from '../../store/reconcile/new-id.ts';
import type { OnceCall } from '../../store/workspace/idempotency.ts';
import { badField, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { bodyBytes } from './answer.ts';
import { isUpload } from './body.ts';
import { Answer, type Route } from './route.ts';

export const KEY_HEADER = 'idempotency-key';
/** Said with an answer that was given before. */
const REPLAYED = { 'idempotent-replayed': 'true' };

/** A POST that makes or starts something: one that carries an Idempotency-Key is made once. */
export const isCreating = ({ method, status }: Pick<Route, 'method' | 'status'>): boolean =>
  method === 'POST' && (status === 201 || status === 202);

/** What tells a call from others with the same key. */
interface Said {
  headers: Record<string, string | string[] | undefined>;
  /** With the query. */
  url: string;
  body: unknown;
}

/**
 * Makes a call, or answers as it was answered before: to the same key within 24 hours, over restarts. Throws 409
 * `idempotency_in_use` while the first goes on, and 422 `idempotency_mismatch` where the first said something else.
 */
export const madeOnce = async (
  route: Route,
  said: Said,
  service: Service,
  make: () => Promise<unknown>,
): Promise<unknown> => {
  const key = keyIn(said.headers[KEY_HEADER]);
  if (key === undefined) return make();
  let made: unknown;
  const once = await service.firstAnswers.once({
    key,
    said: saidIn(route, said),
    make: (call) =>
      withIdsOf(call, async () => {
        made = await make();
        return kept(route, made);
      }),
  });
  if (once === 'in_use') throw inUse();
  if (once === 'mismatch') throw mismatch();
  return once.isFirst ? made : givenAgain(route, once.answer, service);
};

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

const keyIn = (header: string | string[] | undefined): string | undefined => {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw badField(
    'header/Idempotency-Key',
    'is not 1 to 255 printable characters',
    'Idempotency-Key takes 1 to 255 printable ASCII characters, such as a UUID.',
  );
};

const saidIn = ({ method }: Route, { headers, url, body }: Said): OnceCall['said'] => {
  const start = `${method} ${url}\n${headers['content-type'] ?? ''}\n`;
  if (isUpload(body)) return async () => sha256(start + (await body.sha256()));
  return sha256(Buffer.isBuffer(body) ? Buffer.concat([Buffer.from(start), body]) : start);
};

const kept = (route: Route, result: unknown): Kept => {
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

// It keeps its place among the members.
const withoutSecret = ({ secret }: Route, answer: Answer<unknown>): Answer<unknown> =>
  secret === undefined
    ? answer
    : new Answer({ ...(answer.body as object), [secret.member]: null }, answer.headers);

const givenAgain = async (
  { secret }: Route,
  { status, headers, etag, body }: Kept,
  service: Service,
): Promise<Answer<unknown>> => {
  const all = { ...headers, ...REPLAYED };
  if (body === undefined) return new Answer(body, all, etag, status);
  if (secret === undefined) return new Answer(Buffer.from(body), all, etag, status);
  const made = JSON.parse(body);
  const whole = { ...made, [secret.member]: await secret.read(service, made as never) };
  return new Answer<object>(whole, all, etag, status);
};

type Kept = Awaited<ReturnType<OnceCall['make']>>;

const inUse = (): ServiceError =>
  new ServiceError(
    'idempotency_in_use',
    'A call with this Idempotency-Key goes on. Wait for its answer, then send the call again to get the same.',
  );

const mismatch = (): ServiceError =>
  new ServiceError(
    'idempotency_mismatch',
    'Another call was made with this Idempotency-Key. Make up a new key for each new call; nothing was done.',
  );
