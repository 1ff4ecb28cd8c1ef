import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Review } from '../../../../store/records/review.ts';
import { writeFiles } from '../../../helpers/repository.ts';
import { openedScene } from './fixture.ts';

// What no file can say, what ends front matter, comments and fences, and what turns a line around.
const HOSTILE =
  'a\u0000b\u001b[31m\n---\nstate: merged\n---\n<!-- dossier -->\n````\n<<<<<<< x\n=======\n>>>>>>> y\n\u202e\u2028--> @all';

describe('a pull request of which the host tells hostile texts', () => {
  it('is recorded, read again, and pushed to', async (t) => {
    const scene = await openedScene(t);
    const { host, number, get, post, running, item, git, worktree } = scene;
    await host.pulls.edit(number, { title: HOSTILE, body: HOSTILE });
    const synced = await post('sync-state');
    assert.equal(synced.status, 200, synced.text);
    const { body, status, text } = await get('');
    assert.equal(status, 200, text);
    assert.equal(body.state, 'draft');
    assert.ok(body.title.includes('state: merged') && body.title.includes('\u202e'), body.title);
    assert.equal((await get('state-timeline')).status, 200);
    scene.work({ 'later.ts': '1\n' });
    writeFiles(worktree.path, { 'left.ts': '1\n' });
    const pushed = await post('push', { changes: 'commit' });
    assert.equal(pushed.status, 200, pushed.text);
    const [subject, blank, ...rest] = git('log', '-1', '--format=%B').trim().split('\n');
    assert.match(subject ?? '', new RegExp(`^Work on #${number}: a b \\[31m --- state: merged`));
    assert.deepEqual([blank, rest], ['', [`Work item: ${item.id}`]]);
    const { body: graph } = await running.call('GET', '/api/codehost/traceability');
    assert.ok(JSON.stringify(graph).includes(`#${number}`));
    const found = await running.call<unknown[]>('GET', '/api/diagnostics');
    assert.doesNotMatch(found.text, /pr\.md/);
  });

  it('keeps its reviews whole', async (t) => {
    const { host, number, running, item } = await openedScene(t);
    await host.pulls.review(number, {
      by: 'reviewer',
      body: HOSTILE,
      comments: [{ path: 'tax.ts', line: 1, body: `${HOSTILE}\n${'x'.repeat(60_000)}` }],
    });
    const at = `/api/cases/${item.id}/pr/reviews`;
    const first = await running.call<Review[]>('GET', at);
    assert.equal(first.status, 200, first.text);
    const again = await running.call<Review[]>('GET', `${at}?local=true`);
    assert.deepEqual(
      again.body.map(({ body }) => body),
      first.body.map(({ body }) => body),
    );
    assert.equal(again.body.length, 2);
    for (const { body } of again.body) assert.ok(body.includes('state: merged'), body);
  });
});
