import { randomUUID } from 'node:crypto';
import { codeOf, isFailingDisk } from '../../store/base/attempt.ts';
import { ownValue } from '../../store/base/own-value.ts';
import { jsonText } from '../../store/base/visible.ts';
import type { WriteStage } from '../../store/base/write-stage.ts';
import { asSentence, doneBefore, ERRORS, type ErrorCode, ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';

export type ErrorLog = Pick<Log, 'error'>;

interface Problem {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** The `type` of a problem: its place in the OpenAPI document. */
export const problemType = (code: ErrorCode): string =>
  `/openapi.json#/components/x-problems/${code}`;

/** Turns any error into an RFC 9457 document. An unexpected one is logged in full; the answer contains the id of the log line. */
export const problemAnswer = (thrown: unknown, log: ErrorLog): Problem => {
  const error = recognised(thrown) ?? unexpected(thrown, log);
  if (ON_DISK.has(error.code)) log.error({ err: error.cause ?? thrown }, 'the disk failed');
  const { status, title } = ERRORS[error.code];
  const document = {
    ...error.members,
    type: problemType(error.code),
    title,
    status,
    detail: withoutMiddle(`${error.message}${doneBefore(thrown)}`),
    code: error.code,
    ...(error.errors && { errors: error.errors }),
  };
  return { status, headers: error.headers, body: Buffer.from(jsonText(document)) };
};

const LONGEST = 4000;

// A message may contain a value of the request, which may have a megabyte. What to do comes last.
const withoutMiddle = (message: string): string => {
  if (message.length <= LONGEST) return message;
  const ends = [message.slice(0, LONGEST / 2), message.slice(-LONGEST / 2)];
  return ends.map((end) => end.replaceAll(/\p{Cs}/gu, '')).join(' … ');
};

const ON_DISK = new Set<ErrorCode>(['disk_failed', 'may_be_written']);

const recognised = (thrown: unknown): ServiceError | undefined => {
  if (thrown instanceof ServiceError) return thrown;
  if (!(thrown instanceof Error)) return undefined;
  return fromStore(thrown) ?? fromFileSystem(thrown) ?? fromHapi(thrown);
};

const unexpected = (thrown: unknown, log: ErrorLog): ServiceError => {
  const request_id = randomUUID();
  log.error({ err: thrown, request_id }, 'a request failed unexpectedly');
  const message = `The daemon failed unexpectedly. Look for ${request_id} in its log (dossier logs).`;
  return new ServiceError('internal', message, { members: { request_id } });
};

interface StoreFailure extends Error {
  code: string;
  details?: Record<string, unknown>;
}

// Recognizes the error by its shape, because this layer does not import the store's records.
const fromStore = (thrown: Error): ServiceError | undefined => {
  if (thrown.name !== 'StoreError') return undefined;
  const { code, message, details = {} } = thrown as StoreFailure;
  const known = code === 'unsafe_path' ? 'bad_request' : code;
  if (!Object.hasOwn(ERRORS, known)) return undefined;
  // The store words most refusals without a full stop, as it words problems of files.
  const extra = { members: details, cause: thrown };
  return new ServiceError(known as ErrorCode, asSentence(message), extra);
};

/** A call that failed while it wrote. */
interface FailedCall {
  stage: WriteStage;
  /** The path of a GET that shows whether the change was written. */
  read: string | undefined;
  /** The request has an Idempotency-Key. */
  keyed: boolean;
}

/**
 * Words a file system error in a call that writes. Only this function decides what the answer claims: before the rename
 * nothing was changed; after it the change may be written, whatever the error is. Returns any other error unchanged.
 */
export const failedWrite = (thrown: unknown, call: FailedCall): unknown => {
  if (!(thrown instanceof Error) || thrown instanceof ServiceError) return thrown;
  const code = codeOf(thrown);
  if ((thrown as StoreFailure).code === 'may_be_written')
    return mayBeWritten(`${thrown.message}.`, call, thrown);
  if (call.stage === 'placed' && 'syscall' in thrown)
    return mayBeWritten(`The call failed after its change was in place (${code}).`, call, thrown);
  return fromFileSystem(thrown, 'Nothing was changed. ') ?? thrown;
};

const mayBeWritten = (
  what: string,
  { read, keyed }: Omit<FailedCall, 'stage'>,
  cause: Error,
): ServiceError => {
  const look = read === undefined ? 'Look at what you wanted to change' : `Read GET ${read}`;
  const again = keyed ? ', or send the call again with the same Idempotency-Key' : '';
  const message = `${what} ${look} to see whether it was written${again}.`;
  const members = read === undefined ? {} : { read };
  return new ServiceError('may_be_written', message, { members, cause });
};

const DENIED: [ErrorCode, string] = [
  'access_denied',
  "The system denied access to a file. Make sure that the daemon's user may read and write all files of the workspace, then try again.",
];
const FULL: [ErrorCode, string] = [
  'disk_full',
  'The disk is full, or its inodes or quota are used up. Free some (df, df -i) on the disk of the workspace, or of the state directory (`dossier doctor` says which), then try again.',
];
const FAILED: [ErrorCode, string] = [
  'disk_failed',
  'The disk failed to read or write. Check it, then try again.',
];
const MANY: [ErrorCode, string] = [
  'unavailable',
  'Too many files are open. Try again; if it happens again, raise the limit (ulimit -n 4096) and start the daemon again.',
];

const FILE_SYSTEM: Record<string, [ErrorCode, string]> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: [
    'disk_full',
    'The file would exceed the size limit. Raise it (ulimit -f), then try again.',
  ],
  ENAMETOOLONG: ['bad_request', 'A name is too long for the file system. Use a shorter one.'],
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: [
    'read_only',
    'The file system of the workspace, or of the state directory, is mounted read-only (`dossier doctor` says which). Mount it writable, then try again.',
  ],
  EMFILE: MANY,
  ENFILE: MANY,
  ENOMEM: ['unavailable', 'The system has no memory left. End other programs, then try again.'],
  EINTR: ['unavailable', 'The file system was interrupted. Try again.'],
  PROGRAM_REPLACED: [
    'unavailable',
    'Dossier was upgraded or removed while this daemon runs. Start it again: `dossier stop`, then `dossier up`.',
  ],
};

const fromFileSystem = (thrown: Error, claim = ''): ServiceError | undefined => {
  const code = codeOf(thrown);
  const known = isFailingDisk(thrown) ? FAILED : ownValue(FILE_SYSTEM, code);
  return (
    known &&
    new ServiceError(known[0], `${claim}${known[1].replace(/\.$/, ` (${code}).`)}`, {
      cause: thrown,
    })
  );
};

const HAPI: Record<number, [ErrorCode, string]> = {
  400: ['bad_request', 'The request cannot be parsed. Check its URL and headers.'],
  404: ['route_not_found', 'The endpoints are listed in /openapi.json.'],
  408: ['request_timeout', 'Send the whole body without a pause.'],
  413: ['too_large', 'Send a smaller body.'],
};

// hapi throws Boom errors for requests that it refuses before a handler is called.
const fromHapi = (thrown: Error): ServiceError | undefined => {
  const status = (thrown as Error & { output?: { statusCode: number } }).output?.statusCode;
  const known = HAPI[status ?? 0];
  return known && new ServiceError(known[0], known[1], { cause: thrown });
};
