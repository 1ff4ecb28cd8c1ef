import { get, type IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { writeEndedSession } from '../helpers/ended-session.ts';
import { watchEnough } from './idle.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { cpuOf, memoryOf } from './usage.ts';
import { makeWorkspace } from './workspaces.ts';

const READERS = 1000;
const [SHORT, LONG] = [5000, 20_000];
const READER_KB = 150;

/**
 * A thousand readers of one session: what one of them takes of memory, whether it reads or not, and whether that grows
 * with the history; and what an event costs that all of them are sent, against one that only one is sent.
 */
export const benchReaders = async (): Promise<Row[]> => {
  const one = await read(LONG, 1);
  const short = await read(SHORT, READERS);
  const long = await read(LONG, READERS);
  const perEvent = (cpu: number, readers: number) => (cpu * 1000) / LONG / readers;
  return [
    row('readers-memory', 'memory, 1,000 readers that read', long.kb),
    row('readers-stuck-memory', 'memory, 1,000 readers that do not', long.stuck_kb),
    {
      key: 'readers-memory-history',
      what: 'memory, 20,000 events against 5,000',
      measured: `${long.kb.toFixed(0)} KB a reader`,
      limit: `${short.kb.toFixed(0)} KB`,
      ratio: long.kb / short.kb,
      target: '<= 1.5',
    },
    {
      key: 'readers-event-cpu',
      what: 'CPU of an event, a reader of 1,000 against one',
      measured: `${perEvent(long.cpu, READERS).toFixed(1)} µs`,
      limit: `${perEvent(one.cpu, 1).toFixed(1)} µs`,
      ratio: perEvent(long.cpu, READERS) / perEvent(one.cpu, 1),
      target: '<= 1',
    },
  ];
};

const row = (key: string, what: string, kb: number): Row => ({
  key,
  what,
  measured: `${kb.toFixed(0)} KB a reader`,
  limit: `${READER_KB} KB`,
  ratio: kb / READER_KB,
  target: '<= 1',
});

interface Cost {
  /** Memory of the daemon for one reader, while none reads what it is sent. */
  stuck_kb: number;
  /** The most there was until all had everything. */
  kb: number;
  /** CPU time for all of them, in milliseconds. */
  cpu: number;
}

const read = async (events: number, readers: number): Promise<Cost> => {
  const workspace = makeWorkspace(1);
  const [id = '', file = ''] = [workspace.ids[0], workspace.files[0]];
  const session = await writeEndedSession(dirname(file), id, events);
  const dossier = await startDossier(workspace.root);
  // Nothing more to do: it has sent all that the system takes for readers that read nothing.
  const rest = () => watchEnough(dossier.pid, 1);
  await rest();
  const [memory, cpu] = [memoryOf(dossier.pid), cpuOf(dossier.pid)];
  const each = (mb: number) => ((mb - memory) * 1024) / readers;
  const url = `${dossier.url}/cases/${id}/sessions/${session}/stream`;
  const answers = await Promise.all(Array.from({ length: readers }, () => openStream(url)));
  await rest();
  const stuck_kb = each(memoryOf(dossier.pid));
  let most = 0;
  const sampling = setInterval(() => {
    most = Math.max(most, memoryOf(dossier.pid));
  }, 50);
  await Promise.all(answers.map((answer) => finished(answer.resume())));
  clearInterval(sampling);
  const cost = { stuck_kb, kb: each(most), cpu: cpuOf(dossier.pid) - cpu };
  await dossier.stop();
  workspace.remove();
  return cost;
};

const openStream = (url: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (answer) => {
      if (answer.statusCode === 200) resolve(answer.on('error', () => undefined));
      else reject(new Error(`${url} answered ${answer.statusCode}`));
    });
    request.on('error', reject);
  });
