import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientOf, refusal, startAsking } from './fixture.ts';

const NEW = { title: 'Mend it', body: 'Because.', head: 'work/one', base: 'main', draft: true };

for (const enterprise of [false, true]) {
  describe(`a pull request on ${enterprise ? 'an Enterprise server' : 'github.com'}`, () => {
    it('is made as a draft, found again, changed, and marked ready by one write each', async (t) => {
      const { host, hosted } = await startAsking(t, { enterprise });
      const head_sha = await host.repositories.push({ branch: 'work/one' });
      const head = { owner: 'acme', branch: 'work/one' };
      assert.equal(await hosted.findPull(head), undefined);
      const made = await hosted.createPull(NEW);
      assert.deepEqual([made.state, made.head_ref, made.base_ref], ['draft', 'work/one', 'main']);
      assert.equal(made.head_sha, head_sha);
      const found = await hosted.findPull(head);
      assert.deepEqual([found?.number, found?.node_id], [made.number, made.node_id]);
      assert.equal(await hosted.findPull({ owner: 'somebody', branch: 'work/one' }), undefined);

      const changed = await hosted.updatePull(made.number, () => ({ body: 'Better said.' }));
      assert.deepEqual([changed.title, changed.body], ['Mend it', 'Better said.']);
      assert.equal((await hosted.markReady(made.number)).state, 'open');
      assert.equal((await hosted.markReady(made.number)).state, 'open');
      assert.deepEqual(
        host.writes().map(({ method, path }) => `${method} ${path}`),
        [
          'POST /repos/acme/app/pulls',
          `PATCH /repos/acme/app/pulls/${made.number}`,
          'POST /graphql',
        ],
      );
    });
  });
}

describe('a pull request as it is now', () => {
  it('tells what checks and reviews come to', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one', { title: 'One' });
    assert.equal((await hosted.pull(number)).checks, null);
    await host.repositories.check('work/one', 'build', null);
    assert.equal((await hosted.pull(number)).checks, 'pending');
    await host.repositories.check('work/one', 'build', 'success');
    host.pulls.setMergeable(number, null);
    await host.pulls.review(number, { state: 'CHANGES_REQUESTED', body: 'No.' });
    const now = await hosted.pull(number);
    assert.deepEqual(
      [now.checks, now.mergeable, now.review_decision, now.author],
      ['success', null, 'changes_requested', 'colleague'],
    );
    host.pulls.setMergeable(number, false);
    assert.equal((await hosted.pull(number)).mergeable, false);
    await host.pulls.merge(number);
    const merged = await hosted.pull(number);
    assert.equal(merged.state, 'merged');
    assert.notEqual(merged.merged_at, null);
    assert.equal((await refusal(hosted.markReady(number))).code, 'codehost_rejected');
  });

  it('is not known to be mergeable into a base that came during a change', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    await host.repositories.push({ branch: 'release' });
    const { number } = await host.pulls.open('work/one');
    host.pulls.setMergeable(number, true);
    const same = await hosted.updatePull(number, () => ({ title: 'One' }));
    assert.deepEqual([same.base_ref, same.mergeable], ['main', true]);
    const now = await hosted.updatePull(number, async () => {
      await host.pulls.edit(number, { base: 'release' });
      return { title: 'Two' };
    });
    assert.deepEqual([now.base_ref, now.mergeable], ['release', null]);
  });

  it('tells what has happened to it, oldest first, each once', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one', { draft: true });
    await host.pulls.ready(number);
    await host.pulls.review(number, { state: 'APPROVED' });
    await host.pulls.close(number);
    await host.pulls.reopen(number);
    const { events } = await hosted.pullEvents(number);
    const kinds = events.map(({ kind }) => kind);
    assert.deepEqual(
      kinds.filter((kind) => kind !== 'head_pushed'),
      ['ready', 'review', 'closed', 'reopened'],
    );
    assert.ok(kinds.includes('head_pushed'));
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
    assert.ok(events.every(({ at }) => !Number.isNaN(Date.parse(at))));
  });

  it('is refused where there is one for the branch already, or a draft is none there', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    await host.pulls.open('work/one');
    const again = await refusal(hosted.createPull(NEW));
    assert.equal(again.code, 'codehost_rejected');
    assert.match(JSON.stringify(again.members.host_errors), /already exists/);
    host.fail('drafts unsupported', { method: 'POST' });
    const draft = await refusal(hosted.createPull(NEW));
    assert.match(draft.message, /Draft pull requests are not supported/);
  });
});

