import assert from 'node:assert/strict';
import type { Session } from '../../../store/records/session.ts';
import type { Answered } from '../../helpers/service.ts';
import { describeRows, ofPull, once, proposed, type Row } from './surface.ts';

/** A thread on the pull request, which blocks it. */
const thread = once(async () => {
  const { host: there, answer } = await proposed();
  const { threads } = await there.pulls.review(answer.body.number, {
    by: 'reviewer',
    comments: [{ path: 'a.txt', line: 1, body: 'Why?' }],
  });
  return `thread:${threads[0]}`;
});

const onThread = (what: string, does: string, check: NonNullable<Row['check']>): Row => ({
  method: 'POST',
  path: `/api/cases/:id/pr/reviews/:review_id/${what}`,
  does,
  call: async () => {
    const { item, running: there } = await proposed();
    return there.call('POST', `/api/cases/${item.id}/pr/reviews/${await thread()}/${what}`);
  },
  status: 200,
  check,
});

const listsThread = async ({ body }: Answered<{ id: string }[]>): Promise<void> =>
  assert.deepEqual(
    body.map(({ id }) => id),
    [await thread()],
  );

const REVIEWS: Row[] = [
  {
    method: 'GET',
    path: '/api/cases/:id/pr/reviews',
    does: 'lists all reviews',
    call: async () => {
      await thread();
      const { item, running: there } = await proposed();
      return there.call('GET', `/api/cases/${item.id}/pr/reviews`);
    },
    status: 200,
    check: async ({ body }: Answered<{ id: string }[]>) =>
      assert.ok(body.some((each) => each.id.startsWith('thread:'))),
  },
  ofPull('GET', '/reviews/unresolved', 'lists those that block', listsThread),
  onThread('add-to-feedback', 'queues one', ({ body }: Answered<{ feedback: string }>) =>
    assert.equal(body.feedback, 'queued'),
  ),
  {
    ...ofPull('POST', '/address-feedback', 'starts a session', ({ body }: Answered<Session>) =>
      assert.equal(body.type, 'feedback'),
    ),
    status: 202,
  },
  onThread('resolve', 'resolves one', async ({ body }: Answered<{ state: string }>) => {
    const { host: there } = await proposed();
    assert.ok(there.pulls.isResolved((await thread()).slice('thread:'.length)));
    assert.equal(body.state, 'resolved');
  }),
];

describeRows('reviews', REVIEWS);
