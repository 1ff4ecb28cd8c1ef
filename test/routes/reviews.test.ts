import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import type { Review } from '../../store/records/review.ts';
import { type WithPull, withPull } from '../helpers/with-pull.ts';
import { assertProblem, withCase } from '../helpers/work-item.ts';

const withReviews = async (t: TestContext) => {
  const scene = await withPull(t);
  const { host, number } = scene;
  const {
    id: asked,
    threads,
    comments,
  } = await host.pulls.review(number, {
    ...{ state: 'CHANGES_REQUESTED', by: 'reviewer', body: 'Not yet.' },
    comments: [{ path: 'src/a.ts', line: 2, body: 'Two what?' }],
  });
  const { id: said } = await host.pulls.review(number, { body: 'Nice.', by: 'operator' });
  return {
    ...scene,
    asked: `review:${asked}`,
    said: `review:${said}`,
    thread: `thread:${threads[0]}`,
    comment: comments[0] ?? 0,
  };
};

const list = async ({ api }: WithPull, path = 'pr/reviews'): Promise<Review[]> => {
  const { status, body, text } = await api<Review[]>('GET', path);
  assert.equal(status, 200, text);
  return body as unknown as Review[];
};

const idsOf = (reviews: Review[]): string[] => reviews.map(({ id }) => id).toSorted();

const files = ({ dir }: WithPull): string[] => readdirSync(join(dir, 'pr/reviews')).toSorted();

