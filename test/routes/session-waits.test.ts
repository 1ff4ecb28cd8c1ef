/** An approved session that waits for a place among max_sessions while its Work item is closed. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { withCase } from '../helpers/sessions.ts';

const LONG =
  '```sh\necho first >> done.txt\n```\n\n```sh\necho second >> done.txt\n[ -e go ] || sleep 300\n```\n';
const SHORT = '```sh\necho other > other.txt\n```\n';

const start = async (t: TestContext, description = SHORT) => {
  const first = await withCase(t, LONG, { settings: 'max_sessions: 1' });
  const { call, workspace } = first.running;
  const { body: other } = await call<Case>('POST', '/cases', {
    title: 'Another',
    type: 'bug',
    description,
  });
  const { body: theirs } = await call<Session>('POST', '/api/sessions/queue', {
    case_id: other.id,
  });
  const at = `/cases/${other.id}/sessions/${theirs.id}`;
  const get = async (): Promise<Session> => (await call<Session>('GET', at)).body;
  const until = (status: string): Promise<void> =>
    eventually(async () => assert.equal((await get()).status, status));
  const control = async (what: string): Promise<void> =>
    assert.equal((await call('POST', `/api/cases/${other.id}/session/${what}`)).status, 200);
  const move = async (state: string): Promise<void> =>
    assert.equal((await call('PUT', `/cases/${other.id}/state`, { state })).status, 200);
  const approve = async (): Promise<void> =>
    assert.equal((await call('POST', `${at}/approve`)).status, 200);
  await until('plan_ready');
  return {
    ...{ first, call, other, get, until, control, move, approve },
    worktree: join(workspace, '.dossier/worktrees', basename(other.path)),
    caseFile: join(workspace, other.path, 'case.md'),
    /** The one place is taken until `free`. */
    occupy: async (): Promise<void> => {
      const mine = await first.start();
      await first.until(mine.id, 'plan_ready');
      await first.post(`/sessions/${mine.id}/approve`);
      await first.untilEvent(mine.id, 'tool_call');
    },
    free: () => first.control('abort'),
  };
};

describe('a session that waits for its place while its Work item is closed', () => {
  it('commits what its work changed alone, once it goes on', async (t) => {
    const it = await start(t);
    writeFileSync(join(it.worktree, 'byhand.txt'), 'mine\n');
    await it.occupy();
    await it.approve();
    await it.move('NON_ISSUE');
    await it.free();
    await it.until('paused');
    await it.move('OPEN');
    await it.control('resume');
    await it.until('completed');
    assert.equal((await it.get()).commit?.files, 1);
  });

  it('keeps the record of what an earlier pause left uncommitted', async (t) => {
    const it = await start(t, LONG);
    await it.approve();
    const done = join(it.worktree, 'done.txt');
    await eventually(() => assert.match(readFileSync(done, 'utf8'), /second/));
    await it.control('pause');
    assert.equal((await it.get()).commit?.files, 1);
    await it.occupy();
    await it.control('resume');
    await it.move('NON_ISSUE');
    await it.free();
    await it.until('paused');
    const { error, commit } = await it.get();
    assert.match(error ?? '', /closed while it waited/);
    assert.equal(commit?.files, 1);
  });

  it('goes on where the disk was full while it waited', async (t) => {
    const it = await start(t);
    await it.occupy();
    const { journal } = it.first.running.service.store;
    const { append } = journal;
    let isFull = false;
    // A comparison of the Work item is to fail from the moment at which the session waits.
    journal.append = async (entry) => {
      if (isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      const appended = await append(entry);
      isFull = 'run' in entry && JSON.stringify(entry).includes('"working"');
      if (isFull)
        writeFileSync(it.caseFile, readFileSync(it.caseFile, 'utf8').replace('Another', 'Renamed'));
      return appended;
    };
    await it.call('POST', `/cases/${it.other.id}/sessions/${(await it.get()).id}/approve`);
    await delay(300);
    journal.append = append;
    await it.free();
    await it.until('completed');
  });
});
