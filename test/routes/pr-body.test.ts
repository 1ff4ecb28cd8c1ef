import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { MARK } from '../../lib/host/pull-requests/compose.ts';
import { checkWorkspace } from '../../store/check/check.ts';
import type { BodyUpdate } from '../../store/records/body-update.ts';
import type { Proof } from '../../store/records/proof.ts';
import type { PullDraft } from '../../store/records/pull-request.ts';
import { forgetAnswer } from '../helpers/unanswered.ts';
import { BODY, type WithPull, withPull } from '../helpers/with-pull.ts';
import { assertProblem, sha256, tagFor, withCase } from '../helpers/work-item.ts';

const withDraft = async (t: TestContext) => {
  const work = await withCase(t, { description: 'The tax is off. @everyone fixes #3' });
  const at = `/api${work.at}/pr-body`;
  const compose = (body?: object) => work.call<PullDraft>('POST', `${at}/compose`, body);
  return { ...work, pr: at, compose };
};

describe('POST /api/cases/{id}/pr-body/compose', () => {
  it('composes the body from the Work item and its proof, the same each time, and keeps it', async (t) => {
    const { call, at, pr, compose, read } = await withDraft(t);
    const { body: proof } = await call<Proof>('POST', `${at}/proof`, {
      type: 'log',
      content: 'ok',
    });
    await call('PUT', `${at}/proof/${proof.id}/verify`);
    const made = await compose();
    assert.equal(made.status, 200, made.text);
    assert.match(made.body.body, /## How it was proved\n\n- `log`, verified/);
    assert.doesNotMatch(made.body.body, /@everyone|fixes #3/);
    assert.ok(made.body.body.trimEnd().endsWith(MARK));
    assert.equal((await compose()).body.body, made.body.body);
    const draft = await call<PullDraft>('GET', `${pr}/draft`);
    assert.deepEqual([draft.body.body, draft.body.edited], [made.body.body, false]);
    assert.equal(draft.headers.etag, tagFor(read('pr/draft.md')));
    const known = { 'if-none-match': String(draft.headers.etag) };
    assert.equal((await call('GET', `${pr}/draft`, undefined, known)).status, 304);
  });

  it('keeps what the operator wrote below the line, and title and labels', async (t) => {
    const { compose, read, write } = await withDraft(t);
    await compose({ title: 'Half up', labels: ['bug'] });
    write('pr/draft.md', `${read('pr/draft.md')}\n## Notes\n\nLook at *this*.\n`);
    const again = await compose();
    assert.equal(again.status, 200, again.text);
    assert.deepEqual([again.body.title, again.body.labels], ['Half up', ['bug']]);
    assert.match(again.body.body, /-->\n\n## Notes\n\nLook at \*this\*\.\n$/);
    assert.deepEqual([again.body.edited, (await compose()).body.body], [false, again.body.body]);
  });

  it('does not take away what was edited above the line, unless it may', async (t) => {
    const { compose, read, write, call, pr } = await withDraft(t);
    await compose();
    const edited = read('pr/draft.md').replace('## What was asked', '## What I was asked');
    write('pr/draft.md', edited);
    assertProblem(await compose(), 409, 'draft_edited');
    assert.equal(read('pr/draft.md'), edited);
    assert.equal((await call<PullDraft>('GET', `${pr}/draft`)).body.edited, true);
    const anew = await compose({ overwrite: true });
    assert.doesNotMatch(anew.body.body, /What I was asked/);
    write('pr/draft.md', '---\ntitle: Mine\n---\nAll mine.\n');
    assertProblem(await compose(), 409, 'draft_edited');
  });

  it('refuses what the host would not take, a title that is none, and a Work item that is none', async (t) => {
    const { compose, read, write, call } = await withDraft(t);
    await compose();
    write('pr/draft.md', `${read('pr/draft.md')}\n${'x'.repeat(65_500)}\n`);
    const { detail } = assertProblem(await compose(), 422, 'invalid_state');
    assert.match(detail, /65536/);
    assertProblem(await compose({ title: 'a\nb' }), 400, 'bad_request');
    const nobody = '/api/cases/00000000-0000-4000-8000-000000000000/pr-body';
    assertProblem(await call('POST', `${nobody}/compose`), 404, 'not_found');
    assertProblem(await call('GET', `${nobody}/draft`), 404, 'not_found');
    write('pr/draft.md', '---\ntitle: [\n---\n');
    assertProblem(await compose({ overwrite: true }), 409, 'unreadable_record');
  });

  it('makes one draft of two calls at once', async (t) => {
    const { compose, dir } = await withDraft(t);
    const [one, other] = await Promise.all([compose(), compose()]);
    assert.deepEqual([one.status, other.status], [200, 200]);
    assert.equal(one.body.body, other.body.body);
    assert.deepEqual(readdirSync(join(dir, 'pr')), ['draft.md']);
  });
});

describe('POST /api/cases/{id}/pr-body/suggest-update with an Idempotency-Key', () => {
  it('makes one update, also when the daemon died before it had answered', async (t) => {
    const scene = await withPull(t);
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    const path = `/api${scene.at}/pr-body`;
    const send = () =>
      scene.call<BodyUpdate>('POST', `${path}/suggest-update`, { body: 'Another body.' }, headers);
    const first = await send();
    assert.equal(first.status, 201, first.text);
    forgetAnswer(scene.running.workspace, 'k');
    const again = await send();
    assert.deepEqual([again.status, again.body.id], [201, first.body.id], again.text);
    assert.equal((await scene.call<BodyUpdate[]>('GET', `${path}/updates`)).body.length, 1);
  });
});

describe('GET /api/cases/{id}/pr-body/draft', () => {
  it('is 404 before anything was composed, and says what to do', async (t) => {
    const { call, pr } = await withDraft(t);
    const { detail } = assertProblem(await call('GET', `${pr}/draft`), 404, 'not_found');
    assert.match(detail, /pr-body\/compose/);
  });
});

const suggest = ({ api }: WithPull, body?: string) =>
  api<BodyUpdate>('POST', 'pr-body/suggest-update', body === undefined ? undefined : { body });

const suggested = async (scene: WithPull, body?: string): Promise<BodyUpdate> => {
  const made = await suggest(scene, body);
  assert.equal(made.status, 201, made.text);
  return made.body;
};

const approve = ({ api }: WithPull, { id }: BodyUpdate, body?: object) =>
  api<BodyUpdate>('POST', `pr-body/updates/${id}/approve`, body);

const published = async ({ host, number }: WithPull): Promise<string | null> =>
  (await host.pulls.read(number)).body;

describe('POST /api/cases/{id}/pr-body/suggest-update', () => {
  it('queues an update with what it changes, and publishes nothing', async (t) => {
    const scene = await withPull(t);
    const { host, api, call, id } = scene;
    const made = await suggest(scene, 'As it is now.\n');
    assert.equal(made.status, 201, made.text);
    const { body: update } = made;
    assert.deepEqual(
      [update.status, update.base_sha256, update.body_sha256],
      ['queued', sha256(BODY), sha256('As it is now.\n')],
    );
    assert.equal(
      update.diff,
      '--- published\n+++ proposed\n@@ -1 +1 @@\n-As it was opened.\n+As it is now.\n',
    );
    assert.deepEqual(host.writes(), []);
    assert.equal(made.headers.location, `/api/cases/${id}/pr-body/updates/${update.id}`);
    assert.deepEqual((await call<BodyUpdate>('GET', String(made.headers.location))).body, update);
    assert.deepEqual((await api<BodyUpdate[]>('GET', 'pr-body/updates')).body, [update]);
    const { layout } = scene.running.service.store;
    assert.deepEqual((await checkWorkspace(layout, async () => [])).findings, []);
  });

  it('takes the draft where no body is given, without the line', async (t) => {
    const scene = await withPull(t);
    await scene.api('POST', 'pr-body/compose');
    const update = await suggested(scene);
    assert.match(update.body, /^## What was asked/);
    assert.ok(!update.body.includes(MARK));
  });

  it('is 422 for what is published already, and the error of a host that is away', async (t) => {
    const scene = await withPull(t);
    assertProblem(await suggest(scene, BODY), 422, 'invalid_state');
    assertProblem(await suggest(scene, 'a\u0000b'), 400, 'bad_request', '/body');
    await scene.host.stop();
    assertProblem(await suggest(scene, 'Other.'), 503, 'codehost_unreachable');
    assert.deepEqual((await scene.api<BodyUpdate[]>('GET', 'pr-body/updates')).body, []);
    const { call, at } = await withCase(t);
    assertProblem(await call('POST', `/api${at}/pr-body/suggest-update`), 404, 'not_found');
  });
});

describe('POST /api/cases/{id}/pr-body/updates/{update_id}/approve', () => {
  it('publishes the update, once', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    const done = await approve(scene, update, { body_sha256: update.body_sha256 });
    assert.deepEqual([done.status, done.body.status], [200, 'published'], done.text);
    assert.equal(await published(scene), 'New.\n');
    const { body: pull } = await scene.api('GET', 'pr');
    assert.deepEqual([pull.body, pull.published_sha256], ['New.\n', sha256('New.\n')]);
    assertProblem(await approve(scene, update), 422, 'invalid_state');
    assert.equal(scene.host.writes().length, 1);
  });

  it('publishes once, of two approvals at once', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    const answers = await Promise.all([approve(scene, update), approve(scene, update)]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422]);
    assert.equal(scene.host.writes().length, 1);
  });

  it('leaves a body alone that was changed on the host since, and shows what was changed', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    await scene.host.pulls.edit(scene.number, { body: 'A human was here.\n' });
    const answer = await approve(scene, update);
    assertProblem(answer, 409, 'codehost_conflict');
    assert.match(String(answer.body.diff), /^-As it was opened\.\n\+A human was here\.$/m);
    assert.equal(await published(scene), 'A human was here.\n');
    assert.deepEqual(scene.host.writes(), []);
    const anew = await suggested(scene, 'New.\n');
    assert.equal((await approve(scene, anew)).status, 200);
  });

  it('compares the body that it reads last before it writes', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    const { requests } = scene.host;
    const before = requests.length;
    assert.equal((await approve(scene, update)).status, 200);
    const reads = requests.slice(before).map(({ method, body }) => {
      const { query = '' } = Object(body) as { query?: string };
      return query.startsWith('query PullRequest(') ? 'read' : method;
    });
    assert.deepEqual(
      reads.filter((one) => one === 'read' || one === 'PATCH'),
      ['read', 'PATCH'],
    );
  });

  it('records what others changed of the pull request meanwhile', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    const held = scene.host.fail('silence', { method: 'PATCH' });
    const asked = approve(scene, update);
    await held.met;
    await scene.host.pulls.close(scene.number);
    held.release();
    assert.equal((await asked).status, 200);
    const { body } = await scene.api<{ state: string }>('GET', 'pr');
    assert.equal(body.state, 'closed');
  });

  it('publishes what the file says, and refuses who has read something else', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    const [name = ''] = readdirSync(join(scene.dir, 'pr/updates')).filter((one) =>
      one.endsWith('.md'),
    );
    const file = `pr/updates/${name}`;
    scene.write(file, scene.read(file).replace('New.', 'Newer.'));
    const refused = await approve(scene, update, { body_sha256: update.body_sha256 });
    assertProblem(refused, 409, 'update_changed');
    assert.equal(await published(scene), BODY);
    assert.equal((await approve(scene, update)).status, 200);
    assert.equal(await published(scene), 'Newer.\n');
  });

  it('finds out what became of a write whose answer was lost, and never writes twice', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    scene.host.fail('reset', { method: 'PATCH', when: 'after' });
    const done = await approve(scene, update);
    assert.deepEqual([done.status, done.body.status], [200, 'published'], done.text);
    const next = await suggested(scene, 'Newer.\n');
    scene.host.fail('reset', { method: 'PATCH', when: 'before' });
    assertProblem(await approve(scene, next), 503, 'codehost_unreachable');
    assert.equal(await published(scene), 'New.\n');
    assert.equal((await approve(scene, next)).status, 200);
    assert.equal(scene.host.writes().length, 3);
  });

  it('is 404 for an update that there is not, and 409 for one that cannot be read', async (t) => {
    const scene = await withPull(t);
    const update = await suggested(scene, 'New.\n');
    assertProblem(
      await approve(scene, { ...update, id: sha256('').slice(0, 8) }),
      404,
      'not_found',
    );
    const other = { ...update, id: '00000000-0000-4000-8000-000000000000' };
    assertProblem(await approve(scene, other), 404, 'not_found');
    scene.write('pr/updates/mine.md', '---\nid: 1\n---\n');
    assertProblem(await approve(scene, update), 409, 'unreadable_record');
    assertProblem(await scene.api('GET', 'pr-body/updates'), 409, 'unreadable_record');
  });
});