describe('reviews and threads', () => {
  it('come whole, with where they stand, and a thread is resolved by one write', async (t) => {
    const { host, hosted } = await startAsking(t);
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('');
    await host.repositories.push({ branch: 'work/one', files: { 'a.ts': lines } });
    const { number } = await host.pulls.open('work/one');
    const { id, threads } = await host.pulls.review(number, {
      state: 'CHANGES_REQUESTED',
      body: 'Look here.',
      comments: [
        { path: 'a.ts', line: 3, body: 'Why?' },
        { path: 'a.ts', line: 9, start_line: 7, body: 'And this?', outdated: true },
      ],
    });
    const [review] = (await hosted.reviews(number)).reviews;
    assert.deepEqual(
      [review?.number, review?.author, review?.state, review?.body],
      [id, 'colleague', 'changes_requested', 'Look here.'],
    );
    const { threads: found } = await hosted.threads(number);
    assert.deepEqual(
      found.map((thread) => [thread.node_id, thread.path, thread.start_line, thread.line]),
      [
        [threads[0], 'a.ts', null, 3],
        // It is on a line that is gone.
        [threads[1], 'a.ts', 7, null],
      ],
    );
    assert.deepEqual(
      found.map(({ resolved, outdated }) => [resolved, outdated]),
      [
        [false, false],
        [false, true],
      ],
    );
    assert.deepEqual(
      found[0]?.comments.map(({ body, author }) => [body, author]),
      [['Why?', 'colleague']],
    );
    await hosted.resolveThread(number, threads[0] ?? '');
    assert.ok(host.pulls.isResolved(threads[0] ?? ''));
    assert.equal((await hosted.threads(number)).threads[0]?.resolved, true);
    assert.equal(host.writes().length, 1);
  });

  it('are all there, of many threads, and of one with more comments than a page holds', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one', files: { 'a.ts': 'a\n'.repeat(60) } });
    const { number } = await host.pulls.open('work/one');
    const comments = Array.from({ length: 52 }, (_, n) => ({
      path: 'a.ts',
      line: n + 1,
      body: `thread ${n}`,
    }));
    const { comments: ids } = await host.pulls.review(number, { comments });
    for (let n = 1; n <= 101; n += 1) await host.pulls.reply(number, ids[0] ?? 0, `reply ${n}`);
    const { threads } = await hosted.threads(number);
    assert.equal(threads.length, 52);
    assert.deepEqual(
      threads[0]?.comments.map(({ body }) => body),
      ['thread 0', ...Array.from({ length: 101 }, (_, n) => `reply ${n + 1}`)],
    );
  });

  it('say which permission resolving takes, for GitHub does not', async (t) => {
    const { host, hosted } = await startAsking(t);
    host.fail('graphql forbidden', { graphql: 'ResolveThread' });
    const refused = await refusal(hosted.resolveThread(1, 'PRRT_1'));
    assert.equal(refused.code, 'codehost_forbidden');
    assert.match(refused.message, /contents=write and pull_requests=write/);
  });
});

