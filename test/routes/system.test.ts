import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { systemRoutes } from '../../routes/system.ts';
import type { Case } from '../../store/records/case.ts';
import type { ProblemRecord } from '../../store/records/problem.ts';
import { GUIDES } from '../examples/guides.ts';
import { writeFiles } from '../helpers/repository.ts';
import { startForTest } from '../helpers/service.ts';
import { assertProblem } from '../helpers/work-item.ts';
import { json, serverOf } from '../lib/http/serve.ts';

const { hapi } = serverOf(systemRoutes);

describe('GET /health', () => {
  it('says ok', async (t) => {
    const { call } = await startForTest(t);
    assert.deepEqual((await call('GET', '/health')).body, { status: 'ok' });
  });
});

describe('GET /version', () => {
  it('says what is running, and admits what it does not know', async () => {
    assert.deepEqual(json(await hapi.inject('/version')), {
      name: 'dossierd',
      version: '1.2.3',
      api: '3.1.0',
      node: process.version,
      platform: process.platform,
      commit: null,
      built_at: null,
    });
  });
});

describe('POST /api/daemon/challenge', () => {
  const ask = (payload: object) =>
    hapi.inject({ method: 'POST', url: '/api/daemon/challenge', payload });

  it('answers as whoever has the token can', async () => {
    const challenge = 'ab'.repeat(16);
    assert.deepEqual(json(await ask({ challenge })), { answer: `proof of ${challenge}` });
  });

  it('refuses what is no challenge: validation_failed', async () => {
    for (const challenge of ['', 'ab', 'XY'.repeat(16), 'a'.repeat(129)])
      assert.equal((await ask({ challenge })).statusCode, 400);
  });
});

describe('GET /api/diagnostics', () => {
  it('lists the problems at or below a path, and looks at no other Work item', async (t) => {
    const running = await startForTest(t, { watch: false });
    const { call, workspace } = running;
    const [one, other] = await Promise.all(
      ['One', 'Other'].map(async (title) => {
        const { body } = await call<Case>('POST', '/cases', { title, type: 'chore' });
        writeFiles(join(workspace, body.path), { 'pr/pr.md': '---\nnumber: none\n---\n' });
        return `${body.path}/pr/pr.md`;
      }),
    );
    const filesAt = async (query: string) => {
      const { body } = await call<ProblemRecord[]>('GET', `/api/diagnostics${query}`);
      return [...new Set(body.map(({ file }) => file))].toSorted();
    };
    const dir = dirname(dirname(one ?? ''));
    for (const path of [dir, `${dir}/`, `./${dir}`, `${dir}/pr`, one])
      assert.deepEqual(await filesAt(`?path=${path}`), [one]);
    for (const path of ['workspace.md', 'webhooks', 'case'])
      assert.deepEqual(await filesAt(`?path=${path}`), []);
    const { problems } = running.service.store;
    assert.deepEqual(
      problems.all().filter(({ file }) => file === other),
      [],
    );
    const both = [one, other].toSorted();
    for (const query of ['?path=cases', `?path=${dirname(dir)}`, '?path=.', '?path=./', ''])
      assert.deepEqual(await filesAt(query), both);
    assert.deepEqual(await filesAt(`?path=${dir.slice(0, -1)}`), []);
    for (const path of ['/', workspace, '..', '../x', 'cases/../..'])
      assertProblem(await call('GET', `/api/diagnostics?path=${path}`), 400, 'bad_request');
  });
});

describe('GET /guides', () => {
  it('lists what dossier help lists, with where it lies', async () => {
    const guides = json(await hapi.inject('/guides')) as Record<string, string>[];
    assert.deepEqual(
      guides.map(({ path, summary }) => [path, summary]).toSorted(),
      GUIDES.map(({ path, text }) => [path, text.split('\n')[2]]).toSorted(),
    );
    assert.deepEqual(Object.keys(guides[0] ?? {}), ['topic', 'title', 'summary', 'path']);
  });
});

describe('GET /guides/{topic}', () => {
  it('reads a guide by its topic, or by one word of it', async () => {
    const { path, text } = GUIDES.find((one) => one.text.startsWith('# Export and import')) ?? {};
    for (const topic of ['export-and-import', 'import'])
      assert.deepEqual(json(await hapi.inject(`/guides/${topic}`)), {
        ...{ topic: 'export-and-import', title: 'Export and import' },
        ...{ summary: text?.split('\n')[2], path, text },
      });
  });

  it('says which there are where there is none: not_found', async () => {
    const answer = await hapi.inject('/guides/weather');
    assert.equal(answer.statusCode, 404);
    const { code, detail } = json(answer) as Record<string, string>;
    assert.equal(code, 'not_found');
    assert.match(detail ?? '', /no guide to weather\. Topics: api-access, client, .*worktrees/);
  });
});
