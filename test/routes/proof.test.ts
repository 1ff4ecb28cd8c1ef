import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import { layoutOf } from '../../store/layout.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Case } from '../../store/records/case.ts';
import type { ChecklistItem, Gate, Proof } from '../../store/records/proof.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import type { Answered } from '../helpers/service.ts';
import { type SessionTest, withCase as withSession } from '../helpers/sessions.ts';
import {
  assertProblem,
  sha256,
  tagFor,
  told,
  type WithCase,
  withCase,
} from '../helpers/work-item.ts';

const NOBODY = `/cases/${randomUUID()}`;

const attach = async ({ call, at }: WithCase, type = 'test-log', content = 'ok 1') => {
  const answer = await call<Proof>('POST', `${at}/proof`, { type, content });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};

const fileOf = ({ type, id }: Proof): string => `proof/${type}-${id.slice(0, 8)}.md`;

const withProof = async (t: TestContext) => {
  const work = await withCase(t);
  const proof = await attach(work);
  return { ...work, proof, file: fileOf(proof), one: `${work.at}/proof/${proof.id}` };
};

describe('POST /cases/:id/proof', () => {
  it('keeps the content in a file of its own, and tells it', async (t) => {
    const work = await withCase(t);
    const { call, at, item, read, events } = work;
    const content = '# log\n\n---\nok 1\r\nnot ok 2\n';
    const answer = await call<Proof>('POST', `${at}/proof`, { type: 'test-log', content });
    const { id, created_at, ...rest } = answer.body;
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.location, `${at}/proof/${id}`);
    assert.deepEqual(rest, {
      case_id: item.id,
      type: 'test-log',
      content,
      file: null,
      file_sha256: null,
      verified: false,
      verified_at: null,
      verified_by: null,
      session_id: null,
      commit: null,
      diff_sha256: null,
    });
    const text = `---
id: ${id}
type: test-log
verified: false
commit: null
created_at: ${created_at}
---

${content}
`;
    assert.equal(read(`proof/test-log-${id.slice(0, 8)}.md`), text);
    assert.equal(answer.headers.etag, tagFor(text));
    assert.deepEqual(
      events.map(({ payload }) => payload),
      [{ case_id: item.id, proof_id: id, proof_type: 'test-log' }],
    );
    assert.deepEqual((await call('GET', `${at}/proof/${id}`)).body, answer.body);
  });

  it('names the hash of the diff while nothing is committed, and no base commit', async (t) => {
    const work = await withCase(t);
    const { call, at, item } = work;
    const made = await call<{ path: string }>('POST', '/api/worktrees', { case_id: item.id });
    const none = await attach(work);
    assert.deepEqual([none.commit, none.diff_sha256], [null, null], 'there is no work yet');
    writeFileSync(join(made.body.path, 'new.txt'), 'new\n');
    const proof = await attach(work);
    const { git } = work.running.repository;
    git('-C', made.body.path, 'add', '--intent-to-add', 'new.txt');
    const patch = git('-C', made.body.path, 'diff', '--full-index', '--binary');
    assert.deepEqual([proof.commit, proof.diff_sha256], [null, sha256(patch)]);
    await call('PUT', `${at}/proof/${proof.id}/verify`);
    const stale = async () => (await call<Gate>('GET', `${at}/proof/gate`)).body.stale;
    assert.deepEqual(await stale(), []);
    git('-C', made.body.path, 'add', '.');
    git('-C', made.body.path, 'commit', '--quiet', '-m', 'all of it');
    assert.deepEqual(await stale(), [], 'it is the same work');
    writeFileSync(join(made.body.path, 'new.txt'), 'newer\n');
    assert.deepEqual(await stale(), [proof.id]);
  });

  it('names the commit that holds the work, and the gate those of another tree', async (t) => {
    const work = await withCase(t);
    const { call, at, item } = work;
    const made = await call<{ path: string }>('POST', '/api/worktrees', { case_id: item.id });
    const commit = () => {
      const { git } = work.running.repository;
      git('-C', made.body.path, 'commit', '--quiet', '--allow-empty', '-m', 'more');
      return git('-C', made.body.path, 'rev-parse', 'HEAD').trim();
    };
    const head = commit();
    const proof = await attach(work);
    assert.deepEqual([proof.commit, proof.diff_sha256], [head, null]);
    await call('PUT', `${at}/proof/${proof.id}/verify`);
    const gate = async () => (await call<Gate>('GET', `${at}/proof/gate`)).body;
    assert.deepEqual(await gate(), { satisfied: true, missing: [], stale: [] });
    commit();
    assert.deepEqual((await gate()).stale, [], 'another commit of the same files');
    writeFileSync(join(made.body.path, 'new.txt'), 'new\n');
    assert.deepEqual(await gate(), { satisfied: true, missing: [], stale: [proof.id] });
  });

  it('names the session that did the work: the one that is named, else the newest', async (t) => {
    const work = await withSession(t);
    const { call } = work.running;
    const body = { type: 'log', content: 'ok' };
    const { id } = await work.start();
    assert.equal((await call<Proof>('POST', `${work.at}/proof`, body)).body.session_id, null);
    await work.until(id, 'plan_ready');
    await work.post(`/sessions/${id}/approve`);
    const { commit } = await work.until(id, 'completed');
    const proof = (await call<Proof>('POST', `${work.at}/proof`, body)).body;
    assert.deepEqual([proof.session_id, proof.commit], [id, commit?.id]);
    assert.equal(proof.diff_sha256, null, 'all of it is committed');
    const named = await call<Proof>('POST', `${work.at}/proof`, { ...body, session_id: id });
    assert.equal(named.body.session_id, id);
    const nobody = { ...body, session_id: randomUUID() };
    const answer = await call('POST', `${work.at}/proof`, nobody);
    assertProblem(answer, 400, 'bad_request', '/session_id');
  });

  it('keeps all of twenty that come at once, and tells each', async (t) => {
    const work = await withCase(t);
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => attach(work, 'log', `${n}`)),
    );
    const { body } = await work.call<Proof[]>('GET', `${work.at}/proof`);
    assert.deepEqual(new Set(body.map(({ id }) => id)), new Set(made.map(({ id }) => id)));
    assert.equal(new Set(body.map(({ content }) => content)).size, 20);
    assert.deepEqual(told(work.events), Array(20).fill('proof_created'));
  });

  it('takes 1 MiB of UTF-8 and no byte more, for it could not be read back', async (t) => {
    const work = await withCase(t);
    const { call, at, dir } = work;
    const most = `${'é'.repeat(524_287)}ab`;
    const { id } = await attach(work, 'log', most);
    assert.equal((await call<Proof>('GET', `${at}/proof/${id}`)).body.content, most);
    const over = await call('POST', `${at}/proof`, { type: 'log', content: `${most}c` });
    assertProblem(over, 413, 'too_large', '/content');
    // JSON takes two bytes for each.
    const quotes = await attach(work, 'log', '"'.repeat(1_048_576));
    assert.equal(quotes.content.length, 1_048_576);
    assert.equal(readdirSync(join(dir, 'proof')).length, 2);
  });

  it('is 404 for nobody', async (t) => {
    const { call } = await withCase(t);
    const answer = await call('POST', `${NOBODY}/proof`, { type: 'log', content: 'x' });
    assertProblem(answer, 404, 'not_found');
  });
});

