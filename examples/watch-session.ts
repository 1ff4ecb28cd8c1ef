/**
 * Follows a session and survives a connection that breaks, or a daemon that is restarted: the client comes back with the
 * number of the last event it has, and is sent what it missed.
 *
 *   node dist/examples/watch-session.js CASE_ID SESSION_ID [http://127.0.0.1:4870]
 *
 * Ends with 0 once the session is complete.
 */
// In a program of yours: from 'dossierd/client'.
import { connect, type StreamEventOf } from '../lib/client/client.ts';

const STREAM = 'GET /cases/{id}/sessions/{sid}/stream';
const [id, sid, url] = process.argv.slice(2);

const line = ({ id, event, data }: StreamEventOf<typeof STREAM>): string => {
  const { status, title, text }: Record<string, unknown> = data;
  const words = [status, title, text].filter((word) => typeof word === 'string');
  return `${id} ${event} ${words.join(' ')}`.trimEnd();
};

if (id === undefined || sid === undefined) {
  console.error('Usage: node dist/examples/watch-session.js CASE_ID SESSION_ID [URL]');
  process.exit(2);
}

let last = 0;
const onBreak = (): void =>
  console.log(`-- the connection ended; asking for what comes after event ${last}`);

try {
  for await (const event of connect({ url }).stream(STREAM, { id, sid, onBreak })) {
    last = event.id;
    console.log(line(event));
  }
} catch (error) {
  console.error(`There is nothing to watch: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
