import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Traceability } from '../../store/records/traceability.ts';
import { eventually } from '../helpers/eventually.ts';
import { linkTo } from '../helpers/linked-issue.ts';
import { write, writeItems } from '../helpers/many-items.ts';
import { startForTest } from '../helpers/service.ts';
import { type WithCase, withCase } from '../helpers/work-item.ts';

const PATH = '/api/codehost/traceability';

const graphOf = async (it: Pick<WithCase, 'call'>): Promise<Traceability> => {
  const answer = await it.call<Traceability>('GET', PATH);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};

const pullText = (branch: string, at: string, body: string): string =>
  [
    '---',
    'host: github.com',
    'repository: acme/app',
    'number: 3',
    'title: Save it',
    'state: open',
    `head_ref: ${branch}`,
    'base_ref: main',
    'url: https://github.com/acme/app/pull/3',
    'stale: true',
    `proof_comment: {id: 1, url: "https://github.com/acme/app/pull/3#c", sha256: ${'a'.repeat(64)}, at: "${at}"}`,
    '---',
    body,
  ].join('\n');

// What is linked with what, by the words before the ids.
const edgesOf = ({ edges, nodes }: Traceability): string[] =>
  edges.map(({ from, to, kind }) => {
    for (const id of [from, to])
      assert.ok(
        nodes.some((node) => node.id === id),
        id,
      );
    return kind;
  });