describe('GET /cases/:id/proof', () => {
  it('lists oldest first with their content, and pages', async (t) => {
    const work = await withCase(t);
    const { call, at } = work;
    for (const content of ['a', 'b', 'c']) await attach(work, 'log', content);
    const list = async (path: string) => {
      const answer = await call<Proof[]>('GET', path);
      return { answer, contents: answer.body.map(({ content }) => content) };
    };
    assert.deepEqual((await list(`${at}/proof`)).contents, ['a', 'b', 'c']);
    const page = await list(`${at}/proof?limit=2`);
    assert.deepEqual(page.contents, ['a', 'b']);
    const next = /^<(.*)>; rel="next"$/.exec(String(page.answer.headers.link))?.[1] ?? '';
    assert.deepEqual((await list(next)).contents, ['c']);
    const headers = { 'if-none-match': String(page.answer.headers.etag) };
    assert.equal((await call('GET', `${at}/proof?limit=2`, undefined, headers)).status, 304);
    assertProblem(await call('GET', `${at}/proof?after=x`), 400, 'bad_request', 'query/after');
    assertProblem(await call('GET', `${NOBODY}/proof`), 404, 'not_found');
  });

  it('still answers when one was broken by hand, and the Work item says where', async (t) => {
    const { call, at, proof, file, read, write } = await withProof(t);
    const good = read(file);
    write(file, good.replace('verified: false', 'verified: [no'));
    const { status, body } = await call<Proof[]>('GET', `${at}/proof`);
    assert.deepEqual([status, body.map(({ id }) => id)], [200, [proof.id]]);
    assert.equal(body[0]?.content, 'ok 1');
    const shown = (await call<Case>('GET', at)).body.problems;
    assert.deepEqual(
      shown?.map(({ code, line }) => [code, line]),
      [['bad_yaml', 5]],
    );
    write(file, 'nothing of a record');
    assert.equal((await call('GET', `${at}/proof`)).status, 200);
    write(file, good);
    assert.deepEqual((await call<Proof[]>('GET', `${at}/proof`)).body, [proof]);
    assert.equal((await call<Case>('GET', at)).body.problems, undefined);
  });
});

describe('GET /cases/:id/proof/:pid', () => {
  it('has the tag of its file, which changes with it', async (t) => {
    const { call, one, file, read, write } = await withProof(t);
    const { headers } = await call('GET', one);
    assert.equal(headers.etag, tagFor(read(file)));
    const known = { 'if-none-match': String(headers.etag) };
    assert.equal((await call('GET', one, undefined, known)).status, 304);
    write(file, `${read(file)}more\n`);
    const { status, body } = await call<Proof>('GET', one, undefined, known);
    assert.deepEqual([status, body.content], [200, 'ok 1\nmore']);
  });

  it('is 404 for nobody, and for a proof of another Work item', async (t) => {
    const { call, at, proof } = await withProof(t);
    const other = await call<Case>('POST', '/cases', { title: 'Other', type: 'bug' });
    assertProblem(await call('GET', `/cases/${other.body.id}/proof/${proof.id}`), 404, 'not_found');
    assertProblem(await call('GET', `${at}/proof/${randomUUID()}`), 404, 'not_found');
    assertProblem(await call('GET', `${at}/proof/nothing`), 404, 'not_found');
    assertProblem(await call('GET', `${NOBODY}/proof/${proof.id}`), 404, 'not_found');
  });
});

describe('PUT /cases/:id/proof/:pid/verify', () => {
  it('binds the verification to the content, and leaves every other byte', async (t) => {
    const { call, one, item, proof, file, read, write, events } = await withProof(t);
    const byHand = read(file)
      .replace('verified: false', 'verified: false  # not yet\r\nmine: {a:  1}')
      .replaceAll(/\r?\n/g, '\r\n');
    write(file, byHand);
    const answer = await call<Proof>('PUT', `${one}/verify`);
    const { verified, verified_at } = answer.body;
    assert.deepEqual([answer.status, verified], [200, true]);
    assert.equal(
      read(file),
      byHand
        .replace('verified: false', 'verified: true')
        .replace(
          '\r\n---\r\n\r\n',
          `\r\nverified_at: ${verified_at}\r\nverified_by: operator\r\nverified_sha256: ${sha256('ok 1')}\r\n---\r\n\r\n`,
        ),
    );
    assert.equal(answer.headers.etag, tagFor(read(file)));
    assert.deepEqual(told(events), ['proof_created', 'proof_updated true']);
    assert.deepEqual(events[1]?.payload, {
      case_id: item.id,
      proof_id: proof.id,
      proof_type: 'test-log',
      verified: true,
    });
  });

  it('is one verification and one event, however often and by how many', async (t) => {
    const { call, one, events } = await withProof(t);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call<Proof>('PUT', `${one}/verify`)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(5).fill(200),
    );
    assert.equal(new Set(answers.map(({ body }) => body.verified_at)).size, 1);
    assert.deepEqual(told(events), ['proof_created', 'proof_updated true']);
  });

  it('refuses a tag that is not the one that was read', async (t) => {
    const { call, one, file, read, write } = await withProof(t);
    const { headers } = await call('GET', one);
    write(file, read(file).replace('ok 1', 'not ok 1'));
    const stale = { 'if-match': String(headers.etag) };
    assertProblem(await call('PUT', `${one}/verify`, undefined, stale), 412, 'precondition_failed');
    assert.match(read(file), /^verified: false$/m);
    const now = { 'if-match': tagFor(read(file)) };
    assert.equal((await call('PUT', `${one}/verify`, undefined, now)).status, 200);
  });

  it('resolves a Work item that is VERIFYING once the gate is satisfied, and no other', async (t) => {
    const work = await withProof(t);
    const { call, at, one, events, read } = work;
    await call('PUT', `${one}/verify`);
    assert.equal((await call<Case>('GET', at)).body.state, 'OPEN');
    await call('POST', `${at}/proof/checklist`, {
      description: 'Seen',
      type: 'screenshot',
      required: true,
    });
    await call('PUT', `${at}/state`, { state: 'VERIFYING' });
    assert.equal((await call<Case>('GET', at)).body.state, 'VERIFYING');
    const shot = await attach(work, 'screenshot', 'it works');
    events.length = 0;
    await call('PUT', `${at}/proof/${shot.id}/verify`);
    const { state, outcome } = (await call<Case>('GET', at)).body;
    assert.deepEqual([state, outcome], ['RESOLVED', 'resolved']);
    assert.match(read('case.md'), /^state: RESOLVED\noutcome: resolved$/m);
    assert.deepEqual(told(events), ['proof_updated true', 'case_state_changed VERIFYING RESOLVED']);
  });

  it('is 409 with the place while the file cannot be read, which stays as it is', async (t) => {
    const { call, one, file, read, write } = await withProof(t);
    for (const [from, to, line] of [
      ['type: test-log', 'type: [test', 4],
      ['type: test-log', 'type: Test Log', 3],
      ['verified: false', 'verified: maybe', 4],
    ] as const) {
      const good = read(file);
      write(file, good.replace(from, to));
      const problem = assertProblem(await call('PUT', `${one}/verify`), 409, 'unreadable_record');
      assert.match(problem.detail, new RegExp(`${file}:${line}:`));
      assert.equal(read(file), good.replace(from, to));
      write(file, good);
    }
    assert.equal((await call('PUT', `${one}/verify`)).status, 200);
  });

  it('is 404 for nobody', async (t) => {
    const { call, at, proof } = await withProof(t);
    assertProblem(await call('PUT', `${at}/proof/${randomUUID()}/verify`), 404, 'not_found');
    assertProblem(await call('PUT', `${NOBODY}/proof/${proof.id}/verify`), 404, 'not_found');
  });
});

