import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { changeCase, setState } from '../../../../lib/work/cases/change.ts';
import { getCase } from '../../../../lib/work/cases/read.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import type { Case } from '../../../../store/records/case.ts';
import { startForTest } from '../../../helpers/service.ts';

const NEW = { title: 'Say hello', type: 'chore' };

describe('a change of a Work item', () => {
  it('answers the very bytes and the ETag that were read back in its turn', async (t) => {
    const { service, call } = await startForTest(t);
    const { store } = service;
    const { id } = (await call<Case>('POST', '/cases', NEW)).body;
    const changed = await changeCase(service, id, { title: 'Another' });
    assert.equal(changed, itemOf(store, id)?.response);
    const moved = await setState(store, id, { state: 'INVESTIGATING' }, changed.etag);
    assert.equal(moved, itemOf(store, id)?.response);
    assert.deepEqual(await getCase(store, id), moved);
    const stale = setState(store, id, { state: 'OPEN' }, changed.etag);
    await assert.rejects(stale, { code: 'precondition_failed' });
  });

  it('is refused where its directory is gone', async (t) => {
    const { service, call, workspace } = await startForTest(t);
    const { id, path } = (await call<Case>('POST', '/cases', NEW)).body;
    rmSync(join(workspace, path), { recursive: true });
    await assert.rejects(setState(service.store, id, { state: 'OPEN' }), { code: 'file_busy' });
  });
});
