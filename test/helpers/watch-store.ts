/**
 * A program: opens the workspace it is given, watches it with sweeps that come soon, and says a line for each thing that
 * happens.
 */

import { WATCH_PACE } from '../../store/watch/change-scheduler.ts';
import { STATE_DIR } from './state-dir.ts';
import { openCompared } from './workspace.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { store, watch } = await openCompared(process.argv[2] ?? '', {
  state: STATE_DIR,
  clock: () => new Date(),
  follow: () => undefined,
  trust: true,
  report: (error, what) => say(`reported ${what}${error === undefined ? '' : ` ${error}`}`),
});
store.journal.onEvents((events) => {
  for (const { body } of events) say(`${body.event_type} ${body.payload.case_id}`);
});
// As a server would: nothing in the store keeps a process from ending.
setInterval(() => undefined, 60_000);
const attention = watch(() => undefined, { ...WATCH_PACE, blind_sweep_ms: 100 });
await attention.ready;
say(`ready, ${attention.watching ? 'watching' : 'not watching'}`);
