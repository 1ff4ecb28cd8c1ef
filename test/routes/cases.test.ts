import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from '../../lib/client/client.ts';
import type { Case } from '../../store/records/case.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import { type Answered, type Running, startForTest } from '../helpers/service.ts';
import { assertProblem, tagFor, told, withCase } from '../helpers/work-item.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NOBODY = `/cases/${randomUUID()}`;

const make = async ({ call }: Running, title: string, more = {}): Promise<Case> => {
  const answer = await call<Case>('POST', '/cases', { title, type: 'bug', ...more });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};

const titles = ({ body }: Answered<Case[]>): string[] => body.map(({ title }) => title);

/** As an operator leaves it: comments, quotes, keys of their own, Windows line ends, a BOM. */
const byHand = ({ id, created_at }: Case): string =>
  [
    '\uFEFF---',
    '# what this is about',
    `id: ${id}   # never change this`,
    "title:   'Tax is  off'",
    'type: bug',
    'state: OPEN # for now',
    'tags: [tax,  rounding]',
    `created_at: ${created_at}`,
    'due: 2026-01-02',
    '---',
    '',
    'First line',
    '',
    '---',
    'after a rule  ',
    '',
  ].join('\r\n');

describe('POST /cases', () => {
  it('makes a directory with a readable case.md, and answers the record with its tag', async (t) => {
    const running = await startForTest(t);
    const answer = await running.call<Case>('POST', '/cases', {
      title: 'Ünïcode: tax is off, again!',
      type: 'bug',
      description: '# Why\n\nBecause.',
    });
    const { id, path, created_at, updated_at, ...rest } = answer.body;
    assert.equal(answer.status, 201);
    assert.match(id, UUID);
    assert.equal(answer.headers.location, `/cases/${id}`);
    assert.deepEqual(rest, {
      title: 'Ünïcode: tax is off, again!',
      type: 'bug',
      description: '# Why\n\nBecause.',
      state: 'OPEN',
      outcome: null,
      project: 'default',
    });
    assert.equal(
      path,
      `cases/${created_at.slice(0, 7)}/unicode-tax-is-off-again-${id.slice(0, 8)}`,
    );
    for (const time of [created_at, updated_at]) assert.equal(new Date(time).toISOString(), time);
    const text = `---
id: ${id}
title: "Ünïcode: tax is off, again!"
type: bug
state: OPEN
outcome: null
created_at: ${created_at}
---

# Why

Because.
`;
    assert.equal(readFileSync(join(running.workspace, path, 'case.md'), 'utf8'), text);
    assert.deepEqual(readdirSync(join(running.workspace, path)), ['case.md']);
    assert.equal(answer.headers.etag, tagFor(text));
    assert.deepEqual((await running.call('GET', `/cases/${id}`)).body, answer.body);
    assert.deepEqual(running.events, [], 'to make one is no event');
  });

  it('is of the only project where none is named and there is no default, and of no other', async (t) => {
    for (const [projects, project] of [
      ['{ shop: /tmp }', 'shop'],
      ['{ shop: /tmp, site: /tmp }', 'default'],
      ['{ default: /tmp }', 'default'],
    ]) {
      const workspace = temporaryDirectory(t);
      writeFileSync(join(workspace, 'workspace.md'), `---\nprojects: ${projects}\n---\n`);
      const { url } = await startHere(t, ['--workspace', workspace]);
      const body = { title: 'One', type: 'task' };
      assert.equal((await connect({ url }).call('POST /cases', { body })).project, project);
    }
  });

  it('takes a project of the settings and refuses others, also names that every object has', async (t) => {
    const running = await startForTest(t, { settings: 'projects:\n  shop: /somewhere/shop' });
    assert.equal((await make(running, 'One', { project: 'shop' })).project, 'shop');
    assert.equal((await make(running, 'Two', { project: 'default' })).project, 'default');
    for (const project of ['none', 'constructor', 'toString']) {
      const answer = await running.call('POST', '/cases', { title: 'x', type: 'bug', project });
      assertProblem(answer, 400, 'bad_request', '/project');
    }
  });

  it('gives twenty that are made at once a directory each', async (t) => {
    const running = await startForTest(t);
    const made = await Promise.all(
      Array.from({ length: 20 }, () => make(running, 'The same title')),
    );
    assert.equal(new Set(made.map(({ path }) => path)).size, 20);
    for (const { path } of made) assert.ok(existsSync(join(running.workspace, path, 'case.md')));
    assert.equal((await running.call<Case[]>('GET', '/cases')).body.length, 20);
  });
});

