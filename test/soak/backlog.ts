import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createDispatcher, type Dispatcher } from '../../lib/events/webhooks/dispatcher.ts';
import type { ToldState } from '../../store/journal/journal-state.ts';
import type { Store } from '../../store/store.ts';
import { createRegistration } from '../../store/webhooks/webhooks.ts';
import { makeRoot, openRoot } from '../helpers/workspace.ts';

/** What events cost that receivers do not take: `backlog.js [events] [receivers]`, with node --expose-gc. */
const [events = 100_000, receivers = 1] = process.argv.slice(2).map(Number);
const DEAD = 'http://127.0.0.1:9/';
const ITEMS = 200;
const MINUTE = 60_000;
const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;

const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

interface Life {
  store: Store;
  dispatcher: Dispatcher;
  close: () => Promise<void>;
}

const begin = async (root: string): Promise<Life> => {
  const { store, close } = await openRoot(root);
  const dispatcher = createDispatcher({ store, log, version: '0', schedule: [MINUTE] });
  dispatcher.start();
  return { store, dispatcher, close: () => dispatcher.close().then(close) };
};

const register = async ({ store, dispatcher }: Life): Promise<void> => {
  const matter = { id: randomUUID(), url: DEAD, created_at: new Date().toISOString() };
  await createRegistration(store, undefined, { matter, secret: 'a secret' });
  dispatcher.changed();
};

const seen = (id: string, n: number): ToldState => ({
  dir: `cases/2026-01/${id}`,
  case: {
    sha: `${n}`.padStart(64, '0'),
    matter: { id, title: `Title ${n}`, type: 'bug', state: 'OPEN', created_at: 'x' },
    description: 'A description of an ordinary length. '.repeat(15),
  },
  proofs: {},
});

const happen = async ({ store }: Life): Promise<void> => {
  const ids = Array.from({ length: ITEMS }, () => randomUUID());
  for (let done = 0; done < events; done += ITEMS)
    await Promise.all(
      ids.map((id, n) =>
        store.journal.append({
          seen: { id, state: seen(id, done + n) },
          events: [
            {
              event_type: 'case_updated',
              timestamp: new Date().toISOString(),
              payload: { case_id: id },
            },
          ],
        }),
      ),
    );
  await Promise.all(ids.map((id) => store.journal.append({ seen: { id, state: null } })));
};

const memory = (what: string): void => {
  global.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  console.log(`${what}: heap ${mib(heapUsed)}, RSS ${mib(rss)}`);
};

const written = (): number =>
  Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

const onDisk = ({ store }: Life): string => {
  const dir = store.layout.journal;
  const sizes = readdirSync(dir).map((name) => statSync(`${dir}/${name}`).size);
  return `${sizes.length} files, ${mib(sizes.reduce((sum, size) => sum + size, 0))}`;
};

const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  const began = performance.now();
  const result = await work();
  console.log(`${what}: ${Math.round(performance.now() - began)} ms`);
  return result;
};

const root = makeRoot();
try {
  console.log(`${events} events, ${receivers} receivers that are down`);
  const first = await begin(root);
  for (let n = 0; n < receivers; n += 1) await register(first);
  memory('before');
  const before = written();
  await timed('events', () => happen(first));
  console.log(`written: ${mib(written() - before)}; journal: ${onDisk(first)}`);
  memory('with the backlog');
  await first.close();
  const second = await timed('start', () => begin(root));
  memory('after a start');
  await second.close();
} finally {
  rmSync(root, { recursive: true, force: true });
}
