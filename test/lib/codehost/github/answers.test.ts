import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { HostedRepository } from '../../../../lib/codehost/code-host.ts';
import type { CodeHost } from '../../../codehost/code-host.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { clientOf, refusal } from './fixture.ts';

interface Answer {
  link?: string;
  body: unknown;
}

interface Hostile {
  hosted: HostedRepository;
  url: string;
  /** The path and query of each request, in order. */
  requests: string[];
}

/** A host that answers each request with what `answer` says of its path. */
const startHostile = async (
  t: TestContext,
  answer: (path: string, url: string) => Answer,
): Promise<Hostile> => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    requests.push(request.url ?? '');
    request.resume();
    const { link, body } = answer(request.url ?? '', `http://127.0.0.1:${port}`);
    const isRaw = Buffer.isBuffer(body);
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(link !== undefined && { link: `<${link}>; rel="next"` }),
      ...(isRaw && { 'content-encoding': 'gzip' }),
    });
    response.end(isRaw ? body : JSON.stringify(body));
  });
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host = { url, host_name: 'github.com', token: 'ghp_test' } as CodeHost;
  return { hosted: clientOf(host).hosted, url, requests };
};

const PAGE = 'https://github.com/acme/app/issues/8';

const issue = (url: string, change: object = {}): object => ({
  number: 8,
  node_id: 'I_8',
  html_url: PAGE,
  repository_url: `${url}/repos/acme/app`,
  title: 'Tax is off by one',
  body: 'b',
  state: 'open',
  labels: [{ name: 'bug' }],
  assignees: [],
  milestone: null,
  user: { login: 'ada' },
  comments: 0,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  closed_at: null,
  ...change,
});

const milestone = (number: number): object => ({
  ...{ number, title: `v${number}`, state: 'open', due_on: null, description: null },
});

describe('a list whose pages do not end', () => {
  it('is left at a page that leads to one that was read', async (t) => {
    const { hosted, requests } = await startHostile(t, (path, url) => ({
      link: `${url}/x?page=${path.includes('page=2') ? 3 : 2}`,
      body: [],
    }));
    const problems = [
      await refusal(hosted.issues({})),
      await refusal(hosted.milestones()),
      await refusal(hosted.labels()),
    ];
    for (const { code, message } of problems) {
      assert.equal(code, 'codehost_upstream');
      assert.match(message, /github\.com for acme\/app.* links to one that was already read/);
    }
    assert.ok(requests.length <= 10, String(requests.length));
  });

  it('is left after 300 pages that are all new, by REST and by GraphQL', async (t) => {
    let count = 0;
    const { hosted, requests } = await startHostile(t, (path, url) => {
      count += 1;
      const pageInfo = { hasNextPage: true, endCursor: `c${count}` };
      const data = { repository: { pullRequest: { timelineItems: { nodes: [], pageInfo } } } };
      return path === '/graphql'
        ? { body: { data } }
        : { link: `${url}/x?page=${count}`, body: [] };
    });
    assert.match((await refusal(hosted.milestones())).message, /has more than 300 pages/);
    assert.equal(requests.length, 300);
    assert.match((await refusal(hosted.pullEvents(3))).message, /has more than 300 pages/);
    assert.ok(requests.length <= 601, String(requests.length));
  });

  it('gives only the position to the next request, which stays with its server and list', async (t) => {
    const { hosted, requests } = await startHostile(t, (path) =>
      /[?&]page=2(&|$)/.test(path)
        ? { body: [milestone(2)] }
        : { link: 'https://evil.example/x?page=2&state=closed', body: [milestone(1)] },
    );
    const found = await hosted.milestones();
    assert.deepEqual(
      found.map(({ number }) => number),
      [1, 2],
    );
    assert.match(requests[1] ?? '', /^\/repos\/acme\/app\/milestones\?/);
    assert.match(requests[1] ?? '', /state=all/);
  });
});