describe('comment', () => {
  const marker = 'dossier:proof:0123';

  const opened = async (t: Parameters<typeof startAsking>[0]) => {
    const asking = await startAsking(t);
    await asking.host.repositories.push({ branch: 'work/one' });
    const { number } = await asking.host.pulls.open('work/one');
    return { ...asking, number };
  };

  it('makes one for a marker, and brings it up to date after that', async (t) => {
    const { host, hosted, number } = await opened(t);
    const first = await hosted.comment(number, { marker, body: 'Proof: 1' });
    assert.equal(first.updated, false);
    const second = await hosted.comment(number, { marker, body: 'Proof: 2' });
    assert.deepEqual(second, { ...first, updated: true });
    assert.deepEqual(await hosted.comment(number, { marker, body: 'Proof: 2' }), second);
    await hosted.comment(number, { marker: 'another', body: 'Proof: 3' });
    const bodies = (await host.pulls.comments(number)).map(({ body }) => body);
    assert.deepEqual(bodies, [
      `Proof: 2\n\n<!-- ${marker} -->\n`,
      'Proof: 3\n\n<!-- another -->\n',
    ]);
    assert.equal(host.writes().length, 3);
  });

  it('makes one of two calls at once', async (t) => {
    const { host, hosted, number } = await opened(t);
    const both = ['a', 'b'].map((body) => hosted.comment(number, { marker, body }));
    await Promise.all(both);
    assert.equal((await host.pulls.comments(number)).length, 1);
  });

  it("finds the one whose answer was lost, and leaves another's that quotes it", async (t) => {
    const { host, hosted, number } = await opened(t);
    await host.pulls.comment(number, `> <!-- ${marker} -->`);
    host.fail('reset', { method: 'POST', path: /comments$/, when: 'after' });
    const lost = await refusal(hosted.comment(number, { marker, body: 'Proof' }));
    assert.deepEqual([lost.code, lost.members.outcome], ['codehost_unreachable', 'unknown']);
    assert.equal((await hosted.comment(number, { marker, body: 'Proof' })).updated, true);
    assert.equal((await host.pulls.comments(number)).length, 2);
  });
});

describe('labels of a pull request', () => {
  it('are those that are wanted, and are not written where they are that already', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.label('bug');
    await host.repositories.label('docs');
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one');
    await hosted.setLabels(number, () => ['docs', 'bug']);
    assert.deepEqual((await hosted.pull(number)).labels.toSorted(), ['bug', 'docs']);
    await hosted.setLabels(number, () => ['bug', 'docs']);
    assert.equal(host.writes().length, 1);
    const left = await hosted.setLabels(number, () => ['a/b.', 'docs']);
    assert.deepEqual(left.toSorted(), ['a/b.', 'docs']);
    assert.deepEqual(await hosted.setLabels(number, () => ['docs']), ['docs']);
  });

  it('may be removed by others at the same time', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one');
    await host.pulls.edit(number, { labels: ['bug', 'docs'] });
    const quiet = host.fail('silence', { method: 'DELETE' });
    const changing = hosted.setLabels(number, () => ['docs']);
    await quiet.met;
    await host.pulls.edit(number, { labels: ['docs'] });
    quiet.release();
    assert.deepEqual(await changing, ['docs']);
  });

  it('are not taken for removed where the host answers 404 and has them', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one');
    await host.pulls.edit(number, { labels: ['bug', 'docs'] });
    host.fail('not found', { method: 'DELETE' });
    const refused = await refusal(hosted.setLabels(number, () => ['docs']));
    assert.equal(refused.code, 'codehost_not_found');
    assert.match(refused.message, new RegExp(`^acme/app#${number} was not found`));
  });

  it('of dots are removed, but for those that are a part of a path', async (t) => {
    const { host, hosted } = await startAsking(t);
    await host.repositories.push({ branch: 'work/one' });
    const { number } = await host.pulls.open('work/one');
    await host.pulls.edit(number, { labels: ['.', '..', '...'] });
    assert.deepEqual(await hosted.setLabels(number, () => ['.', '..']), ['.', '..']);
    const written = host.writes().length;
    for (const kept of ['.', '..']) {
      const refused = await refusal(hosted.setLabels(number, () => [kept, 'new']));
      assert.equal(refused.code, 'codehost_rejected');
      assert.match(refused.message, /Nothing was written\. Remove it on/);
    }
    assert.equal(host.writes().length, written);
  });

  it('are not given to an issue of that number', async (t) => {
    const { host, hosted } = await startAsking(t);
    const { number } = await host.issues.add();
    const refused = await refusal(hosted.setLabels(number, () => ['bug']));
    assert.equal(refused.code, 'codehost_not_found');
    assert.deepEqual(host.writes(), []);
  });
});

describe('writes at once', () => {
  it('go one after the other to a host', async (t) => {
    const { host } = await startAsking(t);
    const { hosted } = clientOf(host);
    const numbers = await host.issues.addMany(3);
    let most = 0;
    const slow = host.fail('silence', { method: 'POST', path: /comments$/ });
    const all = numbers.map((number) => hosted.comment(number, { marker: 'm', body: 'b' }));
    await slow.met;
    most = host.writes().length;
    slow.release();
    await Promise.all(all);
    assert.equal(most, 1);
    assert.equal(host.writes().length, 3);
  });
});
