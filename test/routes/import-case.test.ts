import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { linkedTo } from '../../store/codehost/link-index.ts';
import type { Case } from '../../store/records/case.ts';
import { eventually } from '../helpers/eventually.ts';
import { withHost } from '../helpers/linked.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { startForTest } from '../helpers/service.ts';
import { forgetAnswer } from '../helpers/unanswered.ts';
import { assertProblem } from '../helpers/work-item.ts';

const IMPORT = '/api/codehost/issues/import-case';

describe('POST /api/codehost/issues/import-case after a repository was renamed', () => {
  it('knows an issue that was imported under the former name', async (t) => {
    const { host, call, imported } = await withHost(t);
    const one = await imported();
    await host.repositories.rename('acme/application');
    assert.equal((await one.sync()).status, 200);
    assert.equal((await one.link()).repository, 'acme/application');
    assertProblem(await call('POST', IMPORT, { number: one.number }), 409, 'already_exists');
  });
});

describe('POST /api/codehost/issues/import-case', () => {
  it('makes a Work item that is linked from its first moment, with the issue beside it', async (t) => {
    const scene = await withHost(t);
    const body = 'First\r\n\r\n```sh\r\nmake\r\n```\r\n';
    const one = await scene.imported({
      title: 'Tax is off by one',
      body,
      labels: ['urgent', 'enhancement'],
      assignees: ['operator'],
      milestone: 'v1',
    });
    const { id, title, type, state, notes, path } = one.item;
    assert.deepEqual([title, type, state, notes], ['Tax is off by one', 'feature', 'OPEN', []]);
    assert.equal(one.item.description, body.replaceAll('\r\n', '\n'));
    assert.ok(one.read('issue.md').includes(body));
    const link = await one.link();
    assert.deepEqual(
      [link.host, link.repository, link.number, link.status, link.state],
      ['github.com', 'acme/app', one.number, 'linked', 'open'],
    );
    assert.deepEqual(
      [link.labels.toSorted(), link.assignees, link.milestone],
      [['enhancement', 'urgent'], ['operator'], 'v1'],
    );
    assert.deepEqual(readdirSync(join(scene.running.workspace, path)).toSorted(), [
      'case.md',
      'issue.md',
      'link.md',
    ]);
    assert.deepEqual(
      (await scene.call<Case[]>('GET', '/cases')).body.map((each) => each.id),
      [id],
    );
    assert.deepEqual(scene.host.writes(), []);
    const again = await one.sync();
    assert.deepEqual(
      [again.status, again.body.outcome, again.body.fields],
      [200, 'unchanged', []],
      again.text,
    );
    const { headers } = await scene.call('GET', `/api/cases/${id}/github`);
    const same = await scene.call('GET', `/api/cases/${id}/github`, undefined, {
      'if-none-match': String(headers.etag),
    });
    assert.equal(same.status, 304);
  });

  it('answers as the first would have when the daemon died before it had answered', async (t) => {
    const { host, call, running } = await withHost(t);
    const { number } = await host.issues.add({});
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    const send = () => call<Case>('POST', IMPORT, { number }, headers);
    const first = await send();
    forgetAnswer(running.workspace, 'k');
    const again = await send();
    assert.deepEqual([again.status, again.body], [201, first.body], again.text);
    assert.equal((await call<Case[]>('GET', '/cases')).body.length, 1);
  });

  it('takes the type that is given, and answers where the Work item is', async (t) => {
    const { host, call } = await withHost(t);
    const { number } = await host.issues.add({ labels: ['bug'] });
    const made = await call<Case>('POST', IMPORT, { number, type: 'chore' });
    assert.deepEqual([made.status, made.body.type], [201, 'chore']);
    assert.equal(made.headers.location, `/cases/${made.body.id}`);
    assert.equal((await call('GET', `/cases/${made.body.id}`)).headers.etag, made.headers.etag);
  });

  it('answers 409 for an issue that is imported, without asking the host, and of two at once makes one', async (t) => {
    const { host, call } = await withHost(t);
    const { number } = await host.issues.add();
    const both = await Promise.all([1, 2].map(() => call<Case>('POST', IMPORT, { number })));
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 409]);
    const made = both.find(({ status }) => status === 201)?.body.id;
    const asked = host.requests.length;
    const again = await call<{ case_id: string }>('POST', IMPORT, { number });
    assertProblem(again, 409, 'already_exists');
    assert.equal(again.body.case_id, made);
    assert.equal(host.requests.length, asked);
    assert.equal((await call<Case[]>('GET', '/cases')).body.length, 1);
    assert.equal((await call('DELETE', `/cases/${made}`)).status, 204);
    assert.equal((await call('POST', IMPORT, { number })).status, 201);
  });

  it('knows an issue that was linked by hand', async (t) => {
    const scene = await withHost(t, { watch: true });
    const { host, call } = scene;
    const one = await scene.imported();
    const other = await host.issues.add();
    one.edit('link.md', (text) => text.replace(`number: ${one.number}`, `number: ${other.number}`));
    await eventually(async () => {
      const known = await linkedTo(scene.running.service.store, {
        repository: 'acme/app',
        number: other.number,
      });
      assert.deepEqual(known, [one.item.id]);
    });
    assertProblem(await call('POST', IMPORT, { number: other.number }), 409, 'already_exists');
    const freed = await call<Case>('POST', IMPORT, { number: one.number });
    assert.equal(freed.status, 201, freed.text);
  });

  it('keeps what does not fit, and says so', async (t) => {
    const scene = await withHost(t);
    const title = `Long ${'word '.repeat(45)}end`;
    const body = '<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n';
    const one = await scene.imported({ title, body });
    assert.match(one.item.title, /^Long word .*…$/);
    assert.equal(one.item.notes.length, 2);
    assert.ok(one.read('issue.md').includes(title));
    assert.match(one.read('link.md'), /imported\. The title was shortened to one line/);
    const empty = await scene.imported({ title: 'Empty', body: '' });
    assert.equal(empty.item.description, '');
    assert.equal((await one.sync()).body.outcome, 'unchanged');
    assert.equal((await empty.sync()).body.outcome, 'unchanged');
  });

  it('says that a Work item was linked where the issue cannot be stored then', async (t) => {
    const { host, call, running } = await withHost(t);
    const { number } = await host.issues.add({ title: 'Tax' });
    const body = { title: 'Tax', type: 'bug', description: '' };
    const { body: item } = await call<Case>('POST', '/cases', body);
    mkdirSync(join(running.workspace, item.path, 'issue.md'));
    const failed = await call<{ detail: string }>('POST', IMPORT, { number, case_id: item.id });
    assert.match(failed.body.detail, /Before that, the Work item was linked to acme\/app#\d+\.$/);
  });

  it('links a Work item that is there, which keeps what it says', async (t) => {
    const { host, call } = await withHost(t);
    const { number } = await host.issues.add({ title: 'Theirs', body: 'Theirs', labels: ['bug'] });
    const { body: item } = await call<Case>('POST', '/cases', { title: 'Ours', type: 'bug' });
    const wish = { number, case_id: item.id };
    const [made, twice] = await Promise.all([1, 2].map(() => call<Case>('POST', IMPORT, wish)));
    assert.deepEqual([made?.status, twice?.status].toSorted(), [201, 409]);
    assert.deepEqual(
      [made, twice].filter((one) => one?.status === 201).map((one) => one?.body.title),
      ['Ours'],
    );
    const { body } = await call<{ issue: { status: string; labels: string[] } }>(
      'GET',
      `/api/cases/${item.id}/github`,
    );
    assert.deepEqual([body.issue.status, body.issue.labels], ['linked', ['bug']]);
    const now = (await call<Case>('GET', `/cases/${item.id}`)).body;
    assert.deepEqual([now.title, now.description], ['Ours', 'Theirs']);
    assertProblem(await call('POST', IMPORT, { ...wish, case_id: NOBODY }), 404, 'not_found');
  });

  it('answers 422 for a pull request, 404 for what is not there, 400 for what is no number', async (t) => {
    const { host, call } = await withHost(t);
    await host.repositories.push({ branch: 'work/one' });
    const pull = await host.pulls.open('work/one');
    assertProblem(await call('POST', IMPORT, { number: pull.number }), 422, 'invalid_state');
    assertProblem(await call('POST', IMPORT, { number: 99 }), 404, 'codehost_not_found');
    const { number } = await host.issues.add();
    host.issues.remove(number);
    assertProblem(await call('POST', IMPORT, { number }), 404, 'codehost_gone');
    assertProblem(await call('POST', IMPORT, { number: 0 }), 400, 'bad_request');
    assertProblem(await call('POST', IMPORT, { number: 1, project: 'no' }), 400, 'bad_request');
    assert.deepEqual((await call('GET', '/cases')).body, []);
  });

  it('tells what keeps the host from answering, and makes nothing', async (t) => {
    const { host, call } = await withHost(t);
    const told: [Parameters<typeof host.fail>[0], number, string][] = [
      ['secondary limit', 429, 'codehost_rate_limited'],
      ['bad credentials', 422, 'codehost_auth_invalid'],
      ['forbidden', 403, 'codehost_forbidden'],
      ['sso', 403, 'codehost_sso_required'],
    ];
    for (const [failure, status, code] of told) {
      const { number } = await host.issues.add();
      host.fail(failure, { path: new RegExp(`/issues/${number}$`), times: 100 });
      assertProblem(await call('POST', IMPORT, { number }), status, code);
    }
    await host.stop();
    assertProblem(await call('POST', IMPORT, { number: 1 }), 503, 'codehost_unreachable');
    assert.deepEqual((await call('GET', '/cases')).body, []);
  });

  it('wants a repository on a code host', async (t) => {
    const { call } = await startForTest(t);
    assertProblem(await call('POST', IMPORT, { number: 1 }), 422, 'codehost_repo_not_detected');
  });
});