describe('PATCH /cases/:id/proof/:pid', () => {
  it('changes what is named alone, and takes the verification back in one step', async (t) => {
    const { call, at, proof, one, file, read, events } = await withProof(t);
    await call('PUT', `${one}/verify`);
    const before = read(file);
    events.length = 0;
    const answer = await call<Proof>('PATCH', one, { content: 'not ok 1' });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, { ...proof, content: 'not ok 1' });
    assert.equal(answer.headers.etag, tagFor(read(file)));
    const said = /^verified_(at|by|sha256): .*\n/gm;
    const after = before.replace('verified: true', 'verified: false').replaceAll(said, '');
    assert.equal(read(file), after.replace('ok 1', 'not ok 1'));
    assert.deepEqual(told(events), ['proof_updated false']);
    assert.equal((await call<Gate>('GET', `${at}/proof/gate`)).body.satisfied, false);
    const typed = await call<Proof>('PATCH', one, { type: 'review' });
    assert.deepEqual([typed.body.type, typed.body.content], ['review', 'not ok 1']);
  });

  it('leaves a verification where nothing differs', async (t) => {
    const { call, one, file, read, events } = await withProof(t);
    await call('PUT', `${one}/verify`);
    const before = read(file);
    events.length = 0;
    const same = await call<Proof>('PATCH', one, { type: 'test-log', content: 'ok 1' });
    assert.deepEqual([same.status, same.body.verified, read(file)], [200, true, before]);
    assert.deepEqual(events, []);
  });

  it('refuses what cannot be', async (t) => {
    const { call, one, proof, file, read, write } = await withProof(t);
    const patch = (body: object, headers = {}) => call('PATCH', one, body, headers);
    assertProblem(await patch({}), 400, 'bad_request');
    assertProblem(await patch({ verified: true }), 400, 'bad_request', '/verified');
    assertProblem(await patch({ content: 'é'.repeat(600_000) }), 413, 'too_large', '/content');
    const old = { 'if-match': '"0"' };
    assertProblem(await patch({ content: 'x' }, old), 412, 'precondition_failed');
    const nobody = await call('PATCH', `${NOBODY}/proof/${proof.id}`, { content: 'x' });
    assertProblem(nobody, 404, 'not_found');
    const good = read(file);
    write(file, good.replace('type: test-log', 'type: [test'));
    assertProblem(await patch({ content: 'x' }), 409, 'unreadable_record');
  });

  it('and a verification at the same moment never end verified with what nobody saw', async (t) => {
    const { call, one, file, read } = await withProof(t);
    const etag = { 'if-match': tagFor(read(file)) };
    const [edited, verified] = await Promise.all([
      call('PATCH', one, { content: 'not ok 1' }, etag),
      call('PUT', `${one}/verify`, undefined, etag),
    ]);
    assert.deepEqual([edited.status, verified.status].toSorted(), [200, 412]);
    const { body } = await call<Proof>('GET', one);
    assert.deepEqual(
      [body.content, body.verified],
      edited.status === 200 ? ['not ok 1', false] : ['ok 1', true],
    );
  });
});

describe('DELETE /cases/:id/proof/:pid/verify', () => {
  it('takes the verification back, tells it, and leaves the state to the operator', async (t) => {
    const { call, at, one, proof, file, read, events } = await withProof(t);
    const before = read(file);
    await call('PUT', `${at}/state`, { state: 'VERIFYING' });
    await call('PUT', `${one}/verify`);
    assert.equal((await call<Case>('GET', at)).body.state, 'RESOLVED');
    events.length = 0;
    const answer = await call<Proof>('DELETE', `${one}/verify`);
    assert.deepEqual([answer.status, answer.body], [200, proof]);
    assert.equal(read(file), before);
    assert.deepEqual(told(events), ['proof_updated false']);
    assert.equal((await call<Case>('GET', at)).body.state, 'RESOLVED');
    await call('DELETE', `${one}/verify`);
    assert.equal(events.length, 1, 'twice is once');
    const old = await call('DELETE', `${one}/verify`, undefined, { 'if-match': '"0"' });
    assertProblem(old, 412, 'precondition_failed');
    assertProblem(await call('DELETE', `${at}/proof/${randomUUID()}/verify`), 404, 'not_found');
  });
});

describe('DELETE /cases/:id/proof/:pid', () => {
  it('takes it away at once, and keeps it in .dossier/undo', async (t) => {
    const { call, at, one, file, read, running, dir } = await withProof(t);
    const text = read(file);
    const old = await call('DELETE', one, undefined, { 'if-match': '"0"' });
    assertProblem(old, 412, 'precondition_failed');
    const answer = await call('DELETE', one, undefined, { 'if-match': tagFor(text) });
    assert.equal(answer.status, 204, answer.text);
    assert.deepEqual((await call('GET', `${at}/proof`)).body, []);
    assert.deepEqual(told(running.told).slice(-2), ['proof_created', 'proof_deleted']);
    assert.equal(existsSync(join(dir, file)), false);
    const undo = join(running.workspace, '.dossier/undo');
    const kept = readdirSync(undo, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => readFileSync(join(undo, name), 'utf8'));
    assert.ok(kept.includes(text));
    assertProblem(await call('DELETE', one), 404, 'not_found');
    await running.restart();
    assert.deepEqual((await running.call('GET', `${at}/proof`)).body, []);
  });

  it('is one for two that come at once, and 409 where it cannot be read', async (t) => {
    const { call, one, file, read, write } = await withProof(t);
    const good = read(file);
    write(file, good.replace('type: test-log', 'type: [test'));
    assertProblem(await call('DELETE', one), 409, 'unreadable_record');
    write(file, good);
    const both = await Promise.all([call('DELETE', one), call('DELETE', one)]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [204, 404]);
  });
});

const BY_HAND = `---
# what we promised
items:   # one a line
- description:   "It's fast"
  type: benchmark
  required: false
  # and the important one
- {description: Tests pass, type: test-log}
mine: [a,  b]   # stays
---
Notes.
`;

const wanted = { description: 'Screenshot: "after"', type: 'screenshot', required: true };

