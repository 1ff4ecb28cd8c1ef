/**
 * `npm run soak:kill [-- <part of a request's name> [<system call>]]`: kills the daemon at every step of every request that
 * writes. Takes some minutes, and ends with 1 when something was lost.
 */
import { after, describe, it } from 'node:test';
import { killOnce } from '../helpers/kill-points.ts';
import { STEPS } from '../helpers/steps.ts';

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

for (const one of STEPS.filter(({ name }) => name.includes(wanted)))
  describe(`a kill during ${one.name}`, () => {
    for (const each of call === undefined ? CALLS : [call])
      it(`at each ${each}`, async (t) => {
        let nth = 1;
        while (nth < MOST && (await killOnce(t, one, each, nth))) nth += 1;
        t.diagnostic(`${nth - 1} kills`);
        kills += nth - 1;
      });
  });