describe('GET /cases', () => {
  it('lists oldest first, and pages through with limit, after and Link', async (t) => {
    const running = await startForTest(t);
    const { call } = running;
    for (const title of ['a', 'b', 'c', 'd', 'e']) await make(running, title);
    const all = await call<Case[]>('GET', '/cases');
    assert.deepEqual(titles(all), ['a', 'b', 'c', 'd', 'e']);
    assert.equal(all.headers.link, undefined);
    const seen: string[] = [];
    let next: string | undefined = '/cases?limit=2';
    while (next !== undefined) {
      const page: Answered<Case[]> = await call<Case[]>('GET', next);
      assert.equal(page.status, 200, page.text);
      seen.push(titles(page).join(''));
      next = /^<(.*)>; rel="next"$/.exec(String(page.headers.link))?.[1];
    }
    assert.deepEqual(seen, ['ab', 'cd', 'e']);
    const after = await call<Case[]>('GET', `/cases?after=${all.body[2]?.id}`);
    assert.deepEqual(titles(after), ['d', 'e']);
  });

  it('filters by state, PLANNING being INVESTIGATING, and by outcome', async (t) => {
    const running = await startForTest(t);
    const { call } = running;
    const states: [string, object][] = [
      ['plans', { state: 'PLANNING' }],
      ['open', { state: 'OPEN' }],
      ['done', { state: 'RESOLVED', outcome: 'fixed' }],
      ['usual', { state: 'RESOLVED' }],
      ['no', { state: 'NON_ISSUE' }],
    ];
    for (const [title, state] of states)
      await call('PUT', `/cases/${(await make(running, title)).id}/state`, state);
    const list = async (query: string) => titles(await call<Case[]>('GET', `/cases?${query}`));
    assert.deepEqual(await list('state=PLANNING'), ['plans']);
    assert.deepEqual(await list('state=INVESTIGATING'), ['plans']);
    assert.deepEqual(await list('state=RESOLVED'), ['done', 'usual']);
    assert.deepEqual(await list('outcome=fixed'), ['done']);
    assert.deepEqual(await list('state=RESOLVED&outcome=resolved'), ['usual']);
    assert.deepEqual(await list('outcome=non_issue'), ['no']);
    assert.deepEqual(await list('state=BLOCKED'), []);
    const paged = await call<Case[]>('GET', '/cases?state=RESOLVED&limit=1');
    assert.deepEqual(titles(paged), ['done']);
    assert.match(String(paged.headers.link), /state=RESOLVED&limit=1&after=/);
  });

  it('filters by type, project, and the times of creation and of the last change', async (t) => {
    const running = await startForTest(t, { settings: 'projects: { site: /tmp }' });
    const { call, workspace } = running;
    const [a, b] = [await make(running, 'a'), await make(running, 'b')];
    await call('PUT', `/cases/${b.id}`, { type: 'chore' });
    await call('POST', '/cases', { title: 'c', type: 'bug', project: 'site' });
    const file = join(workspace, a.path, 'case.md');
    const old = readFileSync(file, 'utf8').replace(/^created_at: .*$/m, 'created_at: 2020-01-01');
    writeFileSync(file, old.replace('2020-01-01', '2020-01-01T12:00:00+02:00'));
    utimesSync(file, new Date(), new Date('2021-06-01T00:00:00Z'));
    await call('GET', `/cases/${a.id}`);
    const list = async (query: string) => titles(await call<Case[]>('GET', `/cases?${query}`));
    assert.deepEqual(await list('type=chore'), ['b']);
    assert.deepEqual(await list('project=site'), ['c']);
    assert.deepEqual(await list('project=default&type=bug'), ['a']);
    assert.deepEqual(await list('created_before=2020-01-01T10:00:00.001Z'), ['a']);
    assert.deepEqual(await list('created_before=2020-01-01T10:00:00Z'), [], 'not that moment');
    assert.deepEqual(await list('created_after=2020-01-01T10:00:00Z'), ['b', 'c']);
    const between = 'updated_after=2021-05-31T00:00:00Z&updated_before=2021-06-01T00:00:00.5Z';
    assert.deepEqual(await list(between), ['a']);
    assert.deepEqual(await list('updated_after=2021-06-02T00:00:00%2B02:00'), ['b', 'c']);
  });

  it('finds words in titles and descriptions, ids, and begins with the newest where asked', async (t) => {
    const running = await startForTest(t);
    const { call } = running;
    const ids: string[] = [];
    for (const [title, description] of [
      ['Dates of leap years', 'The PARSER refuses `2026-02-29` (a.b).'],
      ['Parser of Ärger', ''],
      ['Other', 'a+b, and\nthe parser'],
    ]) {
      const made = await call<Case>('POST', '/cases', { title, type: 'bug', description });
      ids.push(made.body.id);
    }
    const list = async (query: string) => titles(await call<Case[]>('GET', `/cases?${query}`));
    assert.deepEqual(await list('search=parser'), [
      'Dates of leap years',
      'Parser of Ärger',
      'Other',
    ]);
    assert.deepEqual(await list('search=%20LEAP%20%20parser'), ['Dates of leap years']);
    assert.deepEqual(await list(`search=${encodeURIComponent('äRGER')}`), ['Parser of Ärger']);
    assert.deepEqual(await list('search=a.b'), ['Dates of leap years']);
    assert.deepEqual(await list('search=a%2Bb'), ['Other']);
    for (const none of ['(', '[', '\\', '^', '$', '/x', '-x', '{1}', '💥'])
      assert.equal((await list(`search=${encodeURIComponent(`nowhere${none}`)}`)).length, 0, none);
    assert.deepEqual(await list(`ids=${ids[2]},${ids[0]},nobody`), [
      'Dates of leap years',
      'Other',
    ]);
    const begins = ids[1]?.slice(0, 12) ?? '';
    for (const query of [`id_prefix=${begins}`, `id_prefix=${begins.toUpperCase()}&search=parser`])
      assert.deepEqual(await list(query), ['Parser of Ärger']);
    assert.deepEqual(await list(`id_prefix=${begins}&search=leap`), []);
    const newest = await call<Case[]>('GET', '/cases?search=parser&order=newest&limit=1');
    assert.deepEqual(titles(newest), ['Other']);
    assert.equal(newest.headers['x-total-count'], '3');
    const next = /^<(.*)>; rel="next"$/.exec(String(newest.headers.link))?.[1] ?? '';
    const rest = await call<Case[]>('GET', `${next}&limit=`.replace(/limit=1&|&limit=$/g, ''));
    assert.deepEqual(titles(rest), ['Parser of Ärger', 'Dates of leap years']);
    await call('PUT', `/cases/${ids[2]}`, { description: 'nothing' });
    assert.deepEqual(await list('search=a%2Bb'), []);
  });

  it('lists the fields that are asked for alone, and pages by them too', async (t) => {
    const running = await startForTest(t);
    const { call } = running;
    for (const title of ['a', 'b']) await make(running, title);
    const page = await call<Case[]>('GET', '/cases?fields=title,state&limit=1');
    const [{ id = '', ...rest } = {}] = page.body as Partial<Case>[];
    assert.deepEqual(rest, { title: 'a', state: 'OPEN' });
    const next = /^<(.*)>; rel="next"$/.exec(String(page.headers.link))?.[1] ?? '';
    assert.deepEqual(titles(await call<Case[]>('GET', next)), ['b']);
    assert.notEqual(id, '');
    const all = Object.keys((await call<Case>('GET', `/cases/${id}`)).body).join(',');
    assert.deepEqual(
      (await call('GET', `/cases?fields=${all}`)).body,
      (await call('GET', '/cases')).body,
    );
    await call('PUT', `/cases/${id}`, { title: 'z' });
    const again = await call<Case[]>('GET', '/cases?fields=title,state&limit=1');
    assert.deepEqual(titles(again), ['z'], 'what was kept ready is made anew');
  });

  it('refuses a page that cannot be, naming the parameter', async (t) => {
    const { call } = await startForTest(t);
    for (const [query, path] of [
      ['limit=0', 'query/limit'],
      ['limit=1001', 'query/limit'],
      ['limit=two', 'query/limit'],
      ['after=nobody', 'query/after'],
      [`after=${randomUUID()}`, 'query/after'],
      ['state=DONE', 'query/state'],
      ['outcome=Not%20a%20word', 'query/outcome'],
      ['order=desc', 'query/order'],
      ['search=', 'query/search'],
      ['id_prefix=xyz', 'query/id_prefix'],
      ['type=Not%20a%20word', 'query/type'],
      ['created_after=yesterday', 'query/created_after'],
      ['created_after=2016-12-31T23:59:60Z', 'query/created_after'],
      ['updated_before=2026-13-01T00:00:00Z', 'query/updated_before'],
      ['fields=title,colour', 'query/fields'],
      ['fields=', 'query/fields'],
    ] as const)
      assertProblem(await call('GET', `/cases?${query}`), 400, 'bad_request', path);
  });

  it('has a tag that holds until any Work item changes', async (t) => {
    const { call, at } = await withCase(t);
    const list = await call('GET', '/cases');
    const headers = { 'if-none-match': String(list.headers.etag) };
    const same = await call('GET', '/cases', undefined, headers);
    assert.deepEqual([same.status, same.text], [304, '']);
    await call('PUT', at, { title: 'Another' });
    assert.equal((await call('GET', '/cases', undefined, headers)).status, 200);
  });

  it('answers for its own workspace, also after a restart in the same process', async (t) => {
    const [one, other] = [await startForTest(t), await startForTest(t)];
    await make(one, 'here');
    await make(other, 'there');
    assert.deepEqual(titles(await one.call<Case[]>('GET', '/cases')), ['here']);
    assert.deepEqual(titles(await other.call<Case[]>('GET', '/cases')), ['there']);
    await other.restart();
    assert.deepEqual(titles(await other.call<Case[]>('GET', '/cases')), ['there']);
  });
});