describe('POST /cases/:id/proof/checklist', () => {
  it('makes the file with the first and adds a line for the next', async (t) => {
    const { call, at, read, events } = await withCase(t);
    const one = await call<ChecklistItem>('POST', `${at}/proof/checklist`, wanted);
    assert.equal(one.status, 201, one.text);
    assert.deepEqual(one.body, {
      ...{ id: one.body.id, ...wanted },
      ...{ task: false, done: false, satisfied: false },
    });
    const two = await call<ChecklistItem>('POST', `${at}/proof/checklist`, {
      description: 'Two\nlines',
      type: 'log',
      required: false,
    });
    assert.equal(
      read('proof/checklist.md'),
      `---
items:
  - id: ${one.body.id}
    description: 'Screenshot: "after"'
    type: screenshot
    required: true
  - id: ${two.body.id}
    description: |-
      Two
      lines
    type: log
    required: false
---

What has to be proven before this Work item can be resolved.
`,
    );
    assert.equal((await call<Case>('GET', at)).body.problems, undefined);
    assert.deepEqual((await call('GET', `${at}/proof`)).body, [], 'the checklist is no proof');
    assert.deepEqual(events, []);
  });

  for (const eol of ['\n', '\r\n'])
    it(`leaves every other byte of a list by hand (${JSON.stringify(eol)})`, async (t) => {
      const { call, at, read, write } = await withCase(t);
      const before = BY_HAND.replaceAll('\n', eol);
      write('proof/checklist.md', before);
      const { status, body } = await call<ChecklistItem>('POST', `${at}/proof/checklist`, wanted);
      assert.equal(status, 201);
      const added = `- id: ${body.id}
  description: 'Screenshot: "after"'
  type: screenshot
  required: true
`.replaceAll('\n', eol);
      assert.equal(read('proof/checklist.md'), before.replace('mine:', `${added}mine:`));
    });

  for (const [name, list] of [
    ['an empty list', 'items: []'],
    ['no value', 'items:'],
    ['a flow list', 'items: [{description: a, type: log, required: true}]'],
  ])
    it(`adds to ${name}`, async (t) => {
      const { call, at, write } = await withCase(t);
      const before = name === 'a flow list' ? 1 : 0;
      write('proof/checklist.md', `---\n# kept\n${list}\nmine: x # too\n---\nBody\n`);
      const answer = await call('POST', `${at}/proof/checklist`, wanted);
      assert.equal(answer.status, 201, answer.text);
      const { body } = await call<ChecklistItem[]>('GET', `${at}/proof/checklist`);
      assert.equal(body.length, before + 1);
      assert.equal(body.at(-1)?.description, wanted.description);
    });

  it('keeps all of ten that come at once', async (t) => {
    const { call, at } = await withCase(t);
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        call('POST', `${at}/proof/checklist`, { ...wanted, description: `number ${n}` }),
      ),
    );
    const { body } = await call<ChecklistItem[]>('GET', `${at}/proof/checklist`);
    assert.equal(new Set(body.map(({ description }) => description)).size, 10);
  });

  it('is 409 with the place where the list cannot be read, which stays as it is', async (t) => {
    const { call, at, read, write } = await withCase(t);
    for (const [text, place] of [
      ['---\nitems: [\n---\n', ':3:1'],
      ['---\n\nitems: later\n---\n', ':3:1'],
      ['---\nitems:\n  - type: log\n---\n', ':3:5'],
      ['no record', ':1:1'],
    ] as const) {
      write('proof/checklist.md', text);
      const answer = await call('POST', `${at}/proof/checklist`, wanted);
      const problem = assertProblem(answer, 409, 'unreadable_record');
      assert.ok(problem.detail.includes(`proof/checklist.md${place}`), problem.detail);
      assert.equal(read('proof/checklist.md'), text);
    }
    assertProblem(await call('POST', `${NOBODY}/proof/checklist`, wanted), 404, 'not_found');
  });
});

describe('GET /cases/:id/proof/checklist', () => {
  it('lists what was written by hand, with an id that stays, required unless it says no', async (t) => {
    const work = await withCase(t);
    const { call, at, write } = work;
    assert.deepEqual((await call('GET', `${at}/proof/checklist`)).body, []);
    write('proof/checklist.md', BY_HAND);
    const list = () => call<ChecklistItem[]>('GET', `${at}/proof/checklist`);
    const first = await list();
    assert.deepEqual(
      first.body.map(({ description, type, required, satisfied }) => [
        description,
        type,
        required,
        satisfied,
      ]),
      [
        ["It's fast", 'benchmark', false, false],
        ['Tests pass', 'test-log', true, false],
      ],
    );
    const proof = await attach(work);
    await call('PUT', `${at}/proof/${proof.id}/verify`);
    await work.running.restart();
    const second = await list();
    assert.deepEqual(
      second.body.map(({ id, satisfied }) => [id, satisfied]),
      [
        [first.body[0]?.id, false],
        [first.body[1]?.id, true],
      ],
    );
    assert.equal(
      (await call<ChecklistItem[]>('GET', `${at}/proof/checklist?limit=1`)).body.length,
      1,
    );
    assertProblem(await call('GET', `${NOBODY}/proof/checklist`), 404, 'not_found');
  });
});

const BY_PEOPLE = `# Before it ships

- [ ] Tests pass
* [x] Seen on a *small* screen  
  1. [X] at 320 px
+ [ ] (optional) Benchmark
- [ ] Tests pass

\`\`\`md
- [ ] an example
\`\`\`
<!--
- [ ] from the template
-->
- [link](x) and - [ ] in a line
`;

describe('a checklist as people write it', () => {
  const list = ({ call, at }: WithCase) => call<ChecklistItem[]>('GET', `${at}/proof/checklist`);

  it('lists the task lines with their marks, front matter or not', async (t) => {
    const work = await withCase(t);
    const lines = [
      ['Tests pass', 'tests-pass', true, false],
      ['Seen on a *small* screen', 'seen-on-a-small-screen', true, true],
      ['at 320 px', 'at-320-px', true, true],
      ['(optional) Benchmark', 'optional-benchmark', false, false],
      ['Tests pass', 'tests-pass', true, false],
    ];
    for (const [text, more] of [
      [BY_PEOPLE, []],
      [`\uFEFF${BY_PEOPLE.replaceAll('\n', '\r\n')}`, []],
      [`---\nmine: "- [ ] no"\n---\n${BY_PEOPLE}`, []],
      [
        `---\nitems: [{type: log, description: Log}]\n---\n${BY_PEOPLE}`,
        [['Log', 'log', true, false]],
      ],
    ] as const) {
      work.write('proof/checklist.md', text);
      const { body } = await list(work);
      assert.deepEqual(
        body.map(({ description, type, required, done }) => [description, type, required, done]),
        [...more, ...lines],
      );
      assert.equal(new Set(body.map(({ id }) => id)).size, body.length);
      assert.equal((await work.call<Case>('GET', work.at)).body.problems, undefined);
    }
  });

  it('is satisfied by a mark, or by a verified proof of the type', async (t) => {
    const work = await withCase(t);
    work.write('proof/checklist.md', '- [ ] Tests pass\n- [ ] Seen\n');
    const missing = async () =>
      (await work.call<Gate>('GET', `${work.at}/proof/gate`)).body.missing.map(({ type }) => type);
    assert.deepEqual(await missing(), ['tests-pass', 'seen']);
    const { id } = await attach(work, 'tests-pass');
    await work.call('PUT', `${work.at}/proof/${id}/verify`);
    assert.deepEqual(await missing(), ['seen']);
    work.write('proof/checklist.md', '- [ ] Tests pass\n- [x] Seen\n');
    assert.deepEqual(await missing(), []);
    await work.call('PUT', `${work.at}/state`, { state: 'VERIFYING' });
    assert.equal((await work.call<Case>('GET', work.at)).body.state, 'RESOLVED');
  });

  it('takes what is added into front matter of its own, and keeps every byte', async (t) => {
    const { call, at, read, write } = await withCase(t);
    for (const text of [BY_PEOPLE, `\uFEFF${BY_PEOPLE.replaceAll('\n', '\r\n')}`]) {
      write('proof/checklist.md', text);
      const answer = await call<ChecklistItem>('POST', `${at}/proof/checklist`, wanted);
      assert.equal(answer.status, 201, answer.text);
      const bare = text.replace('\uFEFF', '');
      assert.ok(read('proof/checklist.md').endsWith(bare));
      const { body } = await call<ChecklistItem[]>('GET', `${at}/proof/checklist`);
      assert.deepEqual([body[0], body.length], [answer.body, 6]);
    }
  });

  it('that asks for nothing is told, and opens no gate', async (t) => {
    const { call, at, write } = await withProof(t);
    write('proof/checklist.md', 'Later.\n');
    assert.equal((await call<Gate>('GET', `${at}/proof/gate`)).body.satisfied, false);
    const [problem] = (await call<Case>('GET', at)).body.problems ?? [];
    assert.deepEqual([problem?.code, problem?.line], ['no_front_matter', 1]);
    assert.match(problem?.message ?? '', /- \[ \] the tests pass/);
  });
});