describe('an answer of more than 32 MiB', () => {
  it('is refused while it is read, decompressed, and asked for once', async (t) => {
    const spaces = gzipSync(Buffer.alloc(200 * 1024 * 1024, ' '));
    const { hosted, requests } = await startHostile(t, () => ({ body: spaces }));
    const before = process.memoryUsage.rss();
    const { code, message } = await refusal(hosted.issue(8));
    assert.equal(code, 'codehost_upstream');
    assert.match(message, /acme\/app#8 cannot be used: it has more than 32 MiB/);
    assert.equal(requests.length, 1);
    assert.ok(process.memoryUsage.rss() - before < 150 * 1024 * 1024);
  });
});

describe('an answer of the wrong form', () => {
  it('is 502 with the field, and never the words of an internal error', async (t) => {
    const rows: [change: unknown, says: RegExp][] = [
      [{ labels: 'notalist' }, /unexpected form/],
      [{ labels: [null] }, /unexpected form/],
      [{ title: { a: 1 } }, /title must be string/],
      [{ created_at: 'nonsense' }, /created_at must match format "date-time"/],
      [{ updated_at: '\n---\n' }, /updated_at must match/],
      [{ node_id: 'I\u202e' }, /node_id must match/],
      [{ comments: '3' }, /comments must be integer/],
      [undefined, /unexpected form/],
      [[], /unexpected form/],
    ];
    let change: unknown;
    const { hosted } = await startHostile(t, (_path, url) => ({
      body:
        typeof change === 'object' && !Array.isArray(change)
          ? issue(url, change as object)
          : (change ?? {}),
    }));
    for (const [wrong, says] of rows) {
      change = wrong;
      const { code, message, members } = await refusal(hosted.issue(8));
      assert.equal(code, 'codehost_upstream', message);
      assert.match(message, says);
      assert.equal(members.host_status, 200);
    }
  });

  it('leaves the outcome of a write open', async (t) => {
    const { hosted } = await startHostile(t, () => ({ body: { number: 'three' } }));
    const wanted = { title: 'A', body: '', head: 'work/one', base: 'main', draft: true };
    const { code, members } = await refusal(hosted.createPull(wanted));
    assert.deepEqual([code, members.outcome], ['codehost_upstream', 'unknown']);
  });
});

const ELSEWHERE = [
  'https://github.com/victim/other/issues/8',
  'https://evil.example/victim/other/issues/8',
  'javascript:alert(1)//acme/app/issues/8',
  'https://github.com/acme/app/issues/9',
  'https://github.com/x/acme/app/issues/8',
  'nonsense',
];

describe('an answer that is no list', () => {
  it('is no empty list, by REST and by GraphQL', async (t) => {
    const reviewThreads = { nodes: null, pageInfo: ONE_PAGE };
    const { hosted } = await startHostile(t, (path) => ({
      body:
        path === '/graphql'
          ? { data: { repository: { pullRequest: { reviewThreads } } } }
          : { message: 'Soon', errors: [] },
    }));
    const problems = [
      await refusal(hosted.reviews(1)),
      await refusal(hosted.labels()),
      await refusal(hosted.issues({})),
      await refusal(hosted.threads(1)),
    ];
    for (const { code } of problems) assert.equal(code, 'codehost_upstream');
  });
});

describe('an issue whose page is not its own', () => {
  it('is refused: its repository is what the API says, not what its link says', async (t) => {
    let html_url = '';
    const { hosted, requests } = await startHostile(t, (path, url) => {
      const i0 = { ...issue(url), url: html_url, ...GRAPHQL };
      const repository = { nameWithOwner: 'acme/app', i0 };
      if (path === '/graphql') return { body: { data: { repository } } };
      return {
        body: path.includes('/issues/') ? issue(url, { html_url }) : { full_name: 'acme/app' },
      };
    });
    for (const wrong of ELSEWHERE) {
      html_url = wrong;
      assert.equal((await refusal(hosted.issue(8))).code, 'codehost_upstream', wrong);
      assert.equal((await refusal(hosted.issuesByNumber([8]))).code, 'codehost_upstream', wrong);
    }
    assert.doesNotMatch(requests.join('\n'), /victim/);
  });

  it('keeps the host of the repository where only the server of the link differs', async (t) => {
    const { hosted } = await startHostile(t, (_path, url) => ({
      body: issue(url, { html_url: 'https://evil.example/acme/app/issues/8' }),
    }));
    assert.equal((await hosted.issue(8)).url, PAGE);
  });

  it('is followed to a renamed repository, which the API confirms', async (t) => {
    const { hosted } = await startHostile(t, (path, url) => {
      const now = {
        html_url: 'https://github.com/acme/new/issues/8',
        repository_url: `${url}/repos/acme/new`,
      };
      return { body: path.includes('/issues/') ? issue(url, now) : { full_name: 'acme/new' } };
    });
    assert.equal((await hosted.issue(8)).url, 'https://github.com/acme/new/issues/8');
  });
});

describe('a pull request', () => {
  const HEAD = 'a'.repeat(40);
  interface Given {
    number?: number;
    /** The last commit in the list, and how many there are. */
    oid?: string;
    totalCount?: number;
    /** The head, as the repository has it. */
    object?: object | null;
    /** The fields of a fork's. */
    fork?: object;
  }
  const startPull = async (t: TestContext, given: Given = {}) => {
    const { number = 3, oid = HEAD, totalCount = 1, object = null, fork } = given;
    const commit = { oid, statusCheckRollup: { state: 'SUCCESS' } };
    const pullRequest = {
      ...{
        number,
        node_id: 'PR_3',
        url: 'https://github.com/acme/app/pull/3',
        title: 'A',
        body: '',
      },
      ...{ state: 'OPEN', isDraft: false, isCrossRepository: false, headRepositoryOwner: null },
      ...{ head_ref: 'work/one', head_sha: HEAD, base_ref: 'main', mergeable: 'MERGEABLE' },
      ...{ reviewDecision: null, author: null, labels: NOBODY },
      commits: { totalCount, nodes: [{ commit }] },
      ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
      ...{ merged_at: null, closed_at: null, ...fork },
    };
    return startHostile(t, () => ({ body: { data: { repository: { pullRequest, object } } } }));
  };

  it('has the checks of its head, and none that another commit passed', async (t) => {
    const own = await startPull(t);
    assert.equal((await own.hosted.pull(3)).checks, 'success');
    const other = await startPull(t, { oid: 'b'.repeat(40) });
    assert.equal((await other.hosted.pull(3)).checks, 'pending');
  });

  it('has the checks of its head after the 250 commits that GitHub lists, of a fork, too', async (t) => {
    const checksOf = async (object: object | null): Promise<string | null> => {
      const fork = { isCrossRepository: true, headRepositoryOwner: { login: 'stranger' } };
      const cut = { oid: 'b'.repeat(40), totalCount: 250 };
      const { hosted } = await startPull(t, { ...cut, object, fork });
      return (await hosted.pull(3)).checks;
    };
    assert.equal(await checksOf({ oid: HEAD, statusCheckRollup: { state: 'FAILURE' } }), 'failure');
    assert.equal(await checksOf({ oid: HEAD, statusCheckRollup: null }), null);
    assert.equal(await checksOf(null), 'pending');
  });

  it('is never another one', async (t) => {
    const { hosted } = await startPull(t, { number: 4 });
    const { code, message } = await refusal(hosted.pull(3));
    assert.equal(code, 'codehost_upstream');
    assert.match(message, /acme\/app#3 cannot be used: it describes the pull request 4/);
  });
});

const NOBODY = { nodes: [] };
const GRAPHQL = {
  ...{ state: 'OPEN', state_reason: null, labels: NOBODY, assignees: NOBODY, author: null },
  comments: { totalCount: 0 },
};

describe('the reviews of a pull request', () => {
  const review = (change: object): object => ({
    ...{ id: 5, user: null, body: 'No.', state: 'COMMENTED', commit_id: null },
    html_url: 'https://github.com/acme/app/pull/1#pullrequestreview-5',
    submitted_at: '2026-11-01T10:00:00Z',
    ...change,
  });

  it('may have no text and a deleted author', async (t) => {
    const { hosted } = await startHostile(t, () => ({ body: [review({ body: null })] }));
    const [only] = (await hosted.reviews(1)).reviews;
    assert.deepEqual([only?.number, only?.body, only?.author], [5, '', null]);
  });

  it('are read but for one with an id that no record can have, which is named', async (t) => {
    for (const id of [-1, 0, 'five', 2 ** 53]) {
      const { hosted } = await startHostile(t, () => ({ body: [review({ id }), review({})] }));
      const { reviews, unread } = await hosted.reviews(1);
      assert.deepEqual([reviews.map(({ number }) => number), unread.length], [[5], 1], String(id));
      assert.match(unread[0] ?? '', /^review 1 of 2 cannot be used: number must be/);
    }
  });

  it('are read but for a null, which is named', async (t) => {
    const { hosted } = await startHostile(t, () => ({ body: [review({}), null] }));
    const { reviews, unread } = await hosted.reviews(1);
    assert.deepEqual(
      [reviews.length, unread],
      [1, ['review 2 of 2 cannot be used: it must be object']],
    );
  });
});

const ONE_PAGE = { hasNextPage: false, endCursor: null };

describe('the threads of a pull request', () => {
  const thread = (change: object): object => ({
    ...{ node_id: 'PRRT_1', resolved: false, outdated: false, path: 'a.ts', line: 1 },
    ...{ start_line: null, comments: { nodes: [], pageInfo: ONE_PAGE }, ...change },
  });

  it('are read but for one of another form, which is named', async (t) => {
    const rows: [odd: unknown, says: string][] = [
      [null, 'it must be object'],
      [{}, 'it must be object'],
      [thread({ node_id: 'a b' }), 'node_id must match pattern'],
      [thread({ node_id: 5 }), 'node_id must be string'],
      [thread({ comments: { nodes: [{ body: 1 }], pageInfo: ONE_PAGE } }), 'comments.0'],
      [thread({ comments: null }), 'it must be object'],
    ];
    for (const [odd, says] of rows) {
      const reviewThreads = { nodes: [odd, thread({})], pageInfo: ONE_PAGE };
      const { hosted } = await startHostile(t, () => ({
        body: { data: { repository: { pullRequest: { reviewThreads } } } },
      }));
      const { threads, unread } = await hosted.threads(1);
      assert.deepEqual(
        threads.map(({ node_id }) => node_id),
        ['PRRT_1'],
      );
      assert.equal(unread.length, 1);
      assert.ok(unread[0]?.startsWith(`thread 1 of 2 cannot be used: ${says}`), unread[0]);
    }
  });
});

describe('the events of a pull request', () => {
  it('are read but for one of another form, which is named', async (t) => {
    const createdAt = '2026-01-01T00:00:00Z';
    const event = { __typename: 'ClosedEvent', id: 'E_1', createdAt, actor: null };
    const timelineItems = { nodes: [{ ...event, id: 5 }, event], pageInfo: ONE_PAGE };
    const { hosted } = await startHostile(t, () => ({
      body: { data: { repository: { pullRequest: { timelineItems } } } },
    }));
    const { events, unread } = await hosted.pullEvents(1);
    assert.deepEqual(
      [events.map(({ id }) => id), unread],
      [['E_1'], ['event 1 of 2 cannot be used: id must be string']],
    );
  });
});

describe('the failing checks of a commit', () => {
  const SHA = 'a'.repeat(40);
  const run = (change: object): object => ({
    ...{ id: 5, name: 'unit', conclusion: 'failure', app: { slug: 'ci', name: 'CI' } },
    ...{ output: null, details_url: null, html_url: null, completed_at: null, started_at: null },
    ...change,
  });

  it('are read but for one of another form, which is named', async (t) => {
    const odds = [
      null,
      run({ id: 'five', output: { annotations_count: 1 } }),
      run({ id: 2 ** 53, app: { slug: 'github-actions', name: 'GitHub Actions' } }),
    ];
    for (const odd of odds) {
      const { hosted } = await startHostile(t, (path) => ({
        body: path.includes('check-runs')
          ? { total_count: 2, check_runs: [odd, run({})] }
          : { statuses: [null] },
      }));
      const { checks, odd: named, read } = await hosted.failingChecks(SHA);
      assert.deepEqual(
        [checks.map(({ id }) => id), named.length, read],
        [['5'], 2, { runs: false, app: null, statuses: false }],
      );
      assert.match(named[0] ?? '', /^failing check 1 of 3 cannot be used: /);
    }
  });
});

describe('a page of issues', () => {
  it('has the numbers of all, also of one whose other fields cannot be used', async (t) => {
    const { hosted } = await startHostile(t, (_path, url) => ({
      body: [issue(url, { labels: 'nolist' }), issue(url, { number: 9 })],
    }));
    assert.deepEqual(await hosted.issueNumbers({}), { numbers: [8, 9], next_cursor: null });
    assert.equal((await refusal(hosted.issues({}))).code, 'codehost_upstream');
  });
});

describe('a pull request whose account or fork was deleted', () => {
  it('is not taken for that of the branch, and hides no other', async (t) => {
    const head = { ref: 'work/one', label: null, user: null, repo: null };
    const { hosted } = await startHostile(t, () => ({
      body: [{ number: 9, head, base: { ref: 'main' } }],
    }));
    assert.equal(await hosted.findPull({ owner: 'acme', branch: 'work/one' }), undefined);
  });
});