describe(`GET ${PATH}`, () => {
  it('links issue, Work item, session, pull request and proof', async (t) => {
    const it = await withCase(t, { description: 'Do it:\n\n```sh\necho hi > hi.txt\n```\n' });
    linkTo(it, 'Saving fails.\n');
    const made = await it.call<{ id: string }>('POST', `${it.at}/sessions`, {
      type: 'implementing',
    });
    const session = `${it.at}/sessions/${made.body.id}`;
    const until = (status: string): Promise<string> =>
      eventually(async () => {
        const { body } = await it.call<{ status: string; branch: string }>('GET', session);
        assert.equal(body.status, status);
        return body.branch;
      });
    await until('plan_ready');
    assert.equal((await it.call('POST', `${session}/approve`)).status, 200);
    const branch = await until('completed');
    const proof = { type: 'test-log', content: 'green' };
    const { body: shown } = await it.call<{ id: string }>('POST', `${it.at}/proof`, proof);
    const verified = await it.call('PUT', `${it.at}/proof/${shown.id}/verify`);
    assert.equal(verified.status, 200, verified.text);
    const later = new Date(Date.now() + 60_000).toISOString();
    it.write('pr/pr.md', pullText(branch, later, 'Closes #12, fixes #99.\n'));
    it.write(
      'proof/log-2.md',
      `---\nid: ${randomUUID()}\ntype: log\nverified: false\nsession_id: ${made.body.id}\ncreated_at: 2026-01-01T00:00:00.000Z\n---\nx\n`,
    );
    await it.call('GET', `${it.at}/proof`);
    const graph = await graphOf(it);
    assert.deepEqual(edgesOf(graph).toSorted(), [
      'case-has-pr',
      'case-has-proof',
      'case-has-proof',
      'case-has-session',
      'issue-imported_as-case',
      'pr-closes-issue',
      'proof-posted_to-pr',
      'session-produced-pr',
      'session-produced-proof',
      'session-produced-proof',
    ]);
    const counts = { issues: 1, cases: 1, sessions: 1, prs: 1, proofs: 2, edges: 10, dangling: 1 };
    assert.deepEqual(graph.counts, counts);
    assert.deepEqual(
      graph.dangling.map(({ to, kind }) => [to, kind]),
      [['issue:github.com/acme/app#99', 'pr-closes-issue']],
    );
    const pull = graph.nodes.find(({ kind }) => kind === 'pr');
    assert.deepEqual(pull, {
      id: 'pr:github.com/acme/app#3',
      kind: 'pr',
      label: 'acme/app#3 Save it',
      state: 'open',
      url: 'https://github.com/acme/app/pull/3',
      stale: true,
    });
    assert.equal(graph.workspace, it.running.workspace);
  });

  it('tells a record that cannot be read, and an issue that is gone', async (t) => {
    const it = await withCase(t);
    linkTo(it, 'x');
    it.write('link.md', it.read('link.md').replace('status: linked', 'status: missing'));
    it.write('pr/pr.md', '---\nnumber: [\n---\n');
    const { dangling, nodes } = await graphOf(it);
    assert.deepEqual(
      dangling.map(({ kind }) => kind),
      ['case-has-pr', 'issue-imported_as-case'],
    );
    assert.match(dangling[0]?.reason ?? '', /pr\.md:3/);
    assert.equal(nodes.find(({ kind }) => kind === 'issue')?.stale, true);
  });

  it('is one node for an issue that two Work items share, and empty for an empty workspace', async (t) => {
    const running = await startForTest(t);
    assert.deepEqual((await graphOf(running)).nodes, []);
    writeItems(running.workspace, 2);
    for (const n of [0, 1])
      write(
        `${running.workspace}/cases/2026-0${1 + n}/item-${n}/link.md`,
        `---\nissue: {repository: Acme/App, number: 12}\n---\n`,
      );
    await running.restart();
    const { counts } = await graphOf(running);
    assert.deepEqual([counts.issues, counts.cases, counts.edges], [1, 2, 4]);
  });

  it('has an ETag that changes with the links, not with the time', async (t) => {
    const it = await withCase(t);
    const { headers, body } = await it.call<Traceability>('GET', PATH);
    const known = { 'if-none-match': String(headers.etag) };
    await eventually(async () =>
      assert.notEqual((await graphOf(it)).generated_at, body.generated_at),
    );
    assert.equal((await it.call('GET', PATH, undefined, known)).status, 304);
    await it.call('POST', `${it.at}/proof`, { type: 'log', content: 'ok' });
    assert.equal((await it.call('GET', PATH, undefined, known)).status, 200);
  });

  it('of one Work item has what hangs together with it, and nothing else', async (t) => {
    const running = await startForTest(t);
    writeItems(running.workspace, 3);
    const at = (n: number) => `${running.workspace}/cases/2026-0${1 + n}/item-${n}`;
    write(`${at(0)}/link.md`, '---\nissue: {repository: acme/app, number: 12}\n---\n');
    const link =
      '---\nissue: {repository: acme/app, number: 99, status: linked, state: open}\n---\n';
    write(`${at(1)}/link.md`, link);
    const text = pullText(
      'work/a',
      '2026-01-01T00:00:00.000Z',
      'Closes #12, fixes #99, #7 and closes #8.\n',
    );
    write(`${at(0)}/pr/pr.md`, text);
    await running.restart();
    const { body: items } = await running.call<{ id: string; path: string }[]>('GET', '/cases');
    const [first, second] = [0, 1].map((n) => items.find(({ path }) => at(n).endsWith(path))?.id);
    const of = (id: string | undefined) =>
      running.call<Traceability>('GET', `${PATH}?case_id=${id}`);
    const { body: graph } = await of(first);
    const kinds = new Set(['case', 'issue', 'pr']);
    const nodes = graph.nodes.filter(({ kind }) => kinds.has(kind)).map(({ id }) => id);
    assert.deepEqual(nodes.toSorted(), [
      `case:${first}`,
      'issue:github.com/acme/app#12',
      'issue:github.com/acme/app#99',
      'pr:github.com/acme/app#3',
    ]);
    const edges = edgesOf(graph).filter((kind) => !kind.includes('proof'));
    assert.deepEqual(edges, [
      'issue-imported_as-case',
      'case-has-pr',
      'pr-closes-issue',
      'pr-closes-issue',
    ]);
    assert.deepEqual(
      graph.dangling.map(({ to }) => to),
      ['issue:github.com/acme/app#8'],
    );
    assert.equal((await of(second)).body.counts.cases, 1);
    const nobody = await running.call<{ code: string }>('GET', `${PATH}?case_id=${randomUUID()}`);
    assert.deepEqual([nobody.status, nobody.body.code], [404, 'not_found']);
    assert.equal((await running.call('GET', `${PATH}?case_id=x`)).status, 400);
  });

  it('lets other requests through while it looks at many Work items', async (t) => {
    const running = await startForTest(t);
    writeItems(running.workspace, 400);
    await running.restart();
    let turns = 0;
    const graph = graphOf(running);
    const done = graph.then(() => true);
    while (!(await Promise.race([done, new Promise((next) => setImmediate(next, false))])))
      turns += 1;
    assert.equal((await graph).counts.cases, 400);
    assert.ok(turns > 2, `${turns} turns`);
  });
});