describe('PATCH /cases/:id/proof/checklist/:item_id', () => {
  const tick = ({ call, at }: WithCase, id: string, done: unknown = true) =>
    call<ChecklistItem>('PATCH', `${at}/proof/checklist/${id}`, { done });

  it('changes that one mark, and the ids stay', async (t) => {
    const work = await withCase(t);
    const text = BY_PEOPLE.replaceAll('\n', '\r\n');
    work.write('proof/checklist.md', text);
    const items = (await work.call<ChecklistItem[]>('GET', `${work.at}/proof/checklist`)).body;
    const [, , , , second] = items;
    const answer = await tick(work, second?.id ?? '');
    assert.deepEqual(
      [answer.status, answer.body],
      [200, { ...second, done: true, satisfied: true }],
    );
    const at = text.lastIndexOf('- [ ] Tests pass') + 3;
    assert.equal(work.read('proof/checklist.md'), `${text.slice(0, at)}x${text.slice(at + 1)}`);
    const { body } = await work.call<ChecklistItem[]>('GET', `${work.at}/proof/checklist`);
    assert.deepEqual(
      body.map(({ id }) => id),
      items.map(({ id }) => id),
    );
    assert.equal((await tick(work, second?.id ?? '')).status, 200);
    assert.equal((await tick(work, second?.id ?? '', false)).body.satisfied, false);
    assert.equal(work.read('proof/checklist.md'), text);
  });

  it('of the last that is missing resolves a Work item that is VERIFYING', async (t) => {
    const work = await withCase(t);
    work.write('proof/checklist.md', '- [ ] Seen\n');
    await work.call('PUT', `${work.at}/state`, { state: 'VERIFYING' });
    const [one] = (await work.call<ChecklistItem[]>('GET', `${work.at}/proof/checklist`)).body;
    await tick(work, one?.id ?? '');
    assert.equal((await work.call<Case>('GET', work.at)).body.state, 'RESOLVED');
  });

  it('ticks all of ten that come at once', async (t) => {
    const work = await withCase(t);
    const lines = Array.from({ length: 10 }, (_, n) => `- [ ] number ${n}\n`).join('');
    work.write('proof/checklist.md', lines);
    const { body } = await work.call<ChecklistItem[]>('GET', `${work.at}/proof/checklist`);
    await Promise.all(body.map(({ id }) => tick(work, id)));
    assert.equal(work.read('proof/checklist.md'), lines.replaceAll('[ ]', '[x]'));
  });

  it('refuses what is no task line, or is not there, or cannot be read', async (t) => {
    const work = await withCase(t);
    assertProblem(await tick(work, randomUUID()), 404, 'not_found');
    const made = await work.call<ChecklistItem>('POST', `${work.at}/proof/checklist`, wanted);
    assertProblem(await tick(work, made.body.id), 422, 'invalid_state');
    assertProblem(await tick(work, made.body.id, 'x'), 400, 'bad_request', '/done');
    const nobody = await work.call('PATCH', `${NOBODY}/proof/checklist/${made.body.id}`, {
      done: true,
    });
    assertProblem(nobody, 404, 'not_found');
    work.write('proof/checklist.md', '---\nitems: [\n---\n');
    assertProblem(await tick(work, made.body.id), 409, 'unreadable_record');
  });

  it('with If-Match leaves a list alone that is another by now', async (t) => {
    const work = await withCase(t);
    work.write('proof/checklist.md', '# Linux\n- [ ] Seen\n# macOS\n- [ ] Seen\n');
    const [first] = (await listOf(work)).body;
    const read = { 'if-match': String((await listOf(work)).headers.etag) };
    const edited = '# macOS\n- [ ] Seen\n';
    work.write('proof/checklist.md', edited);
    const path = `${work.at}/proof/checklist/${first?.id}`;
    const late = await work.call('PATCH', path, { done: true }, read);
    assertProblem(late, 412, 'precondition_failed');
    assert.equal(work.read('proof/checklist.md'), edited);
    const now = { 'if-match': String((await listOf(work)).headers.etag) };
    assert.equal((await work.call('PATCH', path, { done: true }, now)).status, 200);
  });

  it('without it changes one mark of what somebody wrote meanwhile, or nothing', async (t) => {
    const work = await withCase(t);
    work.write('proof/checklist.md', '- [ ] One\n- [ ] Two\n');
    const [one, two] = (await listOf(work)).body;
    const edited = 'By hand.\n\n- [ ] Two\n- [ ] Other words\n';
    work.write('proof/checklist.md', edited);
    assertProblem(await tick(work, one?.id ?? ''), 404, 'not_found');
    assert.equal(work.read('proof/checklist.md'), edited);
    assert.equal((await tick(work, two?.id ?? '')).status, 200);
    assert.equal(work.read('proof/checklist.md'), edited.replace('[ ] Two', '[x] Two'));
  });
});

const listOf = ({ call, at }: WithCase) => call<ChecklistItem[]>('GET', `${at}/proof/checklist`);

