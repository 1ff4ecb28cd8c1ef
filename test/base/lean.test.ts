import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const LEAN = fileURLToPath(new URL('../../base/lean.js', import.meta.url));

// In a process of its own: flags hold for all of one. 64: by the last of the compilers.
const said = (lines: string): string =>
  execFileSync(process.execPath, [
    ...['--allow-natives-syntax', '--input-type=module', '-e'],
    `import { giveBack, startIsOver, startLean } from ${JSON.stringify(LEAN)};\n${lines}`,
  ]).toString();

const HOT = `const hot = (n) => { let sum = 0; for (let i = 0; i < n; i += 1) sum += i % 7; return sum; };
  const isCompiledWell = () => { for (let i = 0; i < 2000; i += 1) hot(1e5); return (%GetOptimizationStatus(hot) & 64) !== 0; };`;

describe('a lean start', () => {
  it('compiles nothing well before it is over, and what runs often after that', () => {
    const script = `${HOT} startLean(); const before = isCompiledWell(); await startIsOver(); console.log(before, isCompiledWell());`;
    assert.equal(said(script), 'false true\n');
  });

  it('gives back to the system what nobody holds, and what lies between that which is held', () => {
    const script = `let held = Array.from({ length: 1e6 }, (_, i) => ({ i }));
      const full = process.memoryUsage().heapTotal; held = held.filter((_, at) => at % 8 === 0);
      await giveBack();
      console.log(held.length, process.memoryUsage().heapTotal < full / 2);`;
    assert.equal(said(script), '125000 true\n');
  });
});
