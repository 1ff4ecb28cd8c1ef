import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import { newestSession, type Running, startForTest } from '../helpers/service.ts';
import type { Problem } from '../helpers/sessions.ts';
import { assertProblem } from '../helpers/work-item.ts';

const PLAN = 'Make the file:\n\n```sh\nprintf "hello\\n" > hello.txt\n```\n';

interface StreamEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

const withCase = async (t: TestContext, description = PLAN, options = {}) => {
  const running = await startForTest(t, options);
  const { body: item } = await running.call<Case>('POST', '/cases', {
    title: 'Say hello',
    type: 'feature',
    description,
  });
  const at = `/cases/${item.id}`;
  const start = async (body = {}): Promise<Session> => {
    const answer = await running.call<Session>('POST', `${at}/sessions`, {
      type: 'implementing',
      ...body,
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const until = (id: string, status: string): Promise<Session> =>
    eventually(async () => {
      const { body } = await running.call<Session>('GET', `${at}/sessions/${id}`);
      assert.equal(body.status, status, body.error ?? undefined);
      return body;
    });
  return { ...running, running, item, at, start, until };
};

const eventsOf = async (
  { call }: Running,
  at: string,
  id: string,
  after = 0,
): Promise<StreamEvent[]> =>
  (
    await call<StreamEvent[]>('GET', `${at}/sessions/${id}/stream?after=${after}`, undefined, {
      accept: 'application/json',
    })
  ).body;

const caseOf = async ({ call }: Running, at: string): Promise<Case> =>
  (await call<Case>('GET', at)).body;

describe('the typical flow', () => {
  it('goes from a new Work item to a resolved one, each step on disk and told', async (t) => {
    const { running, call, item, at, start, until, events } = await withCase(t);
    const session = await start();
    assert.equal(session.mode, 'plan');
    const ready = await until(session.id, 'plan_ready');
    assert.equal((await caseOf(running, at)).state, 'INVESTIGATING');
    const plan = await call('GET', `${at}/sessions/${session.id}/plan`);
    assert.match(plan.text, /printf "hello/);
    assert.equal(running.repository.git('status', '--porcelain'), '');

    const approved = await call<Session>('POST', `${at}/sessions/${session.id}/approve`, {
      plan_sha256: ready.plan_sha256,
    });
    assert.equal(approved.status, 200, approved.text);
    assert.equal(approved.body.mode, 'work');
    await until(session.id, 'completed');
    assert.equal((await caseOf(running, at)).state, 'VERIFYING');
    const { text } = await call('GET', `${at}/sessions/${session.id}/diff`);
    assert.match(text, /\+hello/);
    assert.equal(running.repository.git('status', '--porcelain'), '');

    const proof = await call<{ id: string }>('POST', `${at}/proof`, {
      type: 'test-log',
      content: 'all green',
    });
    assert.equal(proof.status, 201);
    assert.equal((await call('PUT', `${at}/proof/${proof.body.id}/verify`)).status, 200);
    const done = await caseOf(running, at);
    assert.deepEqual([done.state, done.outcome], ['RESOLVED', 'resolved']);

    const ids = { case_id: item.id, session_id: session.id };
    assert.deepEqual(
      events.map(({ event_type, payload }) => [event_type, payload]),
      [
        ['case_state_changed', { case_id: item.id, old_state: 'OPEN', new_state: 'PLANNING' }],
        ['agent_completed', { ...ids, mode: 'plan', status: 'plan_ready', provider: 'runbook' }],
        [
          'case_state_changed',
          { case_id: item.id, old_state: 'PLANNING', new_state: 'IMPLEMENTING' },
        ],
        ['session_started', { ...ids, provider: 'runbook' }],
        [
          'case_state_changed',
          { case_id: item.id, old_state: 'IMPLEMENTING', new_state: 'VERIFYING' },
        ],
        ['agent_completed', { ...ids, mode: 'work', status: 'completed', provider: 'runbook' }],
        ['session_completed', ids],
        ['proof_created', { case_id: item.id, proof_id: proof.body.id, proof_type: 'test-log' }],
        [
          'proof_updated',
          { case_id: item.id, proof_id: proof.body.id, proof_type: 'test-log', verified: true },
        ],
        ['case_state_changed', { case_id: item.id, old_state: 'VERIFYING', new_state: 'RESOLVED' }],
      ],
    );
    const dir = newestSession(running, item);
    assert.deepEqual(readdirSync(dir).toSorted(), [
      'approved.md',
      'diff.patch',
      'events.ndjson',
      'plan.md',
      'session.md',
    ]);
    assert.match(readFileSync(join(dir, 'session.md'), 'utf8'), /1 file, \+1 −0/);
    assert.equal(existsSync(join(dir, '..', 'lock.md')), false);
  });
});

describe('GET /cases/{id}/sessions/{sid}/stream', () => {
  it('replays from disk, resumes, ends after complete, and works after a restart', async (t) => {
    const { running, at, start, until, call } = await withCase(t);
    const session = await start();
    await until(session.id, 'plan_ready');
    await call('POST', `${at}/sessions/${session.id}/approve`);
    await until(session.id, 'completed');
    const all = await eventually(async () => {
      const events = await eventsOf(running, at, session.id);
      assert.equal(events.at(-1)?.event, 'complete');
      return events;
    });
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map((_, index) => index + 1),
    );
    for (const type of ['status', 'plan_ready', 'tool_call', 'diff'])
      assert.ok(
        all.some(({ event }) => event === type),
        type,
      );
    await running.restart();
    const rest = await call('GET', `${at}/sessions/${session.id}/stream`, undefined, {
      'last-event-id': String(all.length - 1),
    });
    assert.match(rest.text, new RegExp(`^id: ${all.length}\nevent: complete\n`));
    assert.equal(rest.text.match(/^event:/gm)?.length, 1);
  });
});

describe('POST /cases/{id}/sessions', () => {
  it('queues a second session, which starts when the first has ended', async (t) => {
    const { start, until, call, at } = await withCase(t);
    const first = await start();
    const second = await start();
    assert.equal(second.status, 'queued');
    await until(first.id, 'plan_ready');
    assert.equal((await call('POST', `/api/cases/${at.split('/')[2]}/session/abort`)).status, 200);
    await until(second.id, 'plan_ready');
    await until(first.id, 'aborted');
  });

  it('refuses a closed Work item, an unknown provider, and a project without repository', async (t) => {
    const { call, at } = await withCase(t);
    const wrong = await call<{ code: string }>('POST', `${at}/sessions`, {
      type: 'implementing',
      provider: 'nobody',
    });
    assert.deepEqual([wrong.status, wrong.body.code], [400, 'bad_request']);
    await call('PUT', `${at}/state`, { state: 'NON_ISSUE' });
    const closed = await call<{ code: string }>('POST', `${at}/sessions`, { type: 'implementing' });
    assert.deepEqual([closed.status, closed.body.code], [422, 'invalid_state']);
  });
});

describe('what can be known of a session before it is made', () => {
  it('is said: a provider that is not installed, and what to install', async (t) => {
    const { call, at } = await withCase(t);
    const made = await call<Problem>('POST', `${at}/sessions`, {
      type: 'implementing',
      provider: 'opencode',
    });
    assert.deepEqual([made.status, made.body.code], [422, 'provider_missing']);
    assert.match(made.body.detail, /Install the npm package opencode-ai/);
    assert.deepEqual((await call<Session[]>('GET', `${at}/sessions`)).body, []);
  });

  it('is said: a repository without a commit, and what to do', async (t) => {
    const root = temporaryDirectory(t);
    const git = gitIn(root);
    git('init', '-q', '-b', 'main');
    const { call, at } = await withCase(t, undefined, { repository: { root, git } });
    const body = { type: 'implementing' };
    const none = await call<Problem>('POST', `${at}/sessions`, body);
    assert.deepEqual([none.status, none.body.code], [422, 'invalid_state']);
    assert.match(none.body.detail, /has no commit yet.*git commit --allow-empty/);
    assert.deepEqual((await call<Session[]>('GET', `${at}/sessions`)).body, []);
    git(
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'start',
    );
    assert.equal((await call('POST', `${at}/sessions`, body)).status, 201);
  });
});

describe('POST /cases/{id}/sessions/{sid}/approve', () => {
  it('runs the plan as edited by hand before the approval, and nothing else', async (t) => {
    const { running, item, at, start, until, call } = await withCase(t);
    const session = await start();
    const ready = await until(session.id, 'plan_ready');
    writeFileSync(
      join(newestSession(running, item), 'plan.md'),
      '```sh\necho edited > edited.txt\n```\n',
    );
    const stale = await call<{ code: string }>('POST', `${at}/sessions/${session.id}/approve`, {
      plan_sha256: ready.plan_sha256,
    });
    assert.deepEqual([stale.status, stale.body.code], [409, 'plan_changed']);
    assert.equal((await call('POST', `${at}/sessions/${session.id}/approve`)).status, 200);
    await until(session.id, 'completed');
    const { text } = await call('GET', `${at}/sessions/${session.id}/diff`);
    assert.match(text, /edited\.txt/);
    assert.doesNotMatch(text, /hello\.txt/);
  });

  it('refuses a plan by hand that is too long to review, until it is shorter', async (t) => {
    const { running, item, at, start, until, call } = await withCase(t);
    const { id } = await start();
    await until(id, 'plan_ready');
    const path = `${at}/sessions/${id}`;
    const file = join(newestSession(running, item), 'plan.md');
    writeFileSync(file, 'x'.repeat(1_048_577));
    for (const [method, way] of [
      ['POST', 'approve'],
      ['GET', 'plan'],
    ] as const) {
      const answer = await call(method, `${path}/${way}`);
      assert.match(assertProblem(answer, 409, 'unreadable_record').detail, /1048577 characters/);
    }
    const { body: all } = await call<Session[]>('GET', `${at}/sessions`);
    assert.deepEqual(
      all.map((each) => each.id),
      [id],
    );
    assert.equal((await call('GET', path)).status, 200);
    assert.equal((await call('PUT', `${path}/plan`, 'Do it.')).status, 200);
    assert.equal((await call('POST', `${path}/approve`)).status, 200);
  });

  it('refuses before there is a plan, an empty plan, and a second approval', async (t) => {
    const { running, item, at, start, until, call } = await withCase(t);
    const session = await start({ provider: 'manual' });
    const path = `${at}/sessions/${session.id}/approve`;
    const early = await call<{ code: string }>('POST', path);
    assert.deepEqual([early.status, early.body.code], [422, 'plan_not_ready']);
    await call('PUT', `${at}/sessions/${session.id}/plan`, 'Do it by hand.');
    await until(session.id, 'plan_ready');
    writeFileSync(join(newestSession(running, item), 'plan.md'), ' \n');
    const empty = await call<{ code: string }>('POST', path);
    assert.deepEqual([empty.status, empty.body.code], [422, 'plan_empty']);
    await call('PUT', `${at}/sessions/${session.id}/plan`, 'Do it by hand.');
    const answers = await Promise.all([
      call<{ code?: string }>('POST', path),
      call<{ code?: string }>('POST', path),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    assert.ok(answers.some(({ body }) => body.code === 'work_mode_active'));
    const changed = await call<{ code: string }>(
      'PUT',
      `${at}/sessions/${session.id}/plan`,
      'Something else.',
    );
    assert.deepEqual([changed.status, changed.body.code], [422, 'invalid_state']);
    const finished = await eventually(async () => {
      const answer = await call<Session>('POST', `${at}/sessions/${session.id}/finish`);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    });
    assert.equal(finished.status, 'completed');
  });
});

describe('a session that goes wrong', () => {
  it('fails with the reason, blocks the Work item, keeps what was done, and frees the lock', async (t) => {
    const { running, at, start, until, call } = await withCase(
      t,
      '```sh\necho half > half.txt\n```\n\n```sh\necho no >&2; exit 3\n```\n',
    );
    const session = await start();
    await until(session.id, 'plan_ready');
    await call('POST', `${at}/sessions/${session.id}/approve`);
    const failed = await until(session.id, 'failed');
    assert.match(failed.error ?? '', /3/);
    assert.equal((await caseOf(running, at)).state, 'BLOCKED');
    assert.match((await call('GET', `${at}/sessions/${session.id}/diff`)).text, /half\.txt/);
    await until((await start()).id, 'plan_ready');
  });

  it('is aborted with its whole process tree, and the Work item goes back to where it was', async (t) => {
    const { running, at, item, start, until, call } = await withCase(
      t,
      '```sh\nsetsid sleep 300 &\nsleep 300\n```\n',
    );
    const session = await start();
    await until(session.id, 'plan_ready');
    await call('POST', `${at}/sessions/${session.id}/approve`);
    await eventually(async () =>
      assert.ok(
        (await eventsOf(running, at, session.id)).some(({ event }) => event === 'tool_call'),
      ),
    );
    const aborted = await call<Session>('POST', `/api/cases/${item.id}/session/abort`);
    assert.equal(aborted.body.status, 'aborted');
    assert.equal((await caseOf(running, at)).state, 'OPEN');
    const again = await call<{ code: string }>('POST', `/api/cases/${item.id}/session/abort`);
    assert.deepEqual([again.status, again.body.code], [422, 'invalid_state']);
  });

  it('is paused when the daemon ends, goes on by itself never, and resumes with the approved plan', async (t) => {
    const { running, at, item, start, until, call } = await withCase(
      t,
      '```sh\ntest -f go || { touch go; sleep 300; }\necho done > done.txt\n```\n',
    );
    const session = await start();
    await until(session.id, 'plan_ready');
    await call('POST', `${at}/sessions/${session.id}/approve`);
    const went = join(running.workspace, '.dossier/worktrees', basename(item.path), 'go');
    await eventually(() => assert.ok(existsSync(went)));
    await running.restart();
    await until(session.id, 'paused');
    assert.equal((await caseOf(running, at)).state, 'IMPLEMENTING');
    assert.equal((await call('POST', `/api/cases/${item.id}/session/resume`)).status, 200);
    await until(session.id, 'completed');
    assert.match((await call('GET', `${at}/sessions/${session.id}/diff`)).text, /done\.txt/);
  });
});

describe('GET /cases/{id}/sessions/{sid}/diff', () => {
  it('is the patch byte for byte, whatever encoding the files have', async (t) => {
    const latin = `\`\`\`sh\nprintf 'caf\\351\\n' > latin.txt\n\`\`\`\n`;
    const { at, start, until, call, running, item } = await withCase(t, latin);
    const { id } = await start();
    await until(id, 'plan_ready');
    await call('POST', `${at}/sessions/${id}/approve`);
    await until(id, 'completed');
    const { bytes } = await call('GET', `${at}/sessions/${id}/diff`);
    assert.ok(bytes.includes(Buffer.from('+caf\xe9\n', 'latin1')));
    assert.deepEqual(bytes, readFileSync(join(newestSession(running, item), 'diff.patch')));
  });

  it('is told since the approval, without what stood in the worktree then', async (t) => {
    const text = '```sh\necho more >> hand.txt\necho x > new.txt\n```\n';
    const { at, start, until, call, running, item } = await withCase(t, text);
    const { id } = await start();
    await until(id, 'plan_ready');
    const diff = `${at}/sessions/${id}/diff`;
    assertProblem(await call('GET', `${diff}?since=approval`), 404, 'not_found');
    const { body } = await call<{ path: string }>('GET', `/api/worktrees/${item.id}/status`);
    writeFileSync(join(body.path, 'hand.txt'), 'by hand\n');
    writeFileSync(join(body.path, 'other.txt'), 'other\n');
    await call('POST', `${at}/sessions/${id}/approve`);
    await until(id, 'completed');
    const since = await call('GET', `${diff}?since=approval`);
    assert.match(since.text, / by hand\n\+more\n/);
    assert.match(since.text, /new\.txt/);
    assert.doesNotMatch(since.text, /other|\+by hand/);
    const base = await call('GET', `${diff}?since=base`);
    assert.match(base.text, /\+by hand\n\+more\n/);
    assert.equal(base.text, (await call('GET', diff)).text);
    const kept = readFileSync(join(newestSession(running, item), 'since-approval.patch'), 'utf8');
    assert.equal(kept, since.text);
    assertProblem(await call('GET', `${diff}?since=yesterday`), 400, 'bad_request');
  });

  it('is the same since the approval where nothing stood in the worktree then', async (t) => {
    const { at, start, until, call } = await withCase(t, '```sh\necho x > new.txt\n```\n');
    const { id } = await start();
    await until(id, 'plan_ready');
    await call('POST', `${at}/sessions/${id}/approve`);
    await until(id, 'completed');
    const diff = `${at}/sessions/${id}/diff`;
    const { text } = await call('GET', `${diff}?since=approval`);
    assert.match(text, /new\.txt/);
    assert.equal(text, (await call('GET', diff)).text);
  });
});

describe('POST /cases/{id}/sessions with a comment', () => {
  it('is made with what the operator says, which its first plan shows', async (t) => {
    const { at, until, call } = await withCase(t, '```sh\necho x > new.txt\n```\n');
    const made = { type: 'implementing', comment: 'src/add.js:3\n\n> +x\n\nWhy?' };
    const { body } = await call<{ id: string }>('POST', `${at}/sessions`, made);
    await until(body.id, 'plan_ready');
    const { text } = await call('GET', `${at}/sessions/${body.id}/plan`);
    assert.match(text, /src\/add\.js:3\n\n> \+x\n\nWhy\?/);
  });

  it('refuses one that says nothing, or that no file can hold', async (t) => {
    const { at, call } = await withCase(t, 'Nothing.');
    for (const comment of ['', ' \n', 'x'.repeat(20_001), 'a\ud800b']) {
      const body = { type: 'implementing', comment };
      assertProblem(await call('POST', `${at}/sessions`, body), 400, 'bad_request');
    }
  });
});