describe('DELETE /cases/:id/proof/checklist/:item_id', () => {
  const drop = ({ call, at }: WithCase, id: string | undefined, etag?: unknown) => {
    const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': String(etag) };
    return call('DELETE', `${at}/proof/checklist/${id}`, undefined, headers);
  };

  it('takes a line of the text away and leaves every other byte', async (t) => {
    const work = await withCase(t);
    const text = BY_PEOPLE.replaceAll('\n', '\r\n');
    work.write('proof/checklist.md', text);
    const { body } = await listOf(work);
    const second = body[4];
    const answer = await drop(work, second?.id);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    const at = text.lastIndexOf('- [ ] Tests pass');
    const rest = text.slice(0, at) + text.slice(at + '- [ ] Tests pass\r\n'.length);
    assert.equal(work.read('proof/checklist.md'), rest);
    assert.deepEqual(
      (await listOf(work)).body,
      body.filter(({ id }) => id !== second?.id),
    );
    assertProblem(await drop(work, second?.id), 404, 'not_found');
  });

  for (const eol of ['\n', '\r\n'])
    it(`takes entries of the front matter away and leaves every other line (${JSON.stringify(eol)})`, async (t) => {
      const work = await withCase(t);
      const before = BY_HAND.replaceAll('\n', eol);
      const [, items = ''] = /items:.*?\n(.*)mine:/s.exec(before) ?? [];
      const lines = items.split(/(?<=\n)/);
      work.write('proof/checklist.md', before);
      const [fast, tests] = (await listOf(work)).body;
      assert.equal((await drop(work, fast?.id)).status, 204);
      const without = before.replace(lines.slice(0, 3).join(''), '');
      assert.equal(work.read('proof/checklist.md'), without);
      assert.deepEqual((await listOf(work)).body, [tests]);
      assert.equal((await drop(work, tests?.id)).status, 204);
      assert.equal(work.read('proof/checklist.md'), without.replace(lines[4] ?? '', ''));
      assert.deepEqual((await listOf(work)).body, []);
      assert.equal((await work.call<Case>('GET', work.at)).body.problems, undefined);
    });

  for (const [name, before, at, after] of [
    [
      'of brackets',
      '---\n# kept\nitems: [{description: a, type: log}, {description: b, type: log}] # too\n---\n',
      1,
      '---\n# kept\nitems: [{description: a, type: log}] # too\n---\n',
    ],
    [
      'whose words have several lines',
      '---\nitems:\n  - type: log\n    description: |-\n      a\n\n      # b\n  # of c\n  - {description: c, type: log}\n---\nBody\n',
      0,
      '---\nitems:\n  # of c\n  - {description: c, type: log}\n---\nBody\n',
    ],
    [
      'beside task lines',
      '---\nitems:\n- {description: a, type: log}\n---\n- [ ] b\n',
      0,
      '---\nitems:\n---\n- [ ] b\n',
    ],
    [
      'that is the last line, without an end',
      'Say why.\n- [ ] a\n- [ ] b',
      1,
      'Say why.\n- [ ] a\n',
    ],
    ['that is all that was asked', 'Say why.\n- [x] a\n', 0, '---\nitems: []\n---\nSay why.\n'],
    [
      'that was all below a head',
      '---\nmine: 1\n---\n- [ ] a\n',
      0,
      '---\nmine: 1\nitems: []\n---\n',
    ],
  ] as const)
    it(`takes one away ${name}`, async (t) => {
      const work = await withCase(t);
      work.write('proof/checklist.md', before);
      const { body } = await listOf(work);
      const answer = await drop(work, body[at]?.id);
      assert.equal(answer.status, 204, answer.text);
      assert.equal(work.read('proof/checklist.md'), after);
      assert.deepEqual(
        (await listOf(work)).body.map(({ description }) => description),
        body.flatMap(({ description }, n) => (n === at ? [] : [description])),
      );
    });

  it('is told, and the gate asks for it no more', async (t) => {
    const work = await withCase(t);
    work.write('proof/checklist.md', '- [x] Seen\n- [ ] Heard\n');
    await work.call('PUT', `${work.at}/state`, { state: 'VERIFYING' });
    const { body } = await listOf(work);
    assert.equal((await drop(work, body[1]?.id)).status, 204);
    assert.equal((await work.call<Gate>('GET', `${work.at}/proof/gate`)).body.satisfied, true);
    assert.equal((await work.call<Case>('GET', work.at)).body.state, 'RESOLVED');
    assert.deepEqual(told(work.running.told).slice(-2), [
      'checklist_updated',
      'case_state_changed VERIFYING RESOLVED',
    ]);
  });

  it('with If-Match is refused where the list is another by now', async (t) => {
    const work = await withCase(t);
    work.write('proof/checklist.md', '- [ ] One\n- [ ] Two\n');
    const { body, headers } = await listOf(work);
    work.write('proof/checklist.md', '- [ ] One\n- [x] Two\n');
    const late = await drop(work, body[0]?.id, headers.etag);
    assertProblem(late, 412, 'precondition_failed');
    assert.equal(work.read('proof/checklist.md'), '- [ ] One\n- [x] Two\n');
    const now = (await listOf(work)).headers.etag;
    assert.equal((await drop(work, body[0]?.id, now)).status, 204);
  });

  it('of ten lines at once, and with ticks between them, loses none and nothing else', async (t) => {
    const work = await withCase(t);
    const lines = Array.from({ length: 20 }, (_, n) => `- [ ] number ${n}\n`);
    work.write('proof/checklist.md', `Before.\n${lines.join('')}After.\n`);
    const { body } = await listOf(work);
    await Promise.all(
      body.map(({ id }, n) =>
        n % 2 === 0
          ? drop(work, id)
          : work.call('PATCH', `${work.at}/proof/checklist/${id}`, { done: true }),
      ),
    );
    const rest = lines.filter((_, n) => n % 2 === 1).join('');
    const after = `Before.\n${rest.replaceAll('[ ]', '[x]')}After.\n`;
    assert.equal(work.read('proof/checklist.md'), after);
  });

  it('is 404 for what is not there, and 409 where the list cannot be read', async (t) => {
    const work = await withCase(t);
    assertProblem(await drop(work, randomUUID()), 404, 'not_found');
    const made = await work.call<ChecklistItem>('POST', `${work.at}/proof/checklist`, wanted);
    assertProblem(await drop(work, randomUUID()), 404, 'not_found');
    const nobody = await work.call('DELETE', `${NOBODY}/proof/checklist/${made.body.id}`);
    assertProblem(nobody, 404, 'not_found');
    work.write('proof/checklist.md', '---\nitems: [\n---\n');
    assertProblem(await drop(work, made.body.id), 409, 'unreadable_record');
    assert.equal(work.read('proof/checklist.md'), '---\nitems: [\n---\n');
  });
});

describe('a Work item that is RESOLVED without its proof', () => {
  const resolved = async (t: TestContext) => {
    const work = await withProof(t);
    await work.call('PUT', `${work.at}/state`, { state: 'VERIFYING' });
    await work.call('PUT', `${work.one}/verify`);
    assert.deepEqual((await work.call<Case>('GET', work.at)).body.problems, undefined);
    return work;
  };

  for (const [how, lose] of [
    [
      'is edited by hand',
      ({ write, read, file }) => write(file, read(file).replace('ok 1', 'ok 2')),
    ],
    ['is removed by hand', ({ dir, file }) => rmSync(join(dir, file))],
    ['is unverified', ({ call, one }) => call('DELETE', `${one}/verify`)],
    ['is deleted', ({ call, one }) => call('DELETE', one)],
  ] as [string, (work: Awaited<ReturnType<typeof resolved>>) => unknown][])
    it(`says so in its record, diagnostics and check when its only verified proof ${how}`, async (t) => {
      const work = await resolved(t);
      const { call, at, item, running, one } = work;
      await lose(work);
      const { body } = await eventually(async () => {
        await call('GET', `${at}/proof`);
        const answer = await call<Case>('GET', at);
        assert.notEqual(answer.body.problems, undefined);
        return answer;
      });
      assert.equal(body.state, 'RESOLVED', 'which stays the operator\u2019s');
      const [problem] = body.problems ?? [];
      assert.deepEqual(
        [problem?.code, problem?.file],
        ['gate_not_satisfied', `${item.path}/case.md`],
      );
      assert.match(
        problem?.message ?? '',
        /^The Work item is RESOLVED, but its proof gate is not satisfied: /,
      );
      assert.deepEqual((await call('GET', '/api/diagnostics')).body, body.problems);
      const { findings } = await checkWorkspace(layoutOf(running.workspace), async () => []);
      const found = findings.filter(({ code }) => code === 'gate_not_satisfied');
      assert.deepEqual(
        found.map(({ severity, file }) => [severity, file]),
        [['warning', problem?.file]],
      );
      assert.equal((await call<Case[]>('GET', '/cases')).body[0]?.problems?.length, 1);
      await call('PUT', `${one}/verify`);
      const { body: other } = await call<Proof>('POST', `${at}/proof`, {
        type: 'log',
        content: 'ok',
      });
      await call('PUT', `${at}/proof/${other.id}/verify`);
      assert.equal((await call<Case>('GET', at)).body.problems, undefined, 'proven again');
    });
});

