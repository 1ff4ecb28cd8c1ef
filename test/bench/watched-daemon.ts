/**
 * The daemon with a clock on its event loop: `watched-daemon.js dossier.js serve …`. It is sent 'start' and 'stop', and
 * answers with the longest stall between, in milliseconds.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';

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

// What it would be called with, were it called by itself.
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1] ?? '').href);
