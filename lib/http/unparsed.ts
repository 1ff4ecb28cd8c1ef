import {
  createServer,
  maxHeaderSize,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '../errors.ts';
import { type ErrorLog, problemAnswer } from './problem.ts';

/** A listener that leaves a missing Host to the check of Host: the refusal by Node has no body. */
export const createListener = (): Server => createServer({ requireHostHeader: false });

/** Answers what Node cannot parse with a problem document, instead of hapi's 400 without a body. */
export const answerUnparsed = (listener: Server, log: ErrorLog): void => {
  const [answerOfHapi] = listener.listeners('clientError');
  const newest = new WeakMap<Duplex, ServerResponse>();
  for (const event of ['request', 'checkContinue'])
    listener.on(event, ({ socket }, response) => newest.set(socket, response));
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A request that was parsed so far has a handler, which answers.
    const isBusy = newest.get(socket)?.writableFinished === false;
    if (isBusy || !socket.readable) answerOfHapi?.call(listener, error, socket);
    else refuse(socket, unparsed(error), log);
  });
};

const unparsed = ({ code }: NodeJS.ErrnoException): ServiceError => {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ServiceError('request_timeout', 'Send the whole request in time.');
  const what =
    code === 'HPE_HEADER_OVERFLOW'
      ? `URL and headers have more than ${maxHeaderSize} bytes. Send fewer, or put values into the body.`
      : `The request is not valid HTTP/1.1 (${code}). Check its first line, its headers and the length of its body.`;
  return new ServiceError('bad_request', what);
};

/** Answers with the problem document of an error, and ends the connection. */
export const refuse = (socket: Duplex, error: unknown, log: ErrorLog): void => {
  const { status, headers, body } = problemAnswer(error, log);
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': String(body.length),
    'x-content-type-options': 'nosniff',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
  socket.end(Buffer.concat([Buffer.from(start), body]));
};