describe('a Work item that was closed without any proof', () => {
  it('has lost none: the operator said so', async (t) => {
    const { call, at } = await withCase(t);
    await call('PUT', `${at}/state`, { state: 'RESOLVED' });
    assert.equal((await call<Case>('GET', at)).body.problems, undefined);
    assert.deepEqual((await call('GET', '/api/diagnostics')).body, []);
  });
});

describe('GET /cases/:id/proof/gate', () => {
  const missing = ({ body }: Answered<Gate>) => body.missing.map(({ type }) => type);

  it('wants any verified proof where there is no checklist', async (t) => {
    const { call, at, one } = await withProof(t);
    const before = await call<Gate>('GET', `${at}/proof/gate`);
    assert.deepEqual([before.body.satisfied, missing(before)], [false, [null]]);
    await call('PUT', `${one}/verify`);
    assert.equal((await call<Gate>('GET', `${at}/proof/gate`)).body.satisfied, true);
    assertProblem(await call('GET', `${NOBODY}/proof/gate`), 404, 'not_found');
  });

  it('names each required item without a verified proof of its type', async (t) => {
    const { call, at, one, write } = await withProof(t);
    write('proof/checklist.md', BY_HAND);
    assert.deepEqual(missing(await call('GET', `${at}/proof/gate`)), ['test-log']);
    await call('PUT', `${one}/verify`);
    assert.deepEqual(missing(await call('GET', `${at}/proof/gate`)), []);
  });

  it('stays closed while the checklist cannot be read, and says so', async (t) => {
    const { call, at, one, write } = await withProof(t);
    write('proof/checklist.md', '---\nitems: [\n---\n');
    await call('PUT', `${at}/state`, { state: 'VERIFYING' });
    await call('PUT', `${one}/verify`);
    const { body } = await call<Gate>('GET', `${at}/proof/gate`);
    assert.equal(body.satisfied, false);
    assert.match(body.missing[0]?.description ?? '', /checklist\.md cannot be read/);
    assert.equal((await call<Case>('GET', at)).body.state, 'VERIFYING');
    write('proof/checklist.md', BY_HAND);
    await call('GET', `${at}/proof/gate`);
    assert.equal(
      (await call<Case>('GET', at)).body.state,
      'RESOLVED',
      'mended, it goes on by itself',
    );
  });
});