describe('GET /cases/:id', () => {
  it('answers 304 for the tag at hand, and the new record once case.md was changed by hand', async (t) => {
    const { call, at, read, write } = await withCase(t);
    const first = await call<Case>('GET', at);
    assert.equal(first.headers.etag, tagFor(read('case.md')), 'sha256sum tells it too');
    const headers = { 'if-none-match': String(first.headers.etag) };
    assert.equal((await call('GET', at, undefined, headers)).status, 304);
    write('case.md', read('case.md').replace('off by one', 'off by two'));
    const second = await call<Case>('GET', at, undefined, headers);
    assert.deepEqual([second.status, second.body.title], [200, 'Tax is off by two']);
    assert.equal(second.headers.etag, tagFor(read('case.md')));
  });

  it('has no outcome that nobody wrote, where it was closed by hand', async (t) => {
    const { call, at, read, write } = await withCase(t);
    write('case.md', read('case.md').replace('state: OPEN', 'state: RESOLVED'));
    const { state, outcome } = (await call<Case>('GET', at)).body;
    assert.deepEqual([state, outcome], ['RESOLVED', null]);
    assert.doesNotMatch(read('case.md'), /outcome: resolved/);
  });

  it('is 404 for an id of nobody and for what is no id', async (t) => {
    const { call } = await startForTest(t);
    assertProblem(await call('GET', NOBODY), 404, 'not_found');
    assertProblem(await call('GET', '/cases/seven'), 404, 'not_found');
    const short = assertProblem(await call('GET', '/cases/0123abcd'), 404, 'not_found');
    assert.match(short.detail, /The API takes full ids/);
  });

  it('shows an operator title that the API itself would not take', async (t) => {
    const { call, at, read, write } = await withCase(t);
    write('case.md', read('case.md').replace('Tax is off by one', '"tab\\there"'));
    assert.equal((await call<Case>('GET', at)).body.title, 'tab\there');
    assert.equal((await call<Case>('PUT', at, { description: 'new' })).status, 200);
  });
});

