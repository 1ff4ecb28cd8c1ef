import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { build } from 'esbuild';

const ROOT = process.cwd();
const built = readFileSync(join(ROOT, '.ci/build.mjs'), 'utf8').matchAll(
  /'chunks\/.*-worker': '(.*)'/g,
);
const threads = [...built].map(([, file = '']) => file);

describe('a thread of the daemon', () => {
  // V8 of Node 20 ends the process with SIGILL when a thread is terminated while its module is evaluated and awaits. A
  // script, unlike a module, cannot await at its top: esbuild refuses to make one of what does.
  for (const file of threads)
    it(`awaits nothing at the top of its modules, and can be ended at any moment: ${file}`, async () => {
      await build({
        ...{ absWorkingDir: ROOT, entryPoints: [file] },
        ...{ bundle: true, write: false, format: 'iife', platform: 'node', logLevel: 'silent' },
      });
    });

  it('is found where the daemon is built', () => {
    assert.ok(threads.includes('store/watch/watch-worker.ts'), String(threads));
  });
});
