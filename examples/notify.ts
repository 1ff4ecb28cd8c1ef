/**
 * Tells you at the desktop what waits for you: a plan, a question, a failed session. By notify-send where there is one,
 * else on standard output. Ends with Ctrl-C.
 *
 *   node dist/examples/notify.js [http://127.0.0.1:4870]
 */
import { spawn } from 'node:child_process';
// In a program of yours: from 'dossierd/client'.
import { connect, type Data } from '../lib/client/client.ts';

type Waiting = Data<'GET /attention'>[number];

const [url] = process.argv.slice(2);
const dossier = connect({ url });

// Titles are other people's text: as arguments behind `--` they are no options, and no shell reads them.
const show = ({ kind, title, message }: Waiting): void => {
  const args = ['--app-name=Dossier', '--', `${kind}: ${title}`, message];
  const child = spawn('notify-send', args, { stdio: 'ignore' });
  child.on('error', () =>
    console.log(`${kind}: ${JSON.stringify(title)} ${JSON.stringify(message)}`),
  );
};

const seen = new Set<string>();

/** Shows what waits and was not shown yet; what waits no more may be shown again. */
const look = async (): Promise<void> => {
  const waiting = await dossier.call('GET /attention');
  for (const each of waiting) if (!seen.has(each.id)) show(each);
  seen.clear();
  for (const { id } of waiting) seen.add(id);
};

const life = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => life.abort());

try {
  // The stream comes first: what begins to wait between it and the first look is in one of them.
  const query = { after: 'now', types: ['attention_changed' as const] };
  const events = dossier.stream('GET /events', { query, signal: life.signal, onOpen: look });
  for await (const _ of events) await look();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