describe('PUT /cases/:id', () => {
  it('writes nothing of what GET returned, also with a project that is no longer set', async (t) => {
    const { call, at, read, write } = await withCase(t);
    for (const project of ['default', 'gone']) {
      if (project === 'gone')
        write('case.md', read('case.md').replace('type: bug\n', 'type: bug\nproject: gone\n'));
      const { body, headers } = await call<Case>('GET', at);
      assert.equal(body.project, project);
      const before = read('case.md');
      const { title, type, description } = body;
      const same = await call<Case>('PUT', at, { title, type, description, project });
      assert.deepEqual([same.status, same.headers.etag], [200, headers.etag], same.text);
      assert.equal(read('case.md'), before);
    }
    assertProblem(await call('PUT', at, { project: 'none' }), 400, 'bad_request', '/project');
  });

  it('changes the title alone, and leaves every other byte', async (t) => {
    const { call, at, item, read, write, events } = await withCase(t);
    const before = byHand(item);
    write('case.md', before);
    const answer = await call<Case>('PUT', at, { title: 'Tax: #1 "bug"' });
    assert.equal(answer.status, 200, answer.text);
    const after = before.replace("'Tax is  off'", `'Tax: #1 "bug"'`);
    assert.equal(read('case.md'), after);
    assert.equal(answer.headers.etag, tagFor(after));
    assert.equal(answer.body.description, 'First line\n\n---\nafter a rule  ');
    // The hand edit first (title and description), then the call.
    assert.deepEqual(told(events), ['case_updated', 'case_updated']);
    assert.deepEqual(events[1]?.payload, { case_id: item.id });
  });

  it('changes the description alone, in the line ends of the file', async (t) => {
    const { call, at, item, read, write } = await withCase(t);
    const before = byHand(item);
    write('case.md', before);
    const answer = await call<Case>('PUT', at, { description: 'New\n---\nwords\n' });
    assert.equal(answer.body.description, 'New\n---\nwords\n');
    const head = before.slice(0, before.indexOf('First'));
    assert.equal(read('case.md'), `${head}New\r\n---\r\nwords\r\n\r\n`);
  });

  it('changes the type, and the directory keeps its name', async (t) => {
    const { call, at, item, read, events } = await withCase(t);
    const answer = await call<Case>('PUT', at, { type: 'feature' });
    assert.deepEqual(
      [answer.status, answer.body.type, answer.body.path],
      [200, 'feature', item.path],
    );
    assert.match(read('case.md'), /^type: feature$/m);
    assert.deepEqual(told(events), ['case_updated']);
    assertProblem(await call('PUT', at, { type: 'Not one' }), 400, 'bad_request', '/type');
  });

  it('makes no event and no write when nothing differs', async (t) => {
    const { call, at, item, read, events } = await withCase(t, { description: 'd' });
    const before = read('case.md');
    const answer = await call<Case>('PUT', at, { title: item.title, description: 'd' });
    assert.deepEqual(
      [answer.status, answer.body.updated_at, read('case.md')],
      [200, item.updated_at, before],
    );
    assert.deepEqual(events, []);
  });

  it('gives back every description exactly as it came', async (t) => {
    const { call, at } = await withCase(t);
    for (const description of [
      '',
      '\n',
      '\n\n',
      ' ',
      'a',
      'a\n',
      '\na',
      '\r\n',
      'a\r\nb\r\n',
      'a\rb',
      '---',
      '---\nid: x\n---\n',
      '\uFEFFa',
      '<<<<<<< one marker alone',
      '\t# x  \n\n',
    ]) {
      await call('PUT', at, { description });
      const { body } = await call<Case>('GET', at);
      assert.equal(body.description, description, JSON.stringify(description));
      assert.equal(body.problems, undefined);
    }
  });

  it('takes an If-Match that is current, also of a record with a problem beside it', async (t) => {
    const { call, at, write } = await withCase(t);
    write('proof/broken.md', 'no front matter\n');
    await call('GET', `${at}/proof`);
    const { headers, body } = await call<Case>('GET', at);
    assert.equal(body.problems?.[0]?.code, 'no_front_matter');
    const answer = await call('PUT', at, { title: 'b' }, { 'if-match': String(headers.etag) });
    assert.equal(answer.status, 200, answer.text);
  });

  it('refuses a stale If-Match, also after a change by hand, and writes nothing', async (t) => {
    const { call, at, read, write } = await withCase(t);
    const { headers } = await call('GET', at);
    const stale = { 'if-match': String(headers.etag) };
    write('case.md', `${read('case.md')}\nA line by hand.\n`);
    const before = read('case.md');
    assertProblem(await call('PUT', at, { title: 'x' }, stale), 412, 'precondition_failed');
    assertProblem(await call('DELETE', at, undefined, stale), 412, 'precondition_failed');
    const state = await call('PUT', `${at}/state`, { state: 'BLOCKED' }, stale);
    assertProblem(state, 412, 'precondition_failed');
    assert.equal(read('case.md'), before);
  });

  it('lets one of ten with the same If-Match win', async (t) => {
    const { call, at, read, events } = await withCase(t);
    const { headers } = await call('GET', at);
    const same = { 'if-match': String(headers.etag) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => call('PUT', at, { title: `number ${n}` }, same)),
    );
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    assert.equal(answers.filter(({ status }) => status === 412).length, 9);
    assert.ok(read('case.md').includes(`title: ${won[0]?.body.title}\n`));
    assert.deepEqual(told(events), ['case_updated']);
  });

  it('keeps both of two changes to different fields that are sent at once', async (t) => {
    const { call, at } = await withCase(t);
    await Promise.all([
      call('PUT', at, { title: 'A new title' }),
      call('PUT', at, { description: 'A new text' }),
      call('PUT', `${at}/state`, { state: 'BLOCKED' }),
    ]);
    const { title, description, state } = (await call<Case>('GET', at)).body;
    assert.deepEqual([title, description, state], ['A new title', 'A new text', 'BLOCKED']);
  });

  it('is 404 for nobody, and 409 with line and column while case.md cannot be read', async (t) => {
    const { call, at, item, read, write } = await withCase(t);
    assertProblem(await call('PUT', NOBODY, { title: 'x' }), 404, 'not_found');
    const good = read('case.md');
    for (const [bad, line, column] of [
      [good.replace('type: bug', 'type: [bug'), 5, 1],
      [good.replace('state: OPEN', 'state: DOING'), 5, 1],
      [good.replace('title: Tax is off by one\n', ''), 2, 1],
      [good.replace(item.id, randomUUID()), 2, 1],
      [good.replace('---\n', ''), 1, 1],
    ] as const) {
      write('case.md', bad);
      for (const [path, body] of [
        [at, { title: 'x' }],
        [`${at}/state`, { state: 'BLOCKED' }],
      ] as const) {
        const problem = assertProblem(await call('PUT', path, body), 409, 'unreadable_record');
        const place = (problem as unknown as { problem: { line?: number; column?: number } })
          .problem;
        assert.deepEqual([place.line, place.column], [line, column], problem.detail);
        assert.match(problem.detail, /case\.md/);
      }
      assert.equal(read('case.md'), bad);
      const shown = (await call<Case>('GET', at)).body;
      assert.deepEqual([shown.title, shown.problems?.length], ['Tax is off by one', 1]);
    }
    write('case.md', good);
    assert.equal((await call('PUT', at, { title: 'x' })).status, 200, 'it goes on by itself');
  });

  it('does not write where the directory was a moment ago', async (t) => {
    const { call, at, dir } = await withCase(t);
    renameSync(dir, `${dir}-moved`);
    const answers = [
      await call('PUT', at, { title: 'x' }),
      await call('PUT', `${at}/state`, { state: 'BLOCKED' }),
      await call('PUT', `${at}/memory/notes.md`, 'x'),
      await call('POST', `${at}/proof`, { type: 'log', content: 'x' }),
      await call('POST', `${at}/proof/checklist`, {
        description: 'd',
        type: 'log',
        required: true,
      }),
      await call('DELETE', at),
    ];
    // Each comes before the move is seen (409) or after it (done, in the new place).
    for (const answer of answers)
      assert.ok([200, 201, 204, 404, 409].includes(answer.status), answer.text);
    assert.ok(!existsSync(dir), 'nothing was made at the old place');
  });
});

