/**
 * `npm run soak:kill [-- <part of a request's name> [<system call>]]`: kills the daemon at every step of every request that
 * writes. Takes some minutes, and ends with 1 when something was lost.
 */
import { after, describe, it, type TestContext } from 'node:test';
import { killOnce, killStartOnce } from '../helpers/kill-points.ts';
import { START, STEPS } from '../helpers/steps.ts';
import { killedAt } from '../helpers/strace.ts';
import { killTurn } from '../helpers/turn-kill.ts';

const CALLS = [
  'rename',
  'link',
  'unlink',
  'mkdir',
  'rmdir',
  'fsync',
  'fdatasync',
  'ftruncate',
  'openat',
  'write',
  'pwrite64',
  'writev',
  'close',
];
const MOST = 400;

const [wanted = '', call] = process.argv.slice(2);
let kills = 0;
after(() => console.log(`# ${kills} kills`));

const killAtEach = async (t: TestContext, kill: (nth: number) => Promise<boolean>) => {
  let nth = 1;
  while (nth < MOST && (await kill(nth))) nth += 1;
  t.diagnostic(`${nth - 1} kills`);
  kills += nth - 1;
};

const calls = call === undefined ? CALLS : [call];
for (const one of STEPS.filter(({ name }) => name.includes(wanted)))
  describe(`a kill during ${one.name}`, () => {
    for (const each of calls)
      it(`at each ${each}`, (t) => killAtEach(t, (nth) => killOnce(t, one, each, nth)));
  });

// Loading the program is hundreds of these, in which nothing happens.
const LOADING = ['openat', 'close', 'write'];

if (START.name.includes(wanted))
  describe('a kill during a start', () => {
    for (const each of calls.filter((name) => !LOADING.includes(name)))
      it(`at each ${each}`, (t) => killAtEach(t, (nth) => killStartOnce(t, START, each, nth)));
  });

if ('a work turn'.includes(wanted))
  for (const sandbox of ['auto', 'off'] as const)
    describe(`a kill during a work turn (sandbox: ${sandbox})`, () => {
      for (const each of call === undefined
        ? ['clone', 'rename', 'link', 'unlink', 'mkdir']
        : calls)
        it(`at each ${each}`, (t) =>
          killAtEach(t, (nth) => killTurn(t, sandbox, killedAt(each, nth))));
    });
