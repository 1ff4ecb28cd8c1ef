import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  excludeAncestors,
  findRunProcesses,
  isUnknownOrigin,
  type RunTraits,
} from '../../../../lib/tools/process/caller.ts';
import type { ProcessRow } from '../../../../lib/tools/process/processes.ts';

const UNLIMITED = Number.POSITIVE_INFINITY;

const row = (pid: number, ppid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
  ...{ pid, ppid, started: pid * 10, zombie: false, limit: UNLIMITED },
  ...more,
});

// 1 is who gets orphans; 20 the operator's shell, 30 the daemon, 40 its run, begun at tick 390.
const INIT = row(1, 0);
const SHELL = row(20, 1);
const DAEMON = row(30, 20);
const AGENT = row(40, 30, { mark: 'run', limit: 7 });
const USUAL = [INIT, SHELL, DAEMON, AGENT];

const TRAITS: RunTraits = {
  daemons: [{ pid: 30, reaper: 1, since: 390 }],
  dirs: ['/tree'],
  self: 30,
  own_limit: UNLIMITED,
};

const CALLERS: [string, ProcessRow[], 'inside' | 'untold' | 'outside'][] = [
  ['a child of the operator’s shell', [row(50, 20)], 'outside'],
  ['a program of the operator’s that was there before the run', [row(21, 1)], 'outside'],
  ['its new child', [row(50, 21), row(21, 1)], 'outside'],
  ['a login from another machine, whose parents are root’s', [row(50, 22), row(22, 1)], 'outside'],
  ['who entered from outside of these processes', [row(50, 0)], 'outside'],
  ['a shell of the operator’s in the worktree', [row(50, 20)], 'outside'],
  ['a child of the run', [row(50, 40)], 'inside'],
  ['a child of the run that cleared its environment', [row(51, 50), row(50, 40)], 'inside'],
  ['an orphan with the mark', [row(50, 1, { mark: 'run' })], 'inside'],
  ['the mark of a run of another daemon', [row(50, 20, { mark: 'other' })], 'inside'],
  ['an orphan with the limit alone', [row(50, 1, { limit: 7 })], 'inside'],
  ['one that lowered its limit further', [row(50, 1, { limit: 3 })], 'inside'],
  ['a child of who has the limit', [row(51, 50), row(50, 1, { limit: 7 })], 'inside'],
  [
    'one that stands in the worktree without a HOME',
    [row(50, 20, { homeless_in: '/tree/a' })],
    'inside',
  ],
  [
    'one in a worktree that was removed',
    [row(50, 20, { homeless_in: '/tree (deleted)' })],
    'inside',
  ],
  ['one that stands beside it', [row(50, 20, { homeless_in: '/tree-2' })], 'outside'],
  ['an orphan that began after the run', [row(50, 1)], 'untold'],
  ['one in the same moment as the run', [row(50, 1, { started: 390 })], 'untold'],
  ['a child of such an orphan', [row(51, 50), row(50, 1)], 'untold'],
  ['one whose parent cannot be seen', [row(50, 49)], 'untold'],
  ['one whose parent is younger than itself', [row(50, 60), row(60, 20)], 'untold'],
];

describe('who calls', () => {
  for (const [name, [caller, ...others], expected] of CALLERS)
    it(`takes ${name} for ${expected}`, () => {
      assert.ok(caller);
      const rows = [...USUAL, ...others, caller];
      const inside = findRunProcesses(rows, TRAITS).has(caller.pid);
      const outside = isUnknownOrigin(caller, rows, TRAITS) ? 'untold' : 'outside';
      assert.equal(inside ? 'inside' : outside, expected);
    });

  it('takes the daemon for no run, nor who has the mark and the limit that it was started with', () => {
    const nested = { ...TRAITS, own_mark: 'outer', own_limit: 9 };
    const of = { mark: 'outer', limit: 9 };
    const rows = [INIT, row(20, 1, of), row(30, 20, of), AGENT, row(50, 20, of)];
    assert.deepEqual([...findRunProcesses(rows, nested)], [40]);
  });

  it('takes a run of another daemon for one, but not the one that started this daemon', () => {
    const rows = [...USUAL, row(25, 20), row(26, 25)];
    const other = { pid: 25, reaper: 1, since: 240 };
    const both = { ...TRAITS, daemons: [...TRAITS.daemons, other] };
    assert.deepEqual([...findRunProcesses(rows, both)].toSorted(), [26, 40]);
    assert.deepEqual(excludeAncestors(rows, both).daemons, both.daemons);
    const outer = { pid: 20, reaper: 1, since: 200 };
    const above = { ...TRAITS, daemons: [...TRAITS.daemons, outer] };
    assert.deepEqual(excludeAncestors(rows, above).daemons, TRAITS.daemons);
  });
});
