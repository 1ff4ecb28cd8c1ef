import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { proofDir } from '../../../../store/layout.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Proof } from '../../../../store/records/proof.ts';
import type { Where } from '../../../codehost/failures.ts';
import { writeFiles } from '../../../helpers/repository.ts';
import type { Answered } from '../../../helpers/service.ts';
import { assertProblem, tagFor } from '../../../helpers/work-item.ts';
import { openedScene, type PullScene, pullScene } from './fixture.ts';

interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

const failing = async ({ get }: PullScene): Promise<string[]> => {
  const { status, body, text } = await get<{ ready: boolean; checks: Check[] }>('ready-check');
  assert.equal(status, 200, text);
  const names = body.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  assert.equal(body.ready, names.length === 0);
  return names;
};

const transitions = async ({ get }: PullScene): Promise<string[]> => {
  const { body } = await get<{ from: string; to: string; source: string }[]>('state-timeline');
  return body.map(({ from, to, source }) => `${from} ${to} ${source}`);
};

describe('GET /api/cases/{id}/pr', () => {
  it('says what to do where there is none', async (t) => {
    const { get, running } = await pullScene(t);
    const none = await get('');
    assertProblem(none, 404, 'not_found');
    assert.match(none.body.detail, /pr\/draft.*pr\/create/);
    assert.equal((await running.call('GET', '/api/cases/nobody/pr')).status, 404);
    assertProblem(await get('status'), 404, 'not_found');
    assertProblem(await get('ready-check'), 404, 'not_found');
    assert.deepEqual((await get('state-timeline')).body, []);
  });

  it('goes on answering when the host is away, as the timeline and the draft do', async (t) => {
    const scene = await openedScene(t);
    await scene.host.stop();
    for (const what of ['', 'draft', 'state-timeline'])
      assert.equal((await scene.get(what)).status, 200, what);
    assertProblem(await scene.get('status'), 503, 'codehost_unreachable');
    assertProblem(await scene.get('ready-check'), 503, 'codehost_unreachable');
    const before = scene.read('pr/pr.md');
    assertProblem(await scene.post('sync-state'), 503, 'codehost_unreachable');
    assert.equal(scene.read('pr/pr.md'), before);
  });

  it('is what the file says, whoever wrote it, with its tag', async (t) => {
    const scene = await openedScene(t);
    const { running, item } = scene;
    const path = `${running.workspace}/${item.path}/pr`;
    writeFiles(path, { 'pr.md': scene.read('pr/pr.md').replace('Round half up', 'By hand') });
    const answer = await scene.get('');
    assert.deepEqual(
      [answer.body.title, answer.headers.etag],
      ['By hand', tagFor(scene.read('pr/pr.md'))],
    );
    writeFiles(path, { 'pr.md': '---\nnumber: seven\n---\n' });
    for (const told of [await scene.get(''), await scene.get('status'), await scene.post('create')])
      assertProblem(told, 409, 'unreadable_record');
    assert.equal(scene.read('pr/pr.md'), '---\nnumber: seven\n---\n');
  });
});