describe('GET /api/cases/{id}/pr/reviews', () => {
  it('reads all reviews and threads from the host and keeps a record of each', async (t) => {
    const scene = await withReviews(t);
    const { asked, said, thread, number, read } = scene;
    const all = await list(scene);
    assert.deepEqual(idsOf(all), [asked, said, thread].toSorted());
    const found = all.find(({ id }) => id === thread);
    assert.deepEqual(
      [found?.kind, found?.state, found?.path, found?.line, found?.body, found?.author],
      ['thread', 'unresolved', 'src/a.ts', 2, 'Two what?', 'reviewer'],
    );
    assert.deepEqual(
      [found?.pull, found?.feedback, found?.comments.length, found?.on_host],
      [number, null, 1, true],
    );
    assert.equal(files(scene).length, 3);
    const name = `pr/reviews/review-${asked.slice('review:'.length)}.md`;
    assert.match(read(name), /^state: changes_requested$/m);
    assert.match(read(name), /```markdown\nNot yet\.\n```/);
    assert.match(String(found?.fetched_at), /Z$/);
  });

  it('keeps what an operator wrote into a record, and one that the host has no more', async (t) => {
    const scene = await withReviews(t);
    const { asked, read, write, item, running } = scene;
    await list(scene);
    const name = `pr/reviews/review-${asked.slice('review:'.length)}.md`;
    write(name, `${read(name).replace('pull: ', 'mood: fine # mine\npull: ')}\nMy own note.\n`);
    const gone = read(name).replace(asked, 'review:999999').replace('Not yet.', 'Gone.');
    write('pr/reviews/review-999999.md', gone);
    const all = await list(scene);
    assert.match(read(name), /^mood: fine # mine$/m);
    assert.match(read(name), /My own note\.\n$/);
    const left = all.find(({ id }) => id === 'review:999999');
    assert.deepEqual([left?.on_host, left?.blocking, left?.body], [false, false, 'Gone.']);
    const before = read(name);
    await list(scene);
    assert.equal(read(name), before);
    assert.deepEqual(
      (await checkWorkspace(running.service.store.layout, async () => [])).findings,
      [],
    );
    assert.ok(item.id);
  });

  it('pages by the id of a review, and answers the records alone where it is asked to', async (t) => {
    const scene = await withReviews(t);
    const { api, host } = scene;
    const all = await list(scene);
    const first = await api<Review[]>('GET', 'pr/reviews?limit=2');
    assert.deepEqual(idsOf(first.body as unknown as Review[]), idsOf(all.slice(0, 2)));
    const next = /<([^>]*)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? '';
    const rest = await scene.call<Review[]>('GET', next);
    assert.deepEqual(idsOf(rest.body), idsOf(all.slice(2)));
    host.requests.length = 0;
    const fetched_at = all[0]?.fetched_at;
    const local = await list(scene, 'pr/reviews?local=true');
    assert.deepEqual(
      local.map((one) => ({ ...one, fetched_at })),
      all,
    );
    assert.deepEqual(host.requests, []);
    assertProblem(
      await api('GET', 'pr/reviews?after=review:999999'),
      400,
      'bad_request',
      'query/after',
    );
  });

  it('answers an error of the host, and never an empty list', async (t) => {
    const scene = await withReviews(t);
    const { api, host } = scene;
    await list(scene);
    host.fail('bad gateway', { path: '/reviews', times: 9 });
    assertProblem(await api('GET', 'pr/reviews'), 502, 'codehost_upstream');
    host.fail('reset', { graphql: 'query Threads', times: 9 });
    host.fail('reset', { path: '/reviews', times: 9 });
    await host.stop();
    assertProblem(await api('GET', 'pr/reviews'), 503, 'codehost_unreachable');
    assertProblem(await api('GET', 'pr/reviews/unresolved'), 503, 'codehost_unreachable');
    assert.equal((await list(scene, 'pr/reviews?local=true')).length, 3);
  });

  it('is without a review that cannot be used, which is told and keeps it from being ready', async (t) => {
    const scene = await withReviews(t);
    const { api, host, number, asked, thread } = scene;
    const before = idsOf(await list(scene));
    const base = { node_id: 'x', user: null, body: '', html_url: 'https://github.com/acme/app' };
    const odd = { ...base, id: 'five', state: 'COMMENTED', commit_id: null, submitted_at: null };
    const found = { status: 200, headers: { 'content-type': 'application/json' }, body: [odd] };
    host.fail(found, { method: 'GET', path: `/pulls/${number}/reviews`, times: 2 });
    // The review that was known may be the one that cannot be used.
    assert.deepEqual(idsOf(await list(scene)), before);
    const still = (await list(scene, 'pr/reviews/unresolved?local=true')).map(({ id }) => id);
    assert.deepEqual(still.toSorted(), [asked, thread].toSorted());
    const told = 'review 1 of 1 cannot be used: number must be integer';
    const { body: status } = await api<{ notes: string[] }>('GET', 'pr/status');
    assert.ok(status.notes.includes(`Not every review could be read: ${told}.`));
    host.pulls.resolve(thread.slice('thread:'.length));
    const { body } = await api<{ checks: unknown[] }>('GET', 'pr/ready-check');
    const open = body.checks.find((each) => (each as { name: string }).name === 'reviews');
    const { ok, detail } = open as { ok: boolean; detail: string };
    assert.deepEqual([ok, detail.startsWith(`${told}. See it on the host: `)], [false, true]);
    assert.deepEqual(idsOf(await list(scene)), before);
    const after = await api<{ notes: string[] }>('GET', 'pr/status');
    assert.doesNotMatch(after.body.notes.join(), /review/);
  });

  it('is without a thread that cannot be used, which is told and keeps it from being ready', async (t) => {
    const scene = await withReviews(t);
    const { api, host, asked, thread } = scene;
    const before = idsOf(await list(scene));
    const nodes = [{ node_id: 'with a space' }, null];
    const reviewThreads = { nodes, pageInfo: { hasNextPage: false, endCursor: null } };
    const body = { data: { repository: { pullRequest: { reviewThreads } } } };
    const headers = { 'content-type': 'application/json' };
    const odd = { status: 200, headers, body };
    host.fail(odd, { graphql: 'query Threads', times: 2 });
    // The thread that was known may be one of them.
    assert.deepEqual(idsOf(await list(scene)), before);
    const still = (await list(scene, 'pr/reviews/unresolved?local=true')).map(({ id }) => id);
    assert.deepEqual(still.toSorted(), [asked, thread].toSorted());
    const { body: status } = await api<{ notes: string[] }>('GET', 'pr/status');
    const told = /^Not every review could be read: thread 1 of 2 cannot be used: .*; thread 2 of 2/;
    assert.ok(
      status.notes.some((note) => told.test(note)),
      status.notes.join(),
    );
    await api('POST', `pr/reviews/${asked}/resolve`);
    const ready = await api<{ checks: { name: string; ok: boolean; detail: string }[] }>(
      'GET',
      'pr/ready-check',
    );
    const open = ready.body.checks.find(({ name }) => name === 'reviews');
    assert.deepEqual(
      [open?.ok, /thread 1 of 2 cannot be used/.test(open?.detail ?? '')],
      [false, true],
    );
  });

  it('is 404 without a Work item or a pull request, and 409 for a record that is broken', async (t) => {
    const { call, at } = await withCase(t);
    assertProblem(await call('GET', '/api/cases/nobody/pr/reviews'), 404, 'not_found');
    const { detail } = assertProblem(await call('GET', `/api${at}/pr/reviews`), 404, 'not_found');
    assert.match(detail, /pr\/create/);
    const scene = await withReviews(t);
    await list(scene);
    scene.write('pr/reviews/mine.md', '---\nid: what\n---\n');
    for (const path of ['pr/reviews', 'pr/reviews?local=true', 'pr/reviews/unresolved'])
      assertProblem(await scene.api('GET', path), 409, 'unreadable_record');
    const { findings } = await checkWorkspace(scene.running.service.store.layout, async () => []);
    // All that is wrong with it.
    assert.ok(findings.length > 0);
    for (const { file } of findings) assert.match(file, /\/mine\.md$/);
  });
});

describe('GET /api/cases/{id}/pr/reviews/unresolved', () => {
  it('lists open threads, and of each author the latest decision that asks for changes', async (t) => {
    const scene = await withReviews(t);
    const { host, number, asked, thread } = scene;
    const blocking = () => list(scene, 'pr/reviews/unresolved');
    assert.deepEqual(idsOf(await blocking()), [asked, thread].toSorted());
    host.pulls.resolve(thread.slice('thread:'.length));
    await host.pulls.review(number, { state: 'APPROVED', by: 'reviewer' });
    assert.deepEqual(await blocking(), []);
    const { id } = await host.pulls.review(number, { state: 'CHANGES_REQUESTED', by: 'reviewer' });
    assert.deepEqual(idsOf(await blocking()), [`review:${id}`]);
    await host.pulls.dismiss(number, id);
    assert.deepEqual(await blocking(), []);
  });
});

describe('POST …/pr/reviews/{review_id}/add-to-feedback', () => {
  it('queues a review once, also one that was never listed, and also twice at once', async (t) => {
    const { api, asked } = await withReviews(t);
    const path = `pr/reviews/${asked}/add-to-feedback`;
    const [one, other] = await Promise.all([api<Review>('POST', path), api<Review>('POST', path)]);
    assert.deepEqual([one.status, other.status], [200, 200], one.text);
    assert.equal(one.body.feedback, 'queued');
    const again = await api<Review>('POST', path);
    assert.deepEqual(again.body.queued_at, one.body.queued_at);
  });

  it('stays queued while the host is read, and what the host tells is not lost', async (t) => {
    const scene = await withReviews(t);
    const { api, asked, thread, host, number } = scene;
    await list(scene);
    await host.pulls.dismiss(number, Number(asked.slice('review:'.length)));
    const wanted = [asked, thread].map((id) => api('POST', `pr/reviews/${id}/add-to-feedback`));
    await Promise.all([list(scene), ...wanted, list(scene)]);
    const all = await list(scene, 'pr/reviews?local=true');
    assert.deepEqual(
      [asked, thread].map((id) => all.find((one) => one.id === id)?.feedback),
      ['queued', 'queued'],
    );
    assert.equal(all.find(({ id }) => id === asked)?.state, 'dismissed');
  });

  it('is 422 for one that is resolved or dismissed on the host, which no session would get', async (t) => {
    const scene = await withReviews(t);
    const { api, asked, thread, host, number } = scene;
    await host.pulls.dismiss(number, Number(asked.slice('review:'.length)));
    host.pulls.resolve(thread.slice('thread:'.length));
    await list(scene);
    for (const [id, state] of Object.entries({ [asked]: 'dismissed', [thread]: 'resolved' })) {
      const refused = await api('POST', `pr/reviews/${id}/add-to-feedback`);
      const { detail } = assertProblem(refused, 422, 'invalid_state');
      assert.match(detail, new RegExp(`^${id} is ${state} on the host, so no session`));
    }
    assert.ok((await list(scene)).every(({ feedback }) => feedback === null));
  });

  it('is 404 for a review that there is not', async (t) => {
    const { api } = await withReviews(t);
    for (const id of ['review:999999', 'thread:nothing', 'what', '..%2F..%2Fcase'])
      assertProblem(await api('POST', `pr/reviews/${id}/add-to-feedback`), 404, 'not_found');
  });
});

describe('POST …/pr/reviews/{review_id}/resolve', () => {
  it('resolves a thread on the host, and a second time without harm', async (t) => {
    const scene = await withReviews(t);
    const { api, host, thread, asked } = scene;
    const path = `pr/reviews/${thread}/resolve`;
    await api('POST', `pr/reviews/${thread}/add-to-feedback`);
    const done = await api<Review & { resolved_on_host: boolean }>('POST', path);
    assert.deepEqual(
      [done.status, done.body.state, done.body.resolved_on_host, done.body.feedback],
      [200, 'resolved', true, null],
      done.text,
    );
    assert.ok(host.pulls.isResolved(thread.slice('thread:'.length)));
    assert.equal((await api('POST', path)).status, 200);
    assert.deepEqual(idsOf(await list(scene, 'pr/reviews/unresolved')), [asked]);
  });

  it('refuses a thread with a reply that was not read, shows it, and takes a second call', async (t) => {
    const scene = await withReviews(t);
    const { api, host, number, thread, comment } = scene;
    const isResolved = () => host.pulls.isResolved(thread.slice('thread:'.length));
    await list(scene);
    await host.pulls.reply(number, comment, 'STOP: this leaks a key.', 'reviewer');
    const path = `pr/reviews/${thread}/resolve`;
    const refused = await api<{ comments: { body: string }[] }>('POST', path);
    const { detail } = assertProblem(refused, 409, 'codehost_conflict');
    assert.match(
      detail,
      /1 comment that you have not read.* by reviewer: STOP: this leaks a key\./,
    );
    assert.deepEqual(
      refused.body.comments.map(({ body }) => body),
      ['STOP: this leaks a key.'],
    );
    assert.equal(isResolved(), false);
    assert.equal((await api('POST', path)).status, 200);
    assert.equal(isResolved(), true);
  });

  it('reads the thread of the host, and no other review, check or log', async (t) => {
    const scene = await withReviews(t);
    const { api, host, thread } = scene;
    const before = await list(scene);
    host.requests.length = 0;
    assert.equal((await api('POST', `pr/reviews/${thread}/resolve`)).status, 200);
    assert.deepEqual(
      host.requests.map(({ path }) => path).filter((path) => path !== '/graphql'),
      [],
    );
    assert.equal(host.requests.length, 4);
    const after = await list(scene, 'pr/reviews?local=true');
    assert.deepEqual(
      after.filter(({ id }) => id !== thread),
      before.filter(({ id }) => id !== thread),
    );
  });

  it('marks a review here alone, says so, and it blocks no more: not readiness either', async (t) => {
    const scene = await withReviews(t);
    const { api, host, thread, asked } = scene;
    const reviewsOk = async (): Promise<boolean | undefined> =>
      (
        await api<{ checks: { name: string; ok: boolean }[] }>('GET', 'pr/ready-check')
      ).body.checks.find(({ name }) => name === 'reviews')?.ok;
    assert.equal(await reviewsOk(), false);
    await api('POST', `pr/reviews/${thread}/resolve`);
    host.requests.length = 0;
    const done = await api<{ note: string; state: string }>('POST', `pr/reviews/${asked}/resolve`);
    assert.match(done.body.note, /only here/);
    assert.equal(done.body.state, 'changes_requested');
    assert.deepEqual(host.writes(), []);
    assert.deepEqual(await list(scene, 'pr/reviews/unresolved'), []);
    assert.equal(await reviewsOk(), true);
  });

  it('tells a missing permission, and leaves the thread as it was', async (t) => {
    const scene = await withReviews(t);
    scene.host.repositories.setRole('operator', 'read');
    const answer = await scene.api('POST', `pr/reviews/${scene.thread}/resolve`);
    const { detail } = assertProblem(answer, 403, 'codehost_forbidden');
    assert.match(detail, /contents/);
    const kept = (await list(scene)).find(({ id }) => id === scene.thread);
    assert.equal(kept?.state, 'unresolved');
  });

  it('finds out what became of a write whose answer was lost, and does not repeat it', async (t) => {
    const scene = await withReviews(t);
    const { api, host, thread } = scene;
    await list(scene);
    host.requests.length = 0;
    host.fail('reset', { graphql: 'resolveReviewThread', when: 'after' });
    const done = await api<Review>('POST', `pr/reviews/${thread}/resolve`);
    assert.deepEqual([done.status, done.body.state], [200, 'resolved'], done.text);
    assert.equal(host.writes().length, 1);
  });
});
