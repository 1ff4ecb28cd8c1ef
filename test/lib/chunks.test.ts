import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { build } from 'esbuild';
import { temporaryDirectory } from '../helpers/repository.ts';

const chunk = (word: string): string =>
  `var part=require("./part.js");module.exports={said:()=>process.stdout.write("${word} "+part.said())};`;

// A program of two chunks, of which `start.js` takes the place of `dossier serve`.
const makeProgram = async (t: TestContext) => {
  const root = temporaryDirectory(t);
  const dist = join(root, 'dist');
  mkdirSync(join(dist, 'chunks'), { recursive: true });
  await build({
    ...{ absWorkingDir: process.cwd(), entryPoints: ['lib/chunks.ts'], logLevel: 'error' },
    ...{ bundle: true, platform: 'node', format: 'esm', outfile: join(dist, 'chunks/load.mjs') },
    define: { SERVE: '"./start.js"', HELPERS: '""' },
  });
  const write = (name: string, text: string) => writeFileSync(join(dist, 'chunks', name), text);
  write('start.js', chunk('first'));
  write('part.js', 'module.exports={said:()=>"part"};');
  write('main.mjs', `import { load } from './load.mjs';\nload('./start.js').said();\n`);
  const run = () =>
    execFileSync(process.execPath, [join(dist, 'chunks/main.mjs')], { encoding: 'utf8' });
  const compiled = join(dist, 'compiled');
  const kept = () => join(compiled, `${process.version}-${process.arch}`);
  return { run, write, compiled, kept };
};

describe('the chunks of dossier serve', () => {
  it('are compiled by the first start, and loaded as compiled by the next', async (t) => {
    const { run, compiled, kept } = await makeProgram(t);
    assert.equal(run(), 'first part');
    assert.deepEqual(readdirSync(compiled), [`${process.version}-${process.arch}`]);
    const { mtimeMs, mode } = statSync(kept());
    assert.equal(mode & 0o022, 0);
    assert.equal(run(), 'first part');
    assert.equal(statSync(kept()).mtimeMs, mtimeMs);
  });

  it('are compiled anew when their text changes, also to one of the same length', async (t) => {
    const { run, write, kept } = await makeProgram(t);
    run();
    const before = readFileSync(kept());
    write('start.js', chunk('again'));
    assert.equal(run(), 'again part');
    assert.notDeepEqual(readFileSync(kept()), before);
    write('part.js', 'module.exports={said:()=>"tarp"};');
    assert.equal(run(), 'again tarp');
  });

  it('are compiled where a byte of what was kept is wrong, or the end is missing', async (t) => {
    const { run, kept } = await makeProgram(t);
    run();
    const whole = readFileSync(kept());
    for (const at of [0, 40, Math.floor(whole.length / 2), whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(kept(), damaged);
      assert.equal(run(), 'first part');
      assert.notDeepEqual(readFileSync(kept()), damaged);
    }
    for (const size of [0, 3, 34, 60]) {
      writeFileSync(kept(), whole.subarray(0, size));
      assert.equal(run(), 'first part');
      assert.ok(readFileSync(kept()).length > size);
    }
  });

  it('are compiled by each start where nothing can be kept', async (t) => {
    const { run, compiled } = await makeProgram(t);
    writeFileSync(compiled, '');
    assert.equal(run(), 'first part');
    assert.equal(run(), 'first part');
    assert.equal(statSync(compiled).size, 0);
  });
});