describe('PATCH /api/cases/{id}/pr', () => {
  const patch = ({ running, item }: PullScene, body: object, headers = {}) =>
    running.call('PATCH', `/api/cases/${item.id}/pr`, body, headers);

  it('changes title and labels on the host, keeps notes here, and leaves the body alone', async (t) => {
    const scene = await openedScene(t);
    await scene.host.repositories.label('urgent');
    await scene.host.pulls.edit(scene.number, { body: 'Edited on the host.' });
    const changed = await patch(scene, { title: 'Half up', labels: ['urgent'], notes: 'call Bob' });
    assert.equal(changed.status, 200, changed.text);
    const { title, labels, notes } = changed.body as Record<string, unknown>;
    assert.deepEqual([title, labels, notes], ['Half up', ['urgent'], 'call Bob']);
    const there = await scene.host.pulls.read(scene.number);
    assert.deepEqual([there.title, there.body], ['Half up', 'Edited on the host.']);
    assert.doesNotMatch(JSON.stringify(scene.host.requests), /call Bob/);
  });

  it('names what is not to be changed so', async (t) => {
    const scene = await openedScene(t);
    const before = scene.host.writes().length;
    assertProblem(await patch(scene, { body: 'x', state: 'closed' }), 400, 'bad_request');
    assertProblem(await patch(scene, { title: 'two\nlines' }), 400, 'bad_request', '/title');
    assert.equal(scene.host.writes().length, before);
  });

  it('honours If-Match, and of two at once lets one through', async (t) => {
    const scene = await openedScene(t);
    const tag = String((await scene.get('')).headers.etag);
    const answers = await Promise.all([
      patch(scene, { title: 'One' }, { 'if-match': tag }),
      patch(scene, { title: 'Two' }, { 'if-match': tag }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412]);
    const refused = answers.find(({ status }) => status === 412);
    assertProblem(refused as (typeof answers)[0], 412, 'precondition_failed');
    const { title } = await scene.host.pulls.read(scene.number);
    assert.equal((await scene.get('')).body.title, title);
  });

  it('replaces no title and no labels that others changed since they were read', async (t) => {
    const scene = await openedScene(t);
    const { host, number } = scene;
    for (const label of ['urgent', 'theirs']) await host.repositories.label(label);
    await host.pulls.edit(number, { title: 'Theirs', labels: ['theirs'] });
    // As the form of the console sends both.
    const both = { title: 'Round half up', labels: ['urgent'] };
    const refused = assertProblem(await patch(scene, both), 409, 'codehost_conflict');
    assert.match(
      refused.detail,
      /title is now Theirs, and its labels are now theirs\..*sync-state/,
    );
    assertProblem(await patch(scene, { labels: [] }), 409, 'codehost_conflict');
    const names = async (): Promise<unknown[]> => {
      const { title, labels } = await host.pulls.read(number);
      return [title, labels.map(({ name }) => name)];
    };
    assert.deepEqual(await names(), ['Theirs', ['theirs']]);
    await scene.post('sync-state');
    assert.equal((await patch(scene, { labels: ['theirs', 'urgent'] })).status, 200);
    assert.deepEqual(await names(), ['Theirs', ['theirs', 'urgent']]);
    await host.pulls.edit(number, { title: 'Theirs again' });
    assert.equal((await patch(scene, { labels: ['urgent'] })).status, 200);
    assert.deepEqual(await names(), ['Theirs again', ['urgent']]);
  });

  it('says which half of a change was made where the other was refused', async (t) => {
    const scene = await openedScene(t);
    const { host, number } = scene;
    await host.repositories.label('bug');
    host.fail('rejected', { method: 'PATCH' });
    const refused = await patch(scene, { labels: ['bug'], title: 'Round' });
    const { detail } = assertProblem(refused, 422, 'codehost_rejected');
    assert.match(detail, /Before that, the labels were changed\.$/);
    assert.equal((await host.pulls.read(number)).labels.length, 1);
  });

  it('says what it saved and changed before it failed: notes, and labels half way', async (t) => {
    const scene = await openedScene(t);
    const { host, number } = scene;
    for (const label of ['old', 'kept', 'new']) await host.repositories.label(label);
    await host.pulls.edit(number, { labels: ['old', 'kept'] });
    await scene.post('sync-state');
    host.fail('rejected', { method: 'PATCH' });
    const refused = await patch(scene, { notes: 'call Bob', title: 'Round' });
    const { detail } = assertProblem(refused, 422, 'codehost_rejected');
    assert.match(detail, /Before that, the notes were saved\.$/);
    assert.equal((await scene.get('')).body.notes, 'call Bob');
    host.fail('forbidden', { method: 'DELETE' });
    const half = await patch(scene, { labels: ['new'] });
    const told = assertProblem(half, 403, 'codehost_forbidden').detail;
    assert.match(told, /Before that, the label new was added\.$/);
    host.fail('forbidden', { method: 'DELETE', path: /kept$/ });
    const more = assertProblem(await patch(scene, { labels: ['new'] }), 403, 'codehost_forbidden');
    assert.match(more.detail, /Before that, the label old was removed\.$/);
  });

  it('keeps the labels that a bot adds while it writes, and removes what was read', async (t) => {
    const scene = await openedScene(t);
    const { host, number } = scene;
    for (const label of ['old', 'mine', 'bot']) await host.repositories.label(label);
    await host.pulls.edit(number, { labels: ['old'] });
    await scene.post('sync-state');
    const quiet = host.fail('silence', { method: 'POST', path: /\/labels$/ });
    const changing = patch(scene, { labels: ['mine'] });
    await quiet.met;
    await host.pulls.edit(number, { labels: ['old', 'bot'] });
    quiet.release();
    const changed = await changing;
    assert.deepEqual([changed.status, changed.body.labels], [200, ['bot', 'mine']], changed.text);
    const there = (await host.pulls.read(number)).labels.map(({ name }) => name);
    assert.deepEqual(there, ['bot', 'mine']);
  });

  it('takes labels again whose change failed half way', async (t) => {
    const scene = await openedScene(t);
    const { host, number } = scene;
    for (const label of ['old', 'kept', 'new']) await host.repositories.label(label);
    await host.pulls.edit(number, { labels: ['old', 'kept'] });
    await scene.post('sync-state');
    host.fail('forbidden', { method: 'DELETE' });
    const labels = ['kept', 'new'];
    assert.notEqual((await patch(scene, { labels })).status, 200);
    const there = (await host.pulls.read(number)).labels.map(({ name }) => name);
    assert.deepEqual(there.toSorted(), ['kept', 'new', 'old']);
    // One that others removed meanwhile is not given again.
    await host.pulls.edit(number, { labels: ['old', 'new'] });
    assertProblem(await patch(scene, { labels }), 409, 'codehost_conflict');
    await host.pulls.edit(number, { labels: there });
    const again = await patch(scene, { labels });
    assert.deepEqual([again.status, again.body.labels], [200, labels], again.text);
  });

  it('takes labels as the host does: without spaces around, and each once in any case', async (t) => {
    const scene = await pullScene(t);
    await scene.host.repositories.label('bug');
    scene.work();
    const made = await scene.post('create', { labels: ['Bug', ' bug'] });
    assert.deepEqual([made.status, made.body.labels], [201, ['bug']], made.text);
    const labels = ['BUG', 'bug ', 'new', ' '];
    const changed = await patch(scene, { labels });
    assert.deepEqual([changed.status, changed.body.labels], [200, ['bug', 'new']], changed.text);
  });

  it('takes a title for changed whose answer was lost', async (t) => {
    const scene = await openedScene(t);
    scene.host.fail('reset', { method: 'PATCH', path: /\/pulls\/\d+$/, when: 'after' });
    const changed = await patch(scene, { title: 'Half up' });
    assert.deepEqual([changed.status, changed.body.title], [200, 'Half up'], changed.text);
    scene.host.fail('forbidden', { method: 'PATCH', path: /\/pulls\/\d+$/ });
    assertProblem(await patch(scene, { title: 'No' }), 403, 'codehost_forbidden');
    assert.equal((await scene.get('')).body.title, 'Half up');
  });
});

describe('a write to the host', () => {
  interface Row {
    where: Where;
    send: (scene: PullScene) => Promise<Answered<unknown>>;
    done: RegExp;
  }
  const READY = 'markPullRequestReadyForReview';
  const rows: Record<string, Row> = {
    'PATCH …/pr': {
      where: { method: 'PATCH' },
      send: ({ running, item }) =>
        running.call('PATCH', `/api/cases/${item.id}/pr`, { title: 'Half up' }),
      done: /Before that, the title was changed\.$/,
    },
    'comment-proof': {
      where: { method: 'POST', path: /\/comments$/ },
      send: ({ post }) => post('comment-proof'),
      done: /Before that, the proof was posted \(https:.*\)\.$/,
    },
    'mark-ready': {
      where: { graphql: READY },
      send: ({ post }) => post('mark-ready'),
      done: /Before that, #\d+ was marked as ready for review\.$/,
    },
  };
  for (const [name, { where, send, done }] of Object.entries(rows))
    it(`is told where its record cannot be written: ${name}`, async (t) => {
      const scene = await openedScene(t);
      await scene.prove();
      const file = join(scene.running.workspace, scene.item.path, 'pr/pr.md');
      const quiet = scene.host.fail('silence', where);
      const sent = send(scene);
      await quiet.met;
      writeFileSync(file, '---\nnumber: [\n---\n');
      quiet.release();
      assert.match(assertProblem(await sent, 409, 'unreadable_record').detail, done);
    });

  it('is told where its record cannot be written: create', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    const quiet = scene.host.fail('silence', { method: 'POST', path: /\/pulls$/ });
    const sent = scene.post('create');
    await quiet.met;
    const dir = join(scene.running.workspace, scene.item.path, 'pr');
    mkdirSync(dir);
    writeFileSync(join(dir, 'pr.md'), '---\nnumber: [\n---\n');
    quiet.release();
    const { detail } = assertProblem(await sent, 409, 'unreadable_record');
    assert.match(
      detail,
      /Before that, #\d+ was opened on the host \(https:.*\)\. Before that, .* was pushed to origin at \w+\.$/,
    );
    rmSync(join(dir, 'pr.md'));
    const again = await scene.post('create');
    assert.deepEqual([again.status, again.body.adopted], [201, true], again.text);
  });
});

