/** Readers of a history that is larger than every buffer between, at the daemon as it ships. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { type Daemon, startDaemon } from '../helpers/daemon.ts';
import { writeEndedSession } from '../helpers/ended-session.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { clientOf, openStream } from '../helpers/stream.ts';

const EVENTS = 20_000;
const CHARACTERS = 1500;
const READERS = 100;
// The history has 31 MB: a hundred readers who cost it, or one answer that was built whole, would need more.
const MORE_MB = 150;

const withHistory = async (t: TestContext): Promise<{ daemon: Daemon; url: string }> => {
  const workspace = temporaryDirectory(t);
  const daemon = await startDaemon(t, ['--workspace', workspace]);
  const item = await clientOf(daemon.url).post('/cases', { title: 'Long', type: 'chore' });
  const id = await writeEndedSession(
    join(workspace, String(item.path)),
    String(item.id),
    EVENTS,
    CHARACTERS,
  );
  return { daemon, url: `${daemon.url}/cases/${item.id}/sessions/${id}/stream` };
};

const megabytes = ({ process }: Daemon): number => {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

const connect = (t: TestContext, url: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (answer) => {
      answer.on('error', () => undefined);
      // Its first bytes are there: what follows waits for the reader.
      answer.once('readable', () => resolve(answer));
    });
    request.on('error', reject);
    atEnd(t, () => request.destroy());
  });

const idsIn = (text: string): number[] =>
  [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

const ALL = Array.from({ length: EVENTS }, (_, at) => at + 1);

describe('a session with a history of 31 MB', { skip: process.platform !== 'linux' }, () => {
  it('costs memory by the reader, and a reader that waited misses nothing', async (t) => {
    const { daemon, url } = await withHistory(t);
    const before = megabytes(daemon);
    const [late, ...others] = await Promise.all(
      Array.from({ length: READERS }, () => connect(t, url)),
    );
    let text = '';
    for await (const chunk of late?.setEncoding('utf8') ?? []) text += chunk;
    assert.deepEqual(idsIn(text), ALL);
    const events = await (await openStream(t, url, { 'last-event-id': '19990' })).toEnd();
    assert.deepEqual(
      events.map(({ id }) => id),
      ALL.slice(19_990),
    );
    assert.ok(others.every(({ readableEnded }) => !readableEnded));
    const more = megabytes(daemon) - before;
    assert.ok(more < MORE_MB, `${READERS} readers took ${more} MB`);
  });

  it('is polled whole, and page by page, without ever being whole in memory', async (t) => {
    const { daemon, url } = await withHistory(t);
    const before = megabytes(daemon);
    const poll = async (query: string) => {
      const answer = await fetch(url + query, { headers: { accept: 'application/json' } });
      const events = (await answer.json()) as { id: number }[];
      return { ids: events.map(({ id }) => id), link: answer.headers.get('link') };
    };
    const polled = await Promise.all([poll(''), poll(''), poll(''), poll('')]);
    for (const { ids, link } of polled) assert.deepEqual([ids, link], [ALL, null]);
    const page = await poll('?limit=1000&after=18500');
    assert.deepEqual(page.ids, ALL.slice(18_500, 19_500));
    assert.match(page.link ?? '', /\?limit=1000&after=19500>; rel="next"$/);
    const rest = await poll('?limit=1000&after=19500');
    assert.deepEqual([rest.ids, rest.link], [ALL.slice(19_500), null]);
    const more = megabytes(daemon) - before;
    assert.ok(more < MORE_MB, `it took ${more} MB`);
  });
});
