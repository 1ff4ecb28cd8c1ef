import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { FieldSync } from '../../store/records/sync.ts';
import { type ImportedItem, type WithHost, withHost } from '../helpers/linked.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { assertProblem, told } from '../helpers/work-item.ts';

const brief = (fields: FieldSync[]): string[] => fields.map((one) => `${one.field} ${one.outcome}`);

const put = ({ call }: WithHost, { item }: ImportedItem, change: object) =>
  call('PUT', `/cases/${item.id}`, change);

describe('POST /api/cases/{id}/github/sync', () => {
  it('takes what changed on the host, keeps what changed here, and leaves the state alone', async (t) => {
    const scene = await withHost(t);
    const { host } = scene;
    const one = await scene.imported({ title: 'One', body: 'a\r\nb', labels: ['bug'] });
    await host.issues.edit(one.number, {
      title: 'Two',
      state: 'closed',
      labels: ['bug', 'ui'],
      milestone: 'v1',
    });
    await put(scene, one, { description: 'ours' });
    const { status, body } = await one.sync();
    assert.deepEqual([status, body.outcome], [200, 'updated']);
    assert.deepEqual(brief(body.fields), [
      'title taken',
      'description kept',
      'labels taken',
      'milestone taken',
      'state taken',
    ]);
    const now = await one.case();
    assert.deepEqual([now.title, now.description, now.state], ['Two', 'ours', 'OPEN']);
    const link = await one.link();
    assert.deepEqual(
      [link.status, link.state, link.labels.toSorted(), link.milestone],
      ['linked', 'closed', ['bug', 'ui'], 'v1'],
    );
    assert.match(
      one.read('link.md'),
      /synced: title, labels, milestone, state taken from the issue/,
    );
    assert.deepEqual(
      told(scene.running.events).filter((event) => event === 'case_updated').length,
      2,
    );
    const [entry, ...more] = await one.log();
    assert.deepEqual([entry?.id, entry?.trigger, more], [body.sync_id, 'sync', []]);
    assert.deepEqual(entry?.fields, body.fields);
    assert.deepEqual(brief((await one.sync()).body.fields), ['description kept']);
    assert.equal((await one.log()).length, 1);
    assert.deepEqual(host.writes(), []);
  });

  it('keeps what changed on both sides and answers all three versions, until the operator prefers one', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One', body: 'base\n\n```\ncode\n```\n' });
    await scene.host.issues.edit(one.number, { title: 'Theirs', body: 'theirs', labels: ['ui'] });
    await put(scene, one, { title: 'Ours', description: 'ours\n````\n' });
    const first = await one.sync();
    assertProblem(first, 409, 'sync_conflict');
    assert.deepEqual(brief(first.body.fields), [
      'title conflict',
      'description conflict',
      'labels taken',
    ]);
    assert.deepEqual(first.body.fields[0], {
      ...{ field: 'title', outcome: 'conflict' },
      ...{ base: 'One', here: 'Ours', host: 'Theirs' },
    });
    assert.deepEqual((await one.log())[0]?.fields, first.body.fields);
    assert.equal((await one.link()).status, 'conflict');
    const second = await one.sync();
    assert.deepEqual(brief(second.body.fields), ['title conflict', 'description conflict']);
    const third = await one.sync();
    assert.equal(third.body.sync_id, second.body.sync_id);
    assert.equal((await one.log()).length, 2);
    const settled = await one.sync({ prefer: 'remote' });
    assert.deepEqual([settled.status, settled.body.outcome], [200, 'updated']);
    assert.deepEqual(brief(settled.body.fields), ['title settled', 'description settled']);
    const now = await one.case();
    assert.deepEqual([now.title, now.description], ['Theirs', 'theirs']);
    const last = (await one.log()).at(-1);
    assert.deepEqual([last?.prefer, last?.fields[1]?.here], ['remote', 'ours\n````\n']);
    assert.equal((await one.link()).status, 'linked');
    assert.equal((await one.sync()).body.outcome, 'unchanged');
  });

  it('keeps what is here for good when the operator prefers that', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    await put(scene, one, { title: 'Ours' });
    assert.equal((await one.sync({ prefer: 'local' })).body.outcome, 'updated');
    assert.equal((await one.case()).title, 'Ours');
    assert.deepEqual(brief((await one.sync()).body.fields), ['title kept']);
    await scene.host.issues.edit(one.number, { title: 'Theirs again' });
    assertProblem(await one.sync(), 409, 'sync_conflict');
  });

  it('finds a conflict settled that was edited away by hand', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    one.edit('case.md', (text) => text.replace('title: One', 'title: Ours'));
    assertProblem(await one.sync(), 409, 'sync_conflict');
    one.edit('case.md', (text) => text.replace('title: Ours', 'title: Theirs'));
    assert.deepEqual(brief((await one.sync()).body.fields), ['title same']);
    assert.equal((await one.link()).status, 'linked');
  });

  it('merges with what is saved while the host answers', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    await scene.host.issues.edit(one.number, { title: 'Theirs', labels: ['ui'] });
    const quiet = scene.host.fail('silence', { graphql: 'Issues' });
    const syncing = one.sync();
    await quiet.met;
    one.edit('case.md', (text) => text.replace('title: One', 'title: Ours'));
    one.edit('link.md', (text) => text.replace('labels: []', 'labels: [mine]'));
    quiet.release();
    const answer = await syncing;
    assertProblem(answer, 409, 'sync_conflict');
    assert.deepEqual(brief(answer.body.fields), ['title conflict', 'labels conflict']);
    assert.equal((await one.case()).title, 'Ours');
    assert.deepEqual((await one.link()).labels, ['mine']);
  });

  it('takes nothing of an issue to which it is linked no more, nor compares one with the copy of another', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    const other = await scene.host.issues.add({ title: 'Other' });
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    const quiet = scene.host.fail('silence', { graphql: 'Issues' });
    const syncing = one.sync();
    await quiet.met;
    one.edit('link.md', (text) => text.replace(`number: ${one.number}`, `number: ${other.number}`));
    quiet.release();
    assertProblem(await syncing, 409, 'file_busy');
    assert.equal((await one.case()).title, 'One');
    const answer = await one.sync();
    assertProblem(answer, 409, 'sync_conflict');
    assert.deepEqual(brief(answer.body.fields), ['title conflict']);
    assert.equal((await one.sync({ prefer: 'remote' })).status, 200);
    assert.equal((await one.case()).title, 'Other');
    assert.equal((await one.sync()).body.outcome, 'unchanged');
  });

  it('comes to the same when two sync at once', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    const both = await Promise.all([one.sync(), one.sync()]);
    assert.deepEqual(both.map(({ body }) => body.outcome).toSorted(), ['unchanged', 'updated']);
    assert.equal((await one.log()).length, 1);
  });

  it('tells of an issue that was moved or deleted, and goes on serving what is here', async (t) => {
    const scene = await withHost(t, { repositories: ['acme/other'] });
    const [one, two] = [await scene.imported(), await scene.imported()];
    const to = await scene.host.issues.transfer(one.number, 'acme/other');
    const moved = await one.sync();
    assertProblem(moved, 404, 'codehost_gone');
    assert.match(moved.text, new RegExp(`acme/other/issues/${to}`));
    const link = await one.link();
    assert.deepEqual(
      [link.status, link.moved_to?.endsWith(`acme/other/issues/${to}`)],
      ['moved', true],
    );
    scene.host.issues.remove(two.number);
    assertProblem(await two.sync(), 404, 'codehost_gone');
    assertProblem(await two.sync(), 404, 'codehost_gone');
    assert.equal((await two.link()).status, 'missing');
    assert.deepEqual(
      (await two.log()).map(({ outcome }) => outcome),
      ['missing'],
    );
    one.edit('link.md', (text) =>
      text
        .replace('repository: acme/app', 'repository: acme/other')
        .replace(`number: ${one.number}`, `number: ${to}`),
    );
    assert.equal((await one.sync()).status, 200);
    const now = await one.link();
    assert.deepEqual([now.status, 'moved_to' in now], ['linked', false]);
  });

  it('syncs a link made by hand: what is empty here is taken, and what differs is for the operator', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One', body: 'theirs', labels: ['bug'] });
    rmSync(join(scene.running.workspace, one.item.path, 'issue.md'));
    one.write(
      'link.md',
      `---\nissue:\n  repository: acme/app # by hand\n  number: ${one.number}\n---\n`,
    );
    assert.equal((await one.link()).status, 'stale');
    await put(scene, one, { title: 'Ours', description: '' });
    const first = await one.sync();
    assertProblem(first, 409, 'sync_conflict');
    assert.deepEqual(brief(first.body.fields), [
      'title conflict',
      'description taken',
      'labels taken',
      'state taken',
    ]);
    assert.ok(!('base' in (first.body.fields[0] ?? {})));
    assert.ok(!existsSync(join(scene.running.workspace, one.item.path, 'issue.md')));
    assert.equal((await one.sync({ prefer: 'local' })).status, 200);
    assert.match(one.read('link.md'), /repository: acme\/app # by hand\n/);
    assert.equal((await one.case()).description, 'theirs');
  });

  it('answers 404, 422 and 409 for what is not there, not linked, or cannot be read', async (t) => {
    const scene = await withHost(t);
    const path = `/api/cases/${NOBODY}/github`;
    assertProblem(await scene.call('POST', `${path}/sync`), 404, 'not_found');
    assertProblem(await scene.call('GET', path), 404, 'not_found');
    assertProblem(await scene.call('GET', `${path}/sync-log`), 404, 'not_found');
    const one = await scene.imported();
    const good = one.read('link.md');
    rmSync(join(scene.running.workspace, one.item.path, 'link.md'));
    assertProblem(await one.sync(), 422, 'not_linked');
    const none = await scene.call('GET', `/api/cases/${one.item.id}/github`);
    assert.deepEqual(none.body, { case_id: one.item.id, issue: null, pr: null });
    one.write('link.md', good);
    assert.equal((await one.link()).number, 1);
    one.write('link.md', good.replace('number: 1', 'number: none'));
    assertProblem(await one.sync(), 409, 'unreadable_record');
    const last = await scene.call<{ issue: object; problems: { code: string; message: string }[] }>(
      'GET',
      `/api/cases/${one.item.id}/github`,
    );
    assert.equal(last.body.problems[0]?.message, 'issue.number: must be a whole number, not none');
    await scene.running.restart();
    const unread = await scene.call('GET', `/api/cases/${one.item.id}/github`);
    assertProblem(unread, 409, 'unreadable_record');
    one.write('link.md', good);
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    for (const name of ['issue.md', 'case.md']) {
      const text = one.read(name);
      one.write(name, text.replace('title:', 'title: ['));
      assertProblem(await one.sync(), 409, 'unreadable_record');
      one.write(name, text);
    }
    one.write('syncs/2026-01-01T00-00-00Z-1.md', '---\nid: 1\n---\n');
    const log = await scene.call('GET', `/api/cases/${one.item.id}/github/sync-log`);
    assertProblem(log, 409, 'unreadable_record');
    assertProblem(await one.sync({ prefer: 'mine' }), 400, 'bad_request');
  });

  it('tells what keeps the host from answering, and changes nothing', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    const before = one.read('link.md');
    const failures: [Parameters<typeof scene.host.fail>[0], number, string][] = [
      ['graphql rate limit', 429, 'codehost_rate_limited'],
      ['graphql forbidden', 403, 'codehost_forbidden'],
      ['graphql not found', 404, 'codehost_not_found'],
    ];
    for (const [failure, status, code] of failures) {
      scene.host.fail(failure, { graphql: 'Issues' });
      assertProblem(await one.sync(), status, code);
    }
    await scene.host.stop();
    assertProblem(await one.sync(), 503, 'codehost_unreachable');
    assert.equal(one.read('link.md'), before);
    assert.equal((await one.case()).title, 'One');
    assert.equal((await one.link()).status, 'linked');
    assert.deepEqual(await one.log(), []);
  });

  it('goes on after a crash before the base was moved, and records it', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported({ title: 'One' });
    const base = one.read('issue.md');
    await scene.host.issues.edit(one.number, { title: 'Theirs' });
    await one.sync();
    // As a kill between the two writes leaves it.
    one.write('issue.md', base);
    rmSync(join(scene.running.workspace, one.item.path, 'syncs'), { recursive: true });
    const { body } = await one.sync();
    assert.deepEqual(brief(body.fields), ['title same']);
    assert.equal((await one.case()).title, 'Theirs');
    assert.equal(readdirSync(join(scene.running.workspace, one.item.path, 'syncs')).length, 1);
  });
});