describe('GET /api/cases/{id}/pr/status', () => {
  it('tells a head that the host does not know yet, and records it', async (t) => {
    const scene = await openedScene(t);
    const first = scene.git('rev-parse', 'HEAD').trim();
    scene.host.pulls.setMergeable(scene.number, null);
    const later = scene.work({ 'later.ts': '1\n' });
    await scene.post('push');
    scene.host.pulls.setStaleHead(scene.number, first);
    const { body, text } = await scene.get<{ remote_head: string; notes: string[] }>('status');
    const told = body as unknown as Record<string, unknown>;
    assert.deepEqual(
      [told.head_sha, body.remote_head, told.head_in_sync, told.mergeable],
      [first, later, false, null],
      text,
    );
    assert.equal(body.notes.length, 2);
    assert.equal((await scene.get('')).body.head_in_sync, false);
    assert.deepEqual(await failing(scene), ['proof_gate', 'head_in_sync']);
    scene.host.pulls.setStaleHead(scene.number, undefined);
    assert.equal((await scene.get('status')).body.head_in_sync, true);
  });

  it('answers as the host does when that fails', async (t) => {
    const scene = await openedScene(t);
    scene.host.fail('secondary limit', { path: '/graphql' });
    const limited = await scene.get('status');
    assertProblem(limited, 429, 'codehost_rate_limited');
    assert.equal(limited.headers['retry-after'], '60');
    scene.host.fail('not found', { path: '/graphql' });
    assertProblem(await scene.get('status'), 404, 'codehost_not_found');
    assert.equal((await scene.get('')).status, 200);
  });
});

