import assert from 'node:assert/strict';
import type { Conflict } from '../../../store/records/conflict.ts';
import type { Session } from '../../../store/records/session.ts';
import type { Worktree } from '../../../store/records/worktree.ts';
import { gitIn, makeRepository, writeFiles } from '../../helpers/repository.ts';
import type { Answered } from '../../helpers/service.ts';
import { commit } from '../../lib/work/conflicts/fixture.ts';
import { call, describeRows, file, made, newCase, type Row, running } from './surface.ts';

/** A rebase that stopped at a conflict, which is resolved but not applied yet. */
const stopped = async () => {
  const { id } = await newCase();
  const { path } = await made<Worktree>('/api/worktrees', { case_id: id });
  const name = `${id}.txt`;
  commit(running.repository.git, running.repository.root, { [name]: 'base\n' });
  commit(gitIn(path), path, { [name]: 'branch\n' });
  const answer = await call('POST', `/api/cases/${id}/pr/rebase`);
  writeFiles(path, { [name]: 'both\n' });
  return { name, answer, conflicts: `/api/cases/${id}/conflicts` };
};

const CONFLICTS: Row[] = [
  {
    method: 'POST',
    path: '/api/cases/:id/pr/rebase',
    does: 'starts a rebase and returns the conflicting file list',
    call: async () => (await stopped()).answer,
    status: 200,
    check: ({ body }: Answered<{ files: { kind: string }[] }>) =>
      assert.deepEqual(
        body.files.map(({ kind }) => kind),
        ['both_added'],
      ),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/conflicts/preview',
    does: 'returns the raw conflict diff of all conflicting files',
    call: async () => call('GET', `${(await stopped()).conflicts}/preview`),
    status: 200,
    check: ({ body }: Answered<{ diff: string }>) => assert.match(body.diff, /^diff --cc /),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/resolve-with-agent',
    does: 'has an agent propose a resolution',
    call: async () => call('POST', `${(await stopped()).conflicts}/resolve-with-agent`),
    status: 202,
    check: ({ body }: Answered<Session>) => assert.equal(body.type, 'conflict'),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/apply',
    does: 'stages resolved files and completes the rebase',
    call: async () => call('POST', `${(await stopped()).conflicts}/apply`),
    status: 200,
    check: ({ body }: Answered<{ status: string }>) => assert.equal(body.status, 'clean'),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/push-rebased',
    does: 'pushes the rebased branch with a lease',
    call: async () => {
      const { root } = makeRepository(file, { bare: true });
      running.repository.git('remote', 'add', 'origin', root);
      const { conflicts } = await stopped();
      await call('POST', `${conflicts}/apply`);
      return call('POST', `${conflicts}/push-rebased`);
    },
    status: 200,
    check: ({ body }: Answered<{ head: string; ref: string }>) =>
      assert.match(
        running.repository.git('ls-remote', 'origin'),
        new RegExp(`${body.head}\t${body.ref}`),
      ),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/abort',
    does: 'aborts the rebase',
    call: async () => call('POST', `${(await stopped()).conflicts}/abort`),
    status: 200,
    check: ({ body }: Answered<{ left: string[] }>) => assert.deepEqual(body.left, []),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/conflicts/history',
    does: 'lists timestamp, file count and outcome',
    call: async () => call('GET', `${(await stopped()).conflicts}/history`),
    status: 200,
    check: ({ body: [first] }: Answered<Conflict[]>) =>
      assert.deepEqual(
        [typeof first?.timestamp, first?.file_count, first?.outcome],
        ['string', 1, null],
      ),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/conflicts/metrics',
    does: 'aggregates conflict frequency and resolution time',
    call: async () => call('GET', `${(await stopped()).conflicts}/metrics`),
    status: 200,
    check: ({ body }: Answered<{ frequency: number; seconds_to_resolution: object }>) =>
      assert.deepEqual(
        [body.frequency, body.seconds_to_resolution],
        [1, { median: null, p95: null }],
      ),
  },
];

describeRows('conflicts', CONFLICTS);