describe('PUT /cases/:id/state', () => {
  it('changes state and outcome alone, and tells it once', async (t) => {
    const { call, at, item, read, write, events } = await withCase(t);
    write('case.md', byHand(item));
    await call('GET', at);
    await eventually(() => assert.equal(events.length, 1));
    events.length = 0;
    const answer = await call<Case>('PUT', `${at}/state`, { state: 'RESOLVED', outcome: 'fixed' });
    assert.deepEqual(
      [answer.status, answer.body.state, answer.body.outcome],
      [200, 'RESOLVED', 'fixed'],
    );
    assert.equal(
      read('case.md'),
      byHand(item)
        .replace('state: OPEN # for now', 'state: RESOLVED # for now')
        .replace('due: 2026-01-02\r\n', 'due: 2026-01-02\r\noutcome: fixed\r\n'),
    );
    const [event, ...more] = events;
    assert.deepEqual(more, []);
    assert.deepEqual(event?.payload, {
      case_id: item.id,
      old_state: 'OPEN',
      new_state: 'RESOLVED',
    });
  });

  it('says PLANNING in events and INVESTIGATING in records, whichever was sent', async (t) => {
    const { call, at, events, read } = await withCase(t);
    const one = await call<Case>('PUT', `${at}/state`, { state: 'PLANNING' });
    assert.equal(one.body.state, 'INVESTIGATING');
    assert.match(read('case.md'), /^state: INVESTIGATING$/m);
    await call('PUT', `${at}/state`, { state: 'INVESTIGATING' });
    await call('PUT', `${at}/state`, { state: 'IMPLEMENTING' });
    assert.deepEqual(told(events), [
      'case_state_changed OPEN PLANNING',
      'case_state_changed PLANNING IMPLEMENTING',
    ]);
  });

  it('gives no event and no write for the same state, but takes another outcome', async (t) => {
    const { call, at, events, read } = await withCase(t);
    await call('PUT', `${at}/state`, { state: 'NON_ISSUE' });
    const before = read('case.md');
    assert.match(before, /^outcome: non_issue$/m);
    assert.equal((await call('PUT', `${at}/state`, { state: 'NON_ISSUE' })).status, 200);
    assert.equal(read('case.md'), before);
    const other = await call<Case>('PUT', `${at}/state`, {
      state: 'NON_ISSUE',
      outcome: 'duplicate',
    });
    assert.equal(other.body.outcome, 'duplicate');
    const open = await call<Case>('PUT', `${at}/state`, { state: 'OPEN' });
    assert.equal(open.body.outcome, null);
    assert.deepEqual(told(events), [
      'case_state_changed OPEN NON_ISSUE',
      'case_state_changed NON_ISSUE OPEN',
    ]);
  });

  it('lets ten at once take their turns: each change starts where the one before ended', async (t) => {
    const { call, at, events } = await withCase(t);
    const states = ['BLOCKED', 'IMPLEMENTING', 'VERIFYING', 'OPEN', 'BLOCKED', 'NON_ISSUE'];
    await Promise.all(states.map((state) => call('PUT', `${at}/state`, { state })));
    const steps = told(events).map((step) => step.split(' ').slice(1));
    assert.equal(steps.length, states.length);
    for (const [index, [old]] of steps.entries())
      assert.equal(old, index === 0 ? 'OPEN' : steps[index - 1]?.[1]);
  });

  it('is 404 for nobody', async (t) => {
    const { call } = await startForTest(t);
    assertProblem(await call('PUT', `${NOBODY}/state`, { state: 'OPEN' }), 404, 'not_found');
  });
});

