import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type HostNews, isOlder, readNews } from '../../../../lib/host/inbound/host-news.ts';
import type { Wire } from '../../../../lib/text/unknown-json.ts';

const EXAMPLES = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
  name: string;
  examples: Wire[];
}[];

const told = (event: string, action?: string): HostNews => {
  const { examples = [] } = EXAMPLES.find(({ name }) => name === event) ?? {};
  const payload = examples.find((each) => action === undefined || each.action === action);
  const found = payload && readNews(event, payload);
  assert.ok(found, `${event} ${action}`);
  return found;
};

const change = (event: string, action: string) => told(event, action).pulls[0]?.change;

const concerns = (event: string, payload: Wire): boolean => {
  const { pulls = [], issues = [], commit, formerly } = readNews(event, payload) ?? {};
  for (const { number } of [...pulls, ...issues]) assert.ok(Number.isInteger(number), event);
  return pulls.length + issues.length > 0 || (commit ?? formerly) !== undefined;
};

describe('toldBy', () => {
  it('reads every example of GitHub, and tells of no more than it is about', () => {
    const concerned = new Set(
      EXAMPLES.flatMap(({ name, examples }) =>
        examples.some((one) => concerns(name, one)) ? name : [],
      ),
    );
    assert.deepEqual([...concerned].toSorted(), [
      'check_run',
      'check_suite',
      'issue_comment',
      'issues',
      'pull_request',
      'pull_request_review',
      'pull_request_review_comment',
      'pull_request_review_thread',
      'repository',
      'status',
      'workflow_run',
    ]);
  });

  it('names the repository and its host', () => {
    const { host, repository, pulls } = told('pull_request', 'opened');
    assert.deepEqual(
      [host, repository, pulls[0]?.number],
      ['github.com', 'Codertocat/Hello-World', 2],
    );
  });

  it('tells what became of a pull request, when, and by whom', () => {
    const opened = change('pull_request', 'opened');
    assert.deepEqual([opened?.event, opened?.to, opened?.actor], ['opened', 'open', 'Codertocat']);
    assert.match(String(opened?.occurred_at), /^2019-05-15T15:20:33\.000Z$/);
    assert.match(String(opened?.host_event_id), /^opened:MDExOl/);
    assert.deepEqual(
      ['closed', 'reopened', 'ready_for_review', 'converted_to_draft', 'synchronize'].map(
        (action) => [
          change('pull_request', action)?.event,
          change('pull_request', action)?.host_event_id?.split(':')[0],
        ],
      ),
      [
        ['closed', undefined],
        ['reopened', undefined],
        ['ready', undefined],
        ['draft', undefined],
        ['head_pushed', 'head'],
      ],
    );
    assert.equal(change('pull_request', 'labeled'), undefined);
    assert.equal(change('pull_request_review', 'submitted')?.event, 'review');
    assert.equal(change('pull_request_review_thread', 'resolved'), undefined);
  });

  it('tells a merge from a closing', () => {
    const { examples = [] } = EXAMPLES.find(({ name }) => name === 'pull_request') ?? {};
    const closed = structuredClone(examples.find(({ action }) => action === 'closed')) as {
      pull_request: Wire;
    };
    Object.assign(closed.pull_request, { merged: true, merged_at: '2026-01-01T00:00:00Z' });
    const merged = readNews('pull_request', closed as unknown as Wire)?.pulls[0]?.change;
    assert.deepEqual(
      [merged?.event, merged?.to, merged?.occurred_at],
      ['merged', 'merged', '2026-01-01T00:00:00.000Z'],
    );
  });

  it('takes a comment on a pull request for one, and knows a renamed repository by its name before', () => {
    const comment = structuredClone(
      EXAMPLES.find(({ name }) => name === 'issue_comment')?.examples[0],
    ) as { issue: Wire };
    assert.equal(readNews('issue_comment', comment as unknown as Wire)?.issues.length, 1);
    comment.issue.pull_request = { url: 'x' };
    const pulls = readNews('issue_comment', comment as unknown as Wire)?.pulls;
    assert.deepEqual([pulls?.length, pulls?.[0]?.node_id], [1, undefined]);
    assert.match(String(told('repository', 'renamed').formerly), /^[^/]+\/[^/]+$/);
    assert.match(String(told('repository', 'transferred').formerly), /^[^/]+\/[^/]+$/);
  });

  it('throws for no payload, whatever it holds', () => {
    const names = EXAMPLES.map(({ name }) => name);
    const keys = [
      'repository',
      'pull_request',
      'issue',
      'changes',
      'check_run',
      'review',
      'sender',
    ];
    const inner = [
      'full_name',
      'number',
      'html_url',
      'pull_requests',
      'updated_at',
      'from',
      'user',
    ];
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.constant(null),
      fc.constant([]),
      fc.constant('a/b'),
    );
    const object = fc.dictionary(
      fc.constantFrom(...inner),
      fc.oneof(value, fc.dictionary(fc.constantFrom(...inner), value)),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.dictionary(fc.constantFrom(...keys, 'action'), fc.oneof(value, object)),
        (name, payload) => {
          readNews(name, payload);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('isOlder', () => {
  const at = (updated_at: string | undefined) => ({ number: 1, node_id: undefined, updated_at });
  const KNOWN = '2026-01-01T00:00:05Z';

  it('is what the host changed before what is known was read, and not what it changed in that second', () => {
    assert.equal(isOlder(at('2026-01-01T00:00:04.000Z'), KNOWN), true);
    // The host's times have seconds only: of two changes in one second either may be the later.
    assert.equal(isOlder(at('2026-01-01T00:00:05.000Z'), KNOWN), false);
    assert.equal(isOlder(at('2026-01-01T00:00:06.000Z'), KNOWN), false);
  });

  it('is nothing of which either time is unknown', () => {
    assert.equal(isOlder(at(undefined), KNOWN), false);
    assert.equal(isOlder(at('2026-01-01T00:00:04.000Z'), null), false);
  });
});
