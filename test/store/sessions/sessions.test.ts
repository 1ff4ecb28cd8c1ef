import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../../store/records/case.ts';
import type { Session } from '../../../store/records/session.ts';
import { readSession, sessionDirOf, updateSession } from '../../../store/sessions/sessions.ts';
import { eventually } from '../../helpers/eventually.ts';
import { newestSession, startForTest } from '../../helpers/service.ts';
import { withCase } from '../../helpers/sessions.ts';

const NOBODY = 65_534;

/** As whoever may not read the folder: root may read all, so for root as somebody else. */
const withoutAccess = <T>(folder: string, work: () => T): T => {
  const isRoot = process.geteuid?.() === 0;
  chmodSync(folder, 0);
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
};

describe('readSession', () => {
  it('does not say that there is none where the folder of the sessions cannot be read', async (t) => {
    const { call, service } = await startForTest(t);
    const item = { title: 'One', type: 'bug', description: '```sh\ntrue\n```\n' };
    const { id } = (await call<Case>('POST', '/cases', item)).body;
    const made = await call<Session>('POST', `/cases/${id}/sessions`, { type: 'implementing' });
    const { id: sid } = made.body;
    await eventually(async () => {
      const { body } = await call<Session>('GET', `/cases/${id}/sessions/${sid}`);
      assert.equal(body.status, 'plan_ready');
    });
    const kept = readSession(service.store, id, sid);
    assert.ok(kept !== undefined);
    withoutAccess(dirname(sessionDirOf(service.store, kept)), () =>
      assert.throws(() => readSession(service.store, id, sid), {
        code: 'unreadable_record',
        message: /\/sessions: The daemon's user has no permission to read this\. Grant it/,
      }),
    );
    assert.equal(readSession(service.store, id, sid)?.session.id, sid);
  });
});

describe('updateSession', () => {
  it('does not keep a summary that was too long for session.md as a text of the operator', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const { store } = it.running.service;
    const dir = newestSession(it.running, it.item);
    const kept: string[] = [];
    const onKept = (name: string): number => kept.push(name);
    for (const last of ['one', 'two']) {
      const summary = { text: `${'x'.repeat(262_144)}${last}`, onKept };
      await updateSession(store, it.item.id, id, () => ({ summary }));
    }
    assert.match(
      readFileSync(join(dir, 'session.md'), 'utf8'),
      /x\n\n\[… 3 characters left out …\]\n$/,
    );
    assert.deepEqual([kept, readdirSync(dir).includes('edited-summary.md')], [[], false]);
  });
});