describe('GET /api/cases/{id}/pr/ready-check', () => {
  it('names all that is in the way', async (t) => {
    const scene = await openedScene(t);
    const { host, number, worktree } = scene;
    assert.deepEqual(await failing(scene), ['proof_gate']);
    await scene.prove();
    assert.deepEqual(await failing(scene), []);
    writeFiles(worktree.path, { 'tax.ts': 'changed\n' });
    assert.deepEqual(await failing(scene), ['worktree_clean']);
    scene.work({ 'tax.ts': 'changed\n' });
    assert.deepEqual(await failing(scene), ['pushed']);
    await scene.post('push');
    const review = await host.pulls.review(number, {
      state: 'CHANGES_REQUESTED',
      body: 'No.',
      comments: [{ path: 'tax.ts', line: 1, body: 'Why?' }],
    });
    assert.deepEqual(await failing(scene), ['reviews']);
    await host.pulls.dismiss(number, review.id);
    for (const thread of review.threads) host.pulls.resolve(thread);
    host.pulls.setMergeable(number, false);
    await host.repositories.check(worktree.branch, 'build', 'failure');
    assert.deepEqual(await failing(scene), ['mergeable', 'checks']);
  });

  it('says that the remote has more, after a colleague pushed, and advises no push', async (t) => {
    const scene = await openedScene(t);
    const { host, worktree, git } = scene;
    await scene.prove();
    const theirs = await host.repositories.push({ branch: worktree.branch });
    const words = new RegExp(`remote has commits .* \\(${theirs.slice(0, 12)}\\).* git merge`);
    const check = async (): Promise<string | undefined> => {
      const { body } = await scene.get<{ checks: Check[] }>('ready-check');
      return body.checks.find(({ ok }) => !ok)?.detail;
    };
    assert.match((await check()) ?? '', words);
    assert.match(assertProblem(await scene.post('mark-ready'), 422, 'invalid_state').detail, words);
    git('fetch', '--quiet', host.repository.root, worktree.branch);
    assert.match((await check()) ?? '', words);
    git('merge', '--quiet', '--ff-only', 'FETCH_HEAD');
    assert.deepEqual(await failing(scene), []);
  });
});

