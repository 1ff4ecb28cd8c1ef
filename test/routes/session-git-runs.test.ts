import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Session } from '../../store/records/session.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { withCase } from '../helpers/sessions.ts';

// Each run costs as much as all else of a request: more of them have to be worth it. What git starts by itself, for
// `worktree add` say, is other in its other versions.
const OWN = 24;
const ALL = 28;

describe('the runs of git', () => {
  it('of a runbook session are few, from its worktree to its diff', async (t) => {
    const home = temporaryDirectory(t);
    const log = join(home, 'runs.json');
    writeFiles(home, { '.gitconfig': `[trace2]\n\teventTarget = ${log}\n`, 'runs.json': '' });
    const { call, at, start, until } = await withCase(t, undefined, { env: { HOME: home } });
    const { id } = await start({ provider: 'runbook' });
    const { plan_sha256 } = await until(id, 'plan_ready');
    const { status } = await call<Session>('POST', `${at}/sessions/${id}/approve`, { plan_sha256 });
    assert.equal(status, 200);
    await until(id, 'completed');
    const runs = runsIn(readFileSync(log, 'utf8'));
    const own = runs.filter(({ sid }) => !sid.includes('/'));
    const listed = runs.map(({ argv }) => argv.slice(1).join(' ').slice(0, 100)).join('\n');
    assert.ok(
      own.some(({ argv }) => argv.includes('worktree')),
      'the session made its worktree',
    );
    assert.ok(
      own.length <= OWN,
      `${own.length} runs of git, at most ${OWN} are expected:\n${listed}`,
    );
    assert.ok(runs.length <= ALL, `${runs.length} with their children, at most ${ALL}:\n${listed}`);
  });
});

interface Run {
  event: string;
  /** Of a git that git has started: with that one's before it, and a slash. */
  sid: string;
  argv: string[];
}

const runsIn = (log: string): Run[] =>
  log
    .split('\n')
    .filter(Boolean)
    .map((line): Run => JSON.parse(line))
    .filter(({ event }) => event === 'start');
