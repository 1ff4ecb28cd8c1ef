/** The daemon with a clock on its event loop: told 'start' and 'stop', it answers with the longest stall between. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

process.on('message', (order) => {
  if (order === 'stop') {
    delay.disable();
    process.send?.(delay.max / 1e6 - RESOLUTION_MS);
    return;
  }
  delay.reset();
  delay.enable();
});

// A path that is not known before everything is built.
await import(new URL('../../dossier.js', import.meta.url).href);