describe('POST /api/cases/{id}/pr/mark-ready', () => {
  const COMMENTS = { method: 'POST', path: /\/comments$/ };

  it('is behind the proof gate, and says what is missing', async (t) => {
    const scene = await openedScene(t);
    const required = { description: 'A log of the tests', type: 'test-log', required: true };
    await scene.running.call('POST', `/cases/${scene.item.id}/proof/checklist`, required);
    const before = scene.host.writes().length;
    const refused = await scene.post('mark-ready');
    assertProblem(refused, 422, 'proof_gate_blocked');
    assert.deepEqual(
      refused.body.missing.map(({ description }) => description),
      ['A log of the tests'],
    );
    await scene.prove();
    writeFiles(scene.worktree.path, { 'left.txt': 'behind\n' });
    const unready = await scene.post('mark-ready');
    assertProblem(unready, 422, 'invalid_state');
    assert.match(unready.body.detail, /left\.txt/);
    assert.equal(scene.host.writes().length, before);
    assert.equal((await scene.host.pulls.read(scene.number)).draft, true);
  });

  it('asks where a verification stands in the file alone', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    const proofs = `/cases/${scene.item.id}/proof`;
    const list = async (): Promise<Proof[]> =>
      (await scene.running.call<Proof[]>('GET', proofs)).body;
    const [{ id = '' } = {}] = await list();
    await scene.running.call('DELETE', `${proofs}/${id}/verify`);
    const folder = proofDir(join(scene.running.workspace, scene.item.path));
    const path = join(folder, readdirSync(folder).find((name) => name.endsWith('.md')) ?? '');
    writeFileSync(path, readFileSync(path, 'utf8').replace('verified: false', 'verified: true'));
    const [proof] = await list();
    assert.deepEqual([proof?.verified, proof?.verified_elsewhere], [true, true]);
    const refused = await scene.post('mark-ready');
    assert.match(assertProblem(refused, 409, 'verified_elsewhere').detail, new RegExp(id));
    assertProblem(await scene.post('comment-proof'), 409, 'verified_elsewhere');
    assert.deepEqual(await scene.host.pulls.comments(scene.number), []);
    const body = async (): Promise<string> => (await scene.get('draft')).body.body;
    assert.match(await body(), /^- `test-log`, not verified on the machine that wrote this/m);
    assert.equal((await scene.host.pulls.read(scene.number)).draft, true);
    await scene.running.call('PUT', `${proofs}/${id}/verify`);
    assert.equal((await list())[0]?.verified_elsewhere, undefined);
    assert.match(await body(), /^- `test-log`, verified 20/m);
    assert.equal((await scene.post('mark-ready')).status, 200);
  });

  it('ends the draft once, of two at once, and shows the proof in one comment', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    const answers = await Promise.all([scene.post('mark-ready'), scene.post('mark-ready')]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
      answers[0]?.text,
    );
    assert.deepEqual(answers.map(({ body }) => body.changed).toSorted(), [false, true]);
    assert.equal((await scene.host.pulls.read(scene.number)).draft, false);
    const comments = await scene.host.pulls.comments(scene.number);
    assert.equal(comments.length, 1);
    assert.match(comments[0]?.body ?? '', /```text\nall 12 tests pass, thanks to @colleague\n```/);
    assert.deepEqual(await transitions(scene), ['none draft service', 'draft open service']);
    const { body } = await scene.get<{ proof_comment: { id: number } }>('');
    assert.equal(body.proof_comment.id, comments[0]?.id);
  });

  it('takes a comment that fails for a warning', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    scene.host.fail('forbidden', COMMENTS);
    const done = await scene.post('mark-ready');
    assert.deepEqual([done.status, done.body.comment, done.body.state], [200, null, 'open']);
    assert.match(done.body.warnings[0] ?? '', /comment-proof/);
    assert.equal((await scene.post('comment-proof')).status, 200);
    assert.equal((await scene.host.pulls.comments(scene.number)).length, 1);
  });

  it('is a conflict only where the host refuses to change it so, not where it is read', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    scene.host.fail('conflict', { graphql: 'query PullRequest(' });
    assertProblem(await scene.post('mark-ready'), 422, 'codehost_rejected');
    scene.host.fail('conflict', { graphql: 'markPullRequestReadyForReview' });
    assertProblem(await scene.post('mark-ready'), 409, 'codehost_conflict');
    scene.host.fail('conflict', COMMENTS);
    assertProblem(await scene.post('comment-proof'), 409, 'codehost_conflict');
    assert.equal((await scene.host.pulls.read(scene.number)).draft, true);
  });

  it('finds out what became of a request whose answer was lost', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    scene.host.fail('reset', { graphql: 'markPullRequestReadyForReview', when: 'after' });
    const done = await scene.post('mark-ready');
    assert.deepEqual([done.status, done.body.changed, done.body.state], [200, true, 'open']);
    const mutations = scene.host.writes().filter(({ path }) => path === '/graphql');
    assert.equal(mutations.length, 1);
    await scene.post('sync-state');
    assert.deepEqual(await transitions(scene), ['none draft service', 'draft open service']);
  });

  it('is not told of a draft that others closed while an answer was lost', async (t) => {
    const scene = await openedScene(t);
    const { host, number } = scene;
    await scene.prove();
    const lost = host.fail('reset', { graphql: 'markPullRequestReadyForReview' });
    const answer = scene.post('mark-ready');
    await lost.met;
    const held = host.fail('silence', { graphql: 'query PullRequest(' });
    await held.met;
    await host.pulls.close(number);
    held.release();
    const told = await answer;
    assertProblem(told, 503, 'codehost_unreachable');
    assert.equal(told.body.outcome, 'unknown');
    assert.deepEqual(await host.pulls.comments(number), []);
    assert.deepEqual(await transitions(scene), ['none draft service']);
  });

  it('records the head that the host answers, and warns where it is not the checked one', async (t) => {
    const scene = await openedScene(t);
    const { host, worktree } = scene;
    await scene.prove();
    const held = host.fail('silence', { graphql: 'markPullRequestReadyForReview' });
    const answer = scene.post('mark-ready');
    await held.met;
    const theirs = await host.repositories.push({ branch: worktree.branch });
    held.release();
    const { status, body } = await answer;
    assert.deepEqual([status, body.state, body.head_sha], [200, 'open', theirs]);
    assert.match(body.warnings[0] ?? '', new RegExp(`marked ready at ${theirs.slice(0, 12)}`));
    const kept = (await scene.get('')).body;
    assert.deepEqual([kept.head_sha, kept.head_in_sync], [theirs, null]);
  });

  it('leaves one alone that is closed', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    await scene.host.pulls.close(scene.number);
    assertProblem(await scene.post('mark-ready'), 422, 'invalid_state');
  });
});

