import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, get, planned, type Row } from './surface.ts';

const ofPlanning = (
  row: Pick<Row, 'method' | 'path' | 'does'> & { body?: string },
  check: NonNullable<Row['check']>,
): Row => ({
  ...row,
  path: `/api/cases/:id/${row.path}`,
  call: async () => {
    const path = `/api/cases/${(await planned()).id}/${row.path.replace(':filename', 'tasks.md')}`;
    return call(row.method, path, row.body, row.body ? { 'content-type': 'text/markdown' } : {});
  },
  status: 200,
  check,
});

const stageRow = (stage: string, filename: string, does: string): Row => ({
  method: 'POST',
  path: `/api/cases/:id/planning/${stage}`,
  does,
  call: async () => (await planned()).stages[stage] as Answered<unknown>,
  status: 200,
  check: ({ body }: Answered<{ filename: string; generated_by: string }>) =>
    assert.deepEqual([body.filename, body.generated_by], [filename, 'extraction']),
});

const gateIs =
  (wanted: string): NonNullable<Row['check']> =>
  ({ body }: Answered<{ status: string }>) =>
    assert.equal(body.status, wanted);

const PLANNING: Row[] = [
  stageRow('from-issue', 'problem-definition.md', 'derives a draft from the linked issue'),
  stageRow('hypotheses-file', 'hypotheses.md', 'writes hypotheses.md'),
  stageRow('generate-tasks', 'tasks.md', 'generates tasks from hypotheses'),
  ofPlanning({ method: 'GET', path: 'planning/gate', does: 'tells the gate' }, gateIs('pending')),
  ofPlanning(
    { method: 'POST', path: 'planning/approve', does: 'approves the files' },
    gateIs('approved'),
  ),
  ofPlanning(
    { method: 'GET', path: 'planning/readiness', does: 'tells whether it is ready to execute' },
    ({ body }: Answered<{ checks: { name: string; ok: boolean }[] }>) =>
      assert.ok(body.checks.some(({ name, ok }) => name === 'planning_gate' && ok)),
  ),
  ofPlanning(
    { method: 'GET', path: 'planning-artifacts', does: 'lists the files' },
    ({ body }: Answered<object[]>) => assert.equal(body.length, 3),
  ),
  ofPlanning(
    {
      method: 'PUT',
      path: 'planning-artifacts/:filename',
      does: 'writes one, and the approval is stale',
      body: '# Mine\n',
    },
    async () => {
      const gate = await get<{ status: string }>(
        `/api/cases/${(await planned()).id}/planning/gate`,
      );
      assert.equal(gate.status, 'stale');
    },
  ),
];

describeRows('planning', PLANNING);
