import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { watchEnough } from './idle.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { median } from './rounds.ts';
import { makeWorkspace } from './workspaces.ts';

const EDITS = 60;

/** From a save in an editor until a webhook receiver has the event: p95 should be 60 ms. */
export const benchEdits = async (): Promise<Row[]> => [
  {
    key: 'edit-1000',
    what: 'hand edit to event at a receiver, 1,000 items',
    ...(await edits(1000)),
  },
  { key: 'edit-10000', what: 'the same, 10,000 items', ...(await edits(10_000)) },
  {
    key: 'edit-10000-starting',
    what: 'the same, 10,000 items, as it starts',
    ...(await edits(10_000, { starting: true })),
  },
  {
    key: 'edit-1000-requests',
    what: 'the same, 1,000 items, under requests',
    ...(await edits(1000, { requests: true })),
  },
];

interface Meanwhile {
  /** The daemon still sets up its watches, sweeps, and looks closer. */
  starting?: boolean;
  requests?: boolean;
}

const edits = async (
  count: number,
  { starting = false, requests = false }: Meanwhile = {},
): Promise<Omit<Row, 'key' | 'what'>> => {
  const workspace = makeWorkspace(count);
  const dossier = await startDossier(workspace.root);
  const receiver = await startReceiver();
  await fetch(`${dossier.url}/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events: ['case_updated'] }),
  });
  await watched(workspace.files[999] ?? '', receiver.next);
  if (!starting) await watchEnough(dossier.pid, count);
  const stop = requests ? keepAsking(dossier) : async () => undefined;
  const times: number[] = [];
  for (const file of workspace.files.slice(0, EDITS)) {
    const heard = receiver.next();
    const from = performance.now();
    save(file, 'An edited title');
    await heard;
    times.push(performance.now() - from);
  }
  await stop();
  receiver.close();
  await dossier.stop();
  workspace.remove();
  const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
  return {
    measured: `median ${median(times).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`,
    limit: '60 ms for the p95',
    ratio: p95 / 60,
    target: '<= 1',
  };
};

/** One request after the other, until told to stop. */
const keepAsking = ({ url }: { url: string }): (() => Promise<void>) => {
  let asking = true;
  const asked = (async () => {
    while (asking) await (await fetch(`${url}/cases?limit=100`)).arrayBuffer();
  })();
  return () => {
    asking = false;
    return asked;
  };
};

// As most editors save: the new text beside the file, then renamed over it.
const save = (file: string, title: string): void => {
  writeFileSync(
    `${file}.tmp`,
    readFileSync(file, 'utf8').replace(/^title: .*$/m, `title: ${title}`),
  );
  renameSync(`${file}.tmp`, file);
};

// The watcher is ready some time after the daemon: edits until one is heard.
const watched = async (file: string, next: () => Promise<void>): Promise<void> => {
  const heard = next().then(() => true);
  for (let attempt = 0; ; attempt += 1) {
    save(file, `Attempt ${attempt}`);
    if (await Promise.race([heard, delay(500, false)])) return;
  }
};

const startReceiver = async () => {
  let waiting: (() => void) | undefined;
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end(() => waiting?.()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    next: () =>
      new Promise<void>((resolve) => {
        waiting = resolve;
      }),
    close: () => server.close(),
  };
};
