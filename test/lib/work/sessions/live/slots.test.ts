import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { newRun } from '../../../../../lib/work/sessions/live/engine.ts';
import { waitForSlot } from '../../../../../lib/work/sessions/live/slots.ts';
import { withCase } from '../../../../helpers/sessions.ts';

describe('waitForSlot', () => {
  it('rejects where the wait cannot be recorded, so that its caller ends the run', async (t) => {
    const { service, item } = await withCase(t);
    const id = randomUUID();
    const run = newRun({ case_id: item.id, session_id: id, run_marker: id, phase: 'work' });
    const waits = (): never => {
      throw new Error('file_busy');
    };
    const told = (async () => waitForSlot(service, run, waits).catch(String))();
    assert.equal(await told.catch(() => 'thrown'), 'Error: file_busy');
  });
});
