/**
 * Follows a session and survives a connection that breaks, or a daemon that is restarted: it comes back with the number
 * of the last event it has, and is sent what it missed.
 *
 *   node dist/examples/watch-session.js CASE_ID SESSION_ID [http://127.0.0.1:4870]
 *
 * Ends with 0 once the session is complete.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { readEvents, type SessionEvent, StreamRefused } from './event-stream.ts';

const AGAIN_MS = 500;
const [caseId, sessionId, api = 'http://127.0.0.1:4870'] = process.argv.slice(2);

const watch = async (url: string): Promise<void> => {
  let last = 0;
  for (let isComplete = false; !isComplete; ) {
    try {
      for await (const event of readEvents(url, last)) {
        last = event.id;
        isComplete = event.event === 'complete';
        console.log(line(event));
      }
    } catch (error) {
      if (error instanceof StreamRefused) throw error;
    }
    if (isComplete) return;
    console.log(`-- the connection ended; asking for what comes after event ${last}`);
    await pause(AGAIN_MS);
  }
};

const line = ({ id, event, data }: SessionEvent): string => {
  const { status, title, text } = data;
  const words = [status, title, text].filter((word) => typeof word === 'string');
  return `${id} ${event} ${words.join(' ')}`.trimEnd();
};

if (caseId === undefined || sessionId === undefined) {
  console.error('Usage: node dist/examples/watch-session.js CASE_ID SESSION_ID [URL]');
  process.exit(2);
}

try {
  await watch(`${api}/cases/${caseId}/sessions/${sessionId}/stream`);
} catch (error) {
  console.error(`There is nothing to watch: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