describe('POST /api/cases/{id}/pr/comment-proof', () => {
  it('is brought up to date in its place, and doubled by no lost answer', async (t) => {
    const scene = await openedScene(t);
    assertProblem(await scene.post('comment-proof'), 422, 'proof_gate_blocked');
    await scene.prove();
    scene.host.fail('reset', { method: 'POST', path: /\/comments$/, when: 'after' });
    const found = await scene.post('comment-proof');
    assert.deepEqual([found.status, found.body.updated], [200, false], found.text);
    assert.match(scene.read('pr/pr.md'), /^proof_comment:/m);
    await scene.prove();
    const there = await scene.host.pulls.comments(scene.number);
    const other = { status: 200, headers: { 'content-type': 'application/json' }, body: {} };
    scene.host.fail(other, { method: 'PATCH', path: /\/comments\// });
    assertProblem(await scene.post('comment-proof'), 502, 'codehost_upstream');
    assert.deepEqual(await scene.host.pulls.comments(scene.number), there);
    scene.host.fail('bad gateway', { method: 'PATCH', path: /\/comments\//, when: 'after' });
    const again = await scene.post('comment-proof');
    assert.deepEqual([again.status, again.body.updated], [200, true], again.text);
    const comments = await scene.host.pulls.comments(scene.number);
    assert.equal(comments.length, 1);
    assert.match(comments[0]?.body ?? '', /2 verified proofs/);
  });

  it('is found by the next call where nobody could tell whether it was made', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    const { host, number } = scene;
    const lost = host.fail('reset', { method: 'POST', path: /\/comments$/, when: 'after' });
    const look = { method: 'GET', path: /\/comments$/, times: 3 };
    void lost.met.then(() => host.fail('bad gateway', look));
    const first = await scene.post('comment-proof');
    const { detail } = assertProblem(first, 503, 'codehost_unreachable');
    assert.ok(
      detail.endsWith(
        `may have been made: check acme/app#${number} on github.com before you try again.`,
      ),
      detail,
    );
    assert.equal((await host.pulls.comments(number)).length, 1);
    host.requests.length = 0;
    const second = await scene.post('comment-proof');
    assert.deepEqual([second.status, second.body.updated], [200, true], second.text);
    assert.deepEqual(host.writes(), []);
    assert.equal((await host.pulls.comments(number)).length, 1);
  });

  it('says that nothing was written where what it reads first is of another form', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    const { host } = scene;
    const odd = { status: 200, headers: { 'content-type': 'application/json' }, body: [null] };
    for (const path of [/\/comments$/, /^\/user$/]) {
      host.fail(odd, { method: 'GET', path });
      const refused = await scene.post('comment-proof');
      assertProblem(refused, 502, 'codehost_upstream');
      assert.equal(refused.body.outcome, undefined, refused.text);
    }
    assert.deepEqual(await host.pulls.comments(scene.number), []);
  });

  it('says that the outcome is unknown only where the comment is not there', async (t) => {
    const scene = await openedScene(t);
    await scene.prove();
    scene.host.fail('reset', { method: 'POST', path: /\/comments$/ });
    const lost = await scene.post('comment-proof');
    assertProblem(lost, 503, 'codehost_unreachable');
    assert.equal(lost.body.outcome, 'unknown');
    assert.deepEqual(await scene.host.pulls.comments(scene.number), []);
    assert.doesNotMatch(scene.read('pr/pr.md'), /proof_comment/);
  });
});

describe('POST /api/cases/{id}/pr/sync-state', () => {
  it('is without an event that cannot be used, and warns of it', async (t) => {
    const scene = await openedScene(t);
    const pageInfo = { hasNextPage: false, endCursor: null };
    const nodes = [{ __typename: 'ClosedEvent', id: 5, createdAt: '2026-01-01T00:00:00Z' }];
    const body = { data: { repository: { pullRequest: { timelineItems: { nodes, pageInfo } } } } };
    const odd = { status: 200, headers: { 'content-type': 'application/json' }, body };
    scene.host.fail(odd, { graphql: 'query PullEvents' });
    const synced = await scene.post('sync-state');
    assert.deepEqual(
      [synced.status, synced.body.state, synced.body.warnings],
      [
        200,
        'draft',
        ['The timeline is not whole: event 1 of 1 cannot be used: id must be string.'],
      ],
    );
  });

  it('completes a record that was written by hand', async (t) => {
    const scene = await pullScene(t);
    const { host, worktree, git, running, item } = scene;
    const head = scene.work();
    git('push', '--quiet', host.repository.root, `HEAD:refs/heads/${worktree.branch}`);
    const { number } = await host.pulls.open(worktree.branch, { title: 'Mine', draft: false });
    const lines = [
      'host: github.com',
      'repository: acme/app',
      `number: ${number}`,
      'title: its own',
      'state: open',
      `head_ref: ${worktree.branch}`,
      'base_ref: main # as ever',
      'notes: by hand',
    ];
    writeFiles(`${running.workspace}/${item.path}`, {
      'pr/pr.md': `---\n${lines.join('\n')}\n---\n`,
    });
    const { status, body, text } = await scene.post('sync-state');
    assert.equal(status, 200, text);
    const { title, head_sha, head_in_sync, notes } = body;
    assert.deepEqual([title, head_sha, head_in_sync, notes], ['Mine', head, true, 'by hand']);
    assert.match(scene.read('pr/pr.md'), /^base_ref: main # as ever$/m);
    assert.deepEqual(await transitions(scene), ['none open sync']);
  });

  it('takes over what a human did, a merge too, and moves no Work item', async (t) => {
    const scene = await openedScene(t);
    const { host, number, running, item } = scene;
    await scene.prove();
    await scene.post('mark-ready');
    await host.pulls.close(number);
    await host.pulls.reopen(number);
    const { state: before } = (await running.call<{ state: string }>('GET', `/cases/${item.id}`))
      .body;
    const synced = await scene.post<{ added: { to: string; actor: string }[]; state: string }>(
      'sync-state',
    );
    assert.equal(synced.status, 200, synced.text);
    assert.deepEqual(
      synced.body.added.map(({ to }) => to),
      ['closed', 'open'],
    );
    const merged = await host.pulls.merge(number);
    const last = await scene.post<{ state: string; added: object[] }>('sync-state');
    assert.deepEqual([last.body.state, last.body.added.length], ['merged', 1], last.text);
    const shown = (await running.call<Case>('GET', `/cases/${item.id}`)).body.merged;
    assert.deepEqual([shown?.into, shown?.commit], ['main', scene.git('rev-parse', 'HEAD').trim()]);
    const again = await scene.post<{ added: object[] }>('sync-state');
    assert.deepEqual(again.body.added, []);
    assert.deepEqual(await transitions(scene), [
      'none draft service',
      'draft open service',
      'open closed sync',
      'closed open sync',
      'open merged sync',
    ]);
    const { state: after } = (await running.call<{ state: string }>('GET', `/cases/${item.id}`))
      .body;
    assert.equal(after, before);
    assert.equal(await host.repositories.headOf('main'), merged);
    assertProblem(await scene.post('push'), 422, 'invalid_state');
    const idle = await scene.post('create');
    assertProblem(idle, 422, 'invalid_state');
    assert.match(idle.body.detail, /were merged with #/);
    scene.work({ 'more.ts': '1\n' });
    const next = await scene.post('create');
    assert.deepEqual([next.status, next.body.number], [201, number + 1], next.text);
    assert.match(scene.read(`pr/former/${scene.files('pr/former')[0]}`), /^state: merged$/m);
  });
});