interface SyncedAll {
  outcomes: { case_id: string; number: number; outcome: string; detail: string | null }[];
  stopped: { code: string; resume_at: string | null } | null;
}

const all = ({ call }: WithHost) => call<SyncedAll>('POST', '/api/codehost/sync-all');

describe('POST /api/codehost/sync-all', () => {
  it('syncs all that are linked and tells an outcome for each', async (t) => {
    const scene = await withHost(t);
    assert.deepEqual((await all(scene)).body, { outcomes: [], stopped: null });
    const items: ImportedItem[] = [];
    for (const title of ['same', 'taken', 'conflict', 'missing', 'broken'])
      items.push(await scene.imported({ title }));
    const [same, taken, conflict, missing, broken] = items as [
      ImportedItem,
      ImportedItem,
      ImportedItem,
      ImportedItem,
      ImportedItem,
    ];
    for (const { number } of [taken, conflict, broken])
      await scene.host.issues.edit(number, { title: 'Theirs' });
    await put(scene, conflict, { title: 'Ours' });
    scene.host.issues.remove(missing.number);
    broken.edit('case.md', (text) => text.replace('title:', 'title: ['));
    const { status, body } = await all(scene);
    assert.equal(status, 200);
    assert.equal(body.stopped, null);
    const outcomes = new Map(body.outcomes.map((one) => [one.case_id, one.outcome]));
    assert.deepEqual(
      [same, taken, conflict, missing, broken].map(({ item }) => outcomes.get(item.id)),
      ['unchanged', 'updated', 'conflict', 'missing', 'failed'],
    );
    assert.equal((await taken.case()).title, 'Theirs');
    assert.equal((await taken.log())[0]?.trigger, 'sync_all');
  });

  it('stops at the rate limit with what is done, and goes on there when it is asked again', async (t) => {
    const scene = await withHost(t, { repositories: ['acme/other'] });
    const [one, two] = [await scene.imported(), await scene.imported()];
    const { number } = await scene.host.issues.add({ repository: 'acme/other' });
    two.edit('link.md', (text) =>
      text.replace('acme/app', 'acme/other').replace(`number: ${two.number}`, `number: ${number}`),
    );
    await scene.running.restart();
    // The second question meets it.
    const first = await all(scene);
    assert.equal(first.status, 200);
    const plan = { graphql: 'Issues', times: 1 };
    const quiet = scene.host.fail('silence', plan);
    scene.host.fail('graphql rate limit', plan);
    const syncing = all(scene);
    await quiet.met;
    quiet.release();
    const { status, body } = await syncing;
    assert.equal(status, 200);
    assert.equal(body.stopped?.code, 'codehost_rate_limited');
    assert.ok(body.stopped?.resume_at !== null);
    assert.deepEqual(body.outcomes.map(({ outcome }) => outcome).toSorted(), [
      'not_reached',
      'unchanged',
    ]);
    const left = body.outcomes.find(({ outcome }) => outcome === 'not_reached')?.case_id;
    const again = await all(scene);
    assert.equal(again.body.outcomes[0]?.case_id, left);
    assert.ok([one.item.id, two.item.id].includes(left ?? ''));
    scene.host.fail('graphql rate limit', plan);
    assertProblem(await all(scene), 429, 'codehost_rate_limited');
  });

  it('goes past a repository that is not there', async (t) => {
    const scene = await withHost(t);
    const [one, two] = [await scene.imported(), await scene.imported()];
    one.edit('link.md', (text) => text.replace('repository: acme/app', 'repository: acme/gone'));
    await scene.running.restart();
    const { body } = await all(scene);
    const outcomes = new Map(body.outcomes.map((each) => [each.case_id, each]));
    assert.deepEqual(
      [outcomes.get(one.item.id)?.outcome, outcomes.get(two.item.id)?.outcome],
      ['failed', 'unchanged'],
    );
    assert.match(outcomes.get(one.item.id)?.detail ?? '', /codehost_not_found/);
  });

  it('runs once at a time, and single syncs go on beside it', async (t) => {
    const scene = await withHost(t);
    const one = await scene.imported();
    const quiet = scene.host.fail('silence', { graphql: 'Issues' });
    const first = all(scene);
    await quiet.met;
    assertProblem(await all(scene), 409, 'sync_running');
    assert.equal((await one.sync()).status, 200);
    quiet.release();
    assert.equal((await first).status, 200);
    assert.equal((await all(scene)).status, 200);
  });
});
