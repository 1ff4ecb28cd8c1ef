/**
 * The daemon with a clock on its event loop: `watched-daemon.js dossier.js serve …`. It is sent 'start' and 'stop', and
 * answers with the longest stall between, in milliseconds: as it was, and without what its thread waited for a CPU.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { mainThreadOf } from './usage.ts';

/** The longest stall of an event loop, in milliseconds. */
export interface Stall {
  stall: number;
  /** Without the time that other programs of the machine had the CPU. */
  own: number;
}

const RESOLUTION_MS = 5;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

/** The longest time from one look to the next, beyond what was wanted, that the thread did not wait for a CPU. */
const watchOwn = () => {
  let [longest, at, waited] = [0, performance.now(), mainThreadOf(process.pid).waited];
  const timer = setInterval(() => {
    const [now, all] = [performance.now(), mainThreadOf(process.pid).waited];
    longest = Math.max(longest, now - at - (all - waited) - RESOLUTION_MS);
    [at, waited] = [now, all];
  }, RESOLUTION_MS);
  return () => {
    clearInterval(timer);
    return longest;
  };
};
let own = (): number => 0;

process.on('message', (order) => {
  if (order === 'stop') {
    delay.disable();
    process.send?.({ stall: delay.max / 1e6 - RESOLUTION_MS, own: own() } satisfies Stall);
    return;
  }
  delay.reset();
  delay.enable();
  own = watchOwn();
});

// What it would be called with, were it called by itself.
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1] ?? '').href);