describe('DELETE /cases/:id', () => {
  it('removes the directory with all in it, and says nothing', async (t) => {
    const { call, at, dir, events, running } = await withCase(t);
    await call('PUT', `${at}/memory/notes.md`, '# Notes\n');
    const { headers } = await call('GET', at);
    const answer = await call('DELETE', at, undefined, { 'if-match': String(headers.etag) });
    assert.deepEqual([answer.status, answer.text], [204, '']);
    assert.ok(!existsSync(dir));
    assertProblem(await call('GET', at), 404, 'not_found');
    assert.deepEqual((await call('GET', '/cases')).body, []);
    assert.deepEqual(events, []);
    await running.restart();
    assertProblem(await call('GET', at), 404, 'not_found');
  });

  it('lets one of five win; to the others it is gone', async (t) => {
    const { call, at } = await withCase(t);
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('DELETE', at)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 404, 404, 404, 404]);
  });

  it('is refused while a session runs', async (t) => {
    const { call, at, dir } = await withCase(t, { description: '```sh\ntrue\n```\n' });
    assert.equal((await call('POST', `${at}/sessions`, { type: 'implementing' })).status, 201);
    assertProblem(await call('DELETE', at), 409, 'session_active');
    assert.ok(existsSync(join(dir, 'case.md')));
  });

  it('is refused while its worktree holds work, and with force keeps that under a ref', async (t) => {
    const { call, at, item, dir, running } = await withCase(t);
    const made = await call<{ path: string }>('POST', '/api/worktrees', { case_id: item.id });
    assert.equal(made.status, 201, made.text);
    writeFileSync(join(made.body.path, 'precious.txt'), 'not committed\n');
    assertProblem(await call('DELETE', at), 409, 'work_would_be_lost');
    assert.ok(existsSync(join(made.body.path, 'precious.txt')));
    assert.ok(existsSync(dir));
    assert.equal((await call('DELETE', `${at}?force=true`)).status, 204);
    assert.ok(!existsSync(dir) && !existsSync(made.body.path));
    const refs = running.repository.git('for-each-ref', '--format=%(refname)', 'refs/dossier');
    const kept = running.repository.git(
      'ls-tree',
      '-r',
      '--name-only',
      refs.trim().split('\n')[0] ?? '',
    );
    assert.match(kept, /precious\.txt/);
  });

  it('is 404 for nobody', async (t) => {
    const { call } = await startForTest(t);
    assertProblem(await call('DELETE', NOBODY), 404, 'not_found');
  });
});

