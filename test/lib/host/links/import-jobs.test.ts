import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextImportStatus, type WantedStatus } from '../../../../lib/host/links/import-jobs.ts';
import { type ImportJobMatter, JOB_STATUSES } from '../../../../store/records/import-job.ts';

type Status = ImportJobMatter['status'];

const NOW = '2026-01-02T00:00:00.000Z';
const jobThatIs = (status: Status): { matter: ImportJobMatter } => ({
  matter: { id: '00000000-0000-4000-8000-000000000000', status, created_at: NOW },
});

// What becomes of a job, by what it is; what is left out is refused.
const TABLE: Record<WantedStatus, Partial<Record<Status, 'changes' | 'stays'>>> = {
  running: { pending: 'changes', failed: 'changes', running: 'stays' },
  completed: { pending: 'changes', failed: 'changes', running: 'changes', completed: 'stays' },
  cancelled: { pending: 'changes', failed: 'changes', running: 'changes', cancelled: 'stays' },
};

describe('moved', () => {
  for (const [wanted, row] of Object.entries(TABLE) as [
    WantedStatus,
    (typeof TABLE)[WantedStatus],
  ][])
    for (const status of JOB_STATUSES)
      it(`${wanted} is wanted of a job that is ${status}: ${row[status] ?? 'refused'}`, () => {
        const move = () => nextImportStatus(jobThatIs(status), wanted, NOW);
        if (row[status] === undefined) assert.throws(move, { code: 'invalid_state' });
        else assert.equal(move()?.changes?.status, row[status] === 'stays' ? undefined : wanted);
      });

  it('forgets, when it is resumed, why it had stopped, and keeps when it began', () => {
    const { matter } = jobThatIs('failed');
    const stopped = {
      ...matter,
      error: { code: 'x', detail: 'y' },
      resume_at: NOW,
      started_at: 'then',
    };
    const { changes } = nextImportStatus({ matter: stopped }, 'running', NOW) ?? {};
    assert.deepEqual(changes, {
      status: 'running',
      started_at: 'then',
      error: undefined,
      resume_at: undefined,
      ended_at: undefined,
    });
  });
});