describe('a Work item whose gate is satisfied when a session completes', () => {
  const completed = async (test: SessionTest): Promise<string> => {
    const { id } = await test.worked();
    return id;
  };
  const verified = async ({ call, at }: SessionTest, content = 'I read it.'): Promise<string> => {
    const { body } = await call<Proof>('POST', `${at}/proof`, { type: 'review', content });
    assert.equal((await call('PUT', `${at}/proof/${body.id}/verify`)).status, 200);
    return `${at}/proof/${body.id}`;
  };
  const waiting = async ({ call }: SessionTest): Promise<string[]> =>
    (await call<AttentionItem[]>('GET', '/attention')).body.map(({ id }) => id);
  const staysOpen = async (test: SessionTest, id: string): Promise<void> => {
    assert.equal(await test.state(), 'VERIFYING');
    await sweepWorkspace(test.running.service.store);
    await test.running.restart();
    assert.equal(await test.state(), 'VERIFYING');
    assert.deepEqual(await waiting(test), [`done/${id}`]);
    const moves = told(test.running.events).filter((one) => one.includes('RESOLVED'));
    assert.deepEqual(moves, [], 'the end of a session resolves nothing');
  };

  it('stays VERIFYING and in the inbox until a new proof is verified', async (t) => {
    const test = await withSession(t);
    await verified(test);
    const first = await completed(test);
    await staysOpen(test, first);
    const gate = await test.call<Gate>('GET', `${test.at}/proof/gate`);
    assert.deepEqual([gate.body.satisfied, gate.body.stale.length], [true, 1]);
    await verified(test, 'I read the diff.');
    assert.equal(await test.state(), 'RESOLVED');
    assert.deepEqual(await waiting(test), []);
  });

  it('is resolved by verifying the same proof again, since an older one counts', async (t) => {
    const test = await withSession(t);
    await test.call('POST', `${test.at}/proof/checklist`, {
      description: 'Read',
      type: 'review',
      required: true,
    });
    const one = await verified(test);
    const before = (await test.call<Proof>('GET', one)).body;
    await staysOpen(test, await completed(test));
    const again = await test.call<Proof>('PUT', `${one}/verify`);
    assert.equal(again.status, 200);
    assert.ok((again.body.verified_at ?? '') > (before.verified_at ?? ''));
    assert.equal(await test.state(), 'RESOLVED');
    const { body } = await test.call<Proof>('PUT', `${one}/verify`);
    assert.equal(body.verified_at, again.body.verified_at, 'no other call is pending');
  });

  it('stays VERIFYING when what was verified was the work of the session before', async (t) => {
    const test = await withSession(t);
    await completed(test);
    const { id } = await test.planned();
    await verified(test, 'I read the diff of the first session.');
    assert.equal((await test.post(`/sessions/${id}/approve`)).status, 200);
    await test.until(id, 'completed');
    await staysOpen(test, id);
  });

  it('is resolved by a tick, which is a decision, and not by one taken back', async (t) => {
    const test = await withSession(t);
    const list = join(test.workspace, test.item.path, 'proof/checklist.md');
    const one = await verified(test);
    writeFileSync(list, '- [x] Seen\n');
    await test.call('GET', test.at);
    await staysOpen(test, await completed(test));
    await test.call('DELETE', `${one}/verify`);
    assert.equal(await test.state(), 'VERIFYING');
    const { body } = await test.call<ChecklistItem[]>('GET', `${test.at}/proof/checklist`);
    for (const done of [false, true])
      await test.call('PATCH', `${test.at}/proof/checklist/${body[0]?.id}`, { done });
    assert.equal(await test.state(), 'RESOLVED');
  });

  it('is not resolved by a checklist that cannot be read for a while', async (t) => {
    const test = await withSession(t);
    const list = join(test.workspace, test.item.path, 'proof/checklist.md');
    await verified(test);
    writeFileSync(list, '---\nitems: [\n---\n');
    const { id } = await test.worked();
    writeFileSync(list, BY_HAND.replaceAll('test-log', 'review'));
    await test.call('GET', `${test.at}/proof/gate`);
    await staysOpen(test, id);
  });

  it('stays VERIFYING when its directory was away for a while', async (t) => {
    const test = await withSession(t);
    await verified(test);
    const id = await completed(test);
    const dir = join(test.workspace, test.item.path);
    const away = join(temporaryDirectory(t), 'away');
    const sees = (status: number) =>
      eventually(async () => {
        await sweepWorkspace(test.running.service.store);
        assert.equal((await test.call('GET', test.at)).status, status);
      });
    renameSync(dir, away);
    await sees(404);
    renameSync(away, dir);
    await sees(200);
    await staysOpen(test, id);
  });

  it('stays VERIFYING when git stash takes it back and git stash pop brings it again', async (t) => {
    const test = await withSession(t);
    await verified(test);
    const git = gitIn(test.workspace);
    await makeWorkspaceFiles(test.running.service.store.layout);
    git('init', '--quiet', '--initial-branch=main');
    git('config', 'user.name', 'An Operator');
    git('config', 'user.email', 'one@example.com');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'before the work');
    const id = await completed(test);
    git('stash', '--quiet');
    assert.equal(await test.state(), 'OPEN');
    git('stash', 'pop', '--quiet');
    await staysOpen(test, id);
  });

  it('stays VERIFYING when only the proof is taken back and brought again', async (t) => {
    const test = await withSession(t);
    const one = await verified(test);
    const id = await completed(test);
    const dir = join(test.workspace, test.item.path, 'proof');
    const sees = (status: number) =>
      eventually(async () => assert.equal((await test.call('GET', one)).status, status));
    renameSync(dir, `${dir}-away`);
    await sees(404);
    renameSync(`${dir}-away`, dir);
    await sees(200);
    await staysOpen(test, id);
  });

  it('stays VERIFYING when a proof comes back that was away when the work ended', async (t) => {
    const test = await withSession(t);
    const one = await verified(test);
    const dir = join(test.workspace, test.item.path, 'proof');
    const sees = (status: number) =>
      eventually(async () => assert.equal((await test.call('GET', one)).status, status));
    renameSync(dir, `${dir}-away`);
    await sees(404);
    const id = await completed(test);
    renameSync(`${dir}-away`, dir);
    await sees(200);
    await staysOpen(test, id);
    await test.call('PUT', `${one}/verify`);
    assert.equal(await test.state(), 'RESOLVED');
  });

  it('resolves where a proof was away for a moment and no work ended', async (t) => {
    const test = await withSession(t);
    const one = await verified(test);
    const dir = join(test.workspace, test.item.path, 'proof');
    const sees = (status: number) =>
      eventually(async () => assert.equal((await test.call('GET', one)).status, status));
    renameSync(dir, `${dir}-away`);
    await sees(404);
    renameSync(`${dir}-away`, dir);
    await sees(200);
    await test.call('PUT', `/cases/${test.item.id}/state`, { state: 'VERIFYING' });
    assert.equal(await test.state(), 'RESOLVED');
  });

  it('stays VERIFYING when an older verification of the proof comes back', async (t) => {
    const test = await withSession(t);
    const one = await verified(test);
    const [name = ''] = readdirSync(join(test.workspace, test.item.path, 'proof'));
    const file = join(test.workspace, test.item.path, 'proof', name);
    const id = await completed(test);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replace(/^verified_at: .*$/m, 'verified_at: 2026-01-01T00:00:00.000Z'),
    );
    assert.equal((await test.call('GET', one)).status, 200);
    await staysOpen(test, id);
  });

  it('is resolved by a verification after one that was dated ahead', async (t) => {
    const test = await withSession(t);
    const one = await verified(test);
    const [name = ''] = readdirSync(join(test.workspace, test.item.path, 'proof'));
    const file = join(test.workspace, test.item.path, 'proof', name);
    const ahead = 'verified_at: 2999-01-01T00:00:00.000Z';
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^verified_at: .*$/m, ahead));
    await completed(test);
    await test.call('PUT', `${one}/verify`);
    assert.equal(await test.state(), 'RESOLVED');
  });

  it('stays VERIFYING when a ticked checklist is taken away and brought back', async (t) => {
    const test = await withSession(t);
    const checklist = join(test.workspace, test.item.path, 'proof/checklist.md');
    await test.call('POST', `${test.at}/proof/checklist`, {
      ...{ description: 'Seen', type: 'review', required: true },
    });
    writeFileSync(checklist, readFileSync(checklist, 'utf8').replace('- [ ]', '- [x]'));
    const id = await completed(test);
    const sees = (count: number) =>
      eventually(async () => {
        const { body } = await test.call<unknown[]>('GET', `${test.at}/proof/checklist`);
        assert.equal(body.length, count);
      });
    await sees(1);
    renameSync(checklist, `${checklist}-away`);
    await sees(0);
    renameSync(`${checklist}-away`, checklist);
    await sees(1);
    await staysOpen(test, id);
  });

  const setByHand = ({ workspace, item }: SessionTest, state: string): void => {
    const file = join(workspace, item.path, 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^state: .*$/m, `state: ${state}`));
  };
  const setByCall = ({ call, at }: SessionTest, state: string) =>
    call('PUT', `${at}/state`, { state });

  for (const [how, set] of [
    ['in the file', setByHand],
    ['by a call', setByCall],
  ] as const) {
    it(`stays VERIFYING when that is written again ${how}, until a decision`, async (t) => {
      const test = await withSession(t);
      const one = await verified(test);
      const id = await completed(test);
      await set(test, 'OPEN');
      assert.equal(await test.state(), 'OPEN');
      await set(test, 'VERIFYING');
      await staysOpen(test, id);
      await test.call('PUT', `${one}/verify`);
      assert.equal(await test.state(), 'RESOLVED');
    });

    it(`is resolved when VERIFYING is written ${how} after a decision about its last work`, async (t) => {
      const test = await withSession(t);
      const one = await verified(test);
      await completed(test);
      await set(test, 'OPEN');
      const first = await test.call<Proof>('PUT', `${one}/verify`);
      const second = await test.call<Proof>('PUT', `${one}/verify`);
      assert.equal(second.body.verified_at, first.body.verified_at, 'no other call is pending');
      await set(test, 'VERIFYING');
      assert.equal(await test.state(), 'RESOLVED');
    });
  }

  it('stays VERIFYING when the line that was missing is removed, until a decision', async (t) => {
    const test = await withSession(t);
    const one = await verified(test);
    const list = `${test.at}/proof/checklist`;
    for (const type of ['review', 'screenshot'])
      await test.call('POST', list, { description: 'Seen', type, required: true });
    const id = await completed(test);
    const { body } = await test.call<ChecklistItem[]>('GET', list);
    assert.equal((await test.call('DELETE', `${list}/${body[1]?.id}`)).status, 204);
    const gate = await test.call<Gate>('GET', `${test.at}/proof/gate`);
    assert.equal(gate.body.satisfied, true);
    await staysOpen(test, id);
    await test.call('PUT', `${one}/verify`);
    assert.equal(await test.state(), 'RESOLVED');
  });

  it('stays VERIFYING when a later session is aborted, and without any required item', async (t) => {
    const test = await withSession(t);
    const nice = { description: 'Nice', type: 'log', required: false };
    await test.call('POST', `${test.at}/proof/checklist`, nice);
    await staysOpen(test, await completed(test));
    await test.planned();
    assert.equal((await test.control('abort')).status, 200);
    assert.equal(await test.state(), 'VERIFYING');
  });
});