describe('a Work item whose directory was removed by hand', () => {
  it('is 404 after the grace period, and gone from the list', async (t) => {
    const { call, at, dir } = await withCase(t, {}, { watch: true });
    rmSync(dir, { recursive: true });
    await eventually(async () => assertProblem(await call('GET', at), 404, 'not_found'));
    assert.deepEqual((await call('GET', '/cases')).body, []);
  });
});

describe('GET /cases/:id/history', () => {
  it('lists the commits of the workspace that touched it, newest first', async (t) => {
    const { call, at, running } = await withCase(t);
    const git = gitIn(running.workspace);
    git('init', '--quiet', '--initial-branch=main');
    git('config', 'user.name', 'An Operator');
    git('config', 'user.email', 'one@example.com');
    git('add', 'cases');
    git('commit', '--quiet', '--message', 'a Work item');
    await call('PUT', at, { title: 'Another title' });
    git('commit', '--quiet', '--all', '--message', 'another title');
    const { body } = await call<{ message: string; author: string; files: object[] }[]>(
      'GET',
      `${at}/history`,
    );
    assert.deepEqual(
      body.map(({ message, author }) => [message.trim(), author]),
      [
        ['another title', 'An Operator'],
        ['a Work item', 'An Operator'],
      ],
    );
    assert.deepEqual(
      body.map(({ files }) => files),
      [[{ path: 'case.md', change: 'modified' }], [{ path: 'case.md', change: 'added' }]],
    );
    assert.equal((await call<object[]>('GET', `${at}/history?limit=1`)).body.length, 1);
  });

  it('is empty without a repository, and 404 for nobody', async (t) => {
    const { call, at } = await withCase(t);
    assert.deepEqual((await call('GET', `${at}/history`)).body, []);
    assertProblem(await call('GET', `${NOBODY}/history`), 404, 'not_found');
  });
});
