import { mkdtempSync } from 'node:fs';
import { diceOf } from './dice.ts';
import { judge } from './judge.ts';
import { numbered } from './rows.ts';
import { OPERATIONS } from './operations.ts';
import { describeCut, statesOf } from './states.ts';
import { trace } from './traced.ts';
const dir = mkdtempSync('/dev/shm/dossier-crash-');
const only = process.argv[2] ?? '';
const most = Number(process.argv[3] ?? 20);
const names = OPERATIONS.map(({ name }) => name).filter((n) => n.includes(only));
const traced = await trace(dir, numbered(names.map((n) => [n])));
for (const one of traced) {
  const t = performance.now();
  const states = statesOf(one, diceOf(1), most);
  const t1 = performance.now();
  const bad = new Map<string, string[]>();
  for (const { cut } of states) {
    const wrong = await judge(one, cut);
    if (wrong) { const k = wrong.slice(0, 400); bad.set(k, [...(bad.get(k) ?? []), describeCut(one, cut).join(' | ')]); }
  }
  const t2 = performance.now();
  console.log(one.operations.join(), one.answered.join(), one.changes.length, states.length, Math.round(t1 - t), 'ms', Math.round((t2 - t1) / states.length), 'ms each');
  for (const [k, v] of bad) console.log('   BAD', v.length, k, '\n      ', v[0]);
}
process.exit(0);
