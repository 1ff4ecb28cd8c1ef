/** What agents, hands and programs hide in plans, streams, titles and commands, as it goes out. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import { eventually } from '../helpers/eventually.ts';
import { newestSession } from '../helpers/service.ts';
import { withAgent, withCase } from '../helpers/sessions.ts';

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}\u200b]/u;

describe('an agent that writes for a terminal', () => {
  it('has its plan, stream, tool calls and outputs shown as they are', async (t) => {
    const it = await withCase(t, 'x', withAgent(t, 'terminal'));
    const { id } = await it.start();
    const { warnings } = await it.until(id, 'plan_ready');
    const dir = newestSession(it.running, it.item);
    const plan = readFileSync(join(dir, 'plan.md'), 'utf8');
    assert.match(plan, /Run ls␛\[8m; rm -rf ~␛\[0m␍⟦U\+202E⟧/);
    assert.deepEqual(
      warnings?.map(({ kind }) => kind),
      ['long_blank'],
    );
    const stream = readFileSync(join(dir, 'events.ndjson'), 'utf8');
    assert.doesNotMatch(stream, HIDDEN);
    assert.doesNotMatch(stream, /\\u00[01]|\\u202e/i);
    const told = await it.eventsOf(id);
    const call = told.find(({ event }) => event === 'tool_call')?.data;
    assert.deepEqual([call?.title, call?.output], ['cat ␛[1A', 'red␛[2J']);
    const ready = told.find(({ event }) => event === 'plan_ready')?.data;
    assert.deepEqual(ready?.warnings, warnings);
  });

  it('asks with a title and a command in which all is seen, and is answered by its own ids', async (t) => {
    const it = await withCase(t, 'x', withAgent(t, 'terminal'));
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    const { data } = await it.untilEvent(id, 'permission_request');
    assert.equal(data.title, 'ls␛[8m; rm -rf ~');
    assert.equal(data.command, 'ls␛[8m; rm -rf ~');
    const at = `/sessions/${id}/permissions/${data.request_id}`;
    assert.equal((await it.post(at, { option_id: 'no' })).status, 200);
    const { error } = await it.until(id, 'failed');
    assert.match(error ?? '', /refused: ls␛\[8m; rm -rf ~/);
    const record = readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
    assert.match(record, /## Requests that you refused\n\n```text\nls␛\[8m; rm -rf ~/);
    assert.doesNotMatch(record, HIDDEN);
  });

  it('fails with an error in which all is seen', async (t) => {
    const it = await withCase(t, 'x', withAgent(t, 'terminal-error'));
    const { id } = await it.start();
    const { error } = await it.until(id, 'failed');
    assert.match(error ?? '', /holiday␛\[8m/);
    const record = readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
    assert.doesNotMatch(record, HIDDEN);
  });
});

describe('a plan that a hand edited', () => {
  it('keeps its bytes, is served so that all is seen, and carries warnings', async (t) => {
    const it = await withCase(t);
    const { id } = await it.start({ provider: 'manual' });
    const dir = newestSession(it.running, it.item);
    const text = '# Plan\n\nSee \u001b[8mthis\u001b[0m\u202e and \u009b.\n';
    writeFileSync(join(dir, 'plan.md'), text);
    const { warnings, plan_sha256 } = await it.until(id, 'plan_ready');
    assert.deepEqual(
      warnings?.map(({ line, column, kind }) => [line, column, kind]),
      [
        [3, 5, 'control'],
        [3, 13, 'control'],
        [3, 17, 'bidi'],
        [3, 23, 'control'],
      ],
    );
    assert.equal(readFileSync(join(dir, 'plan.md'), 'utf8'), text);
    const served = await it.running.call('GET', `${it.at}/sessions/${id}/plan`);
    assert.equal(served.text, '# Plan\n\nSee ␛[8mthis␛[0m⟦U+202E⟧ and ⟦U+009B⟧.\n');
    assert.equal(served.headers.etag, `"${plan_sha256?.slice(0, 32)}"`);
    const record = await it.running.call('GET', `${it.at}/sessions/${id}`);
    assert.doesNotMatch(record.text, HIDDEN);
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    assert.equal(readFileSync(join(dir, 'approved.md'), 'utf8'), text);
  });

  it('is not approved where it is not UTF-8, so that it is not what was read', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const file = join(newestSession(it.running, it.item), 'plan.md');
    writeFileSync(file, Buffer.from('```sh\ntouch \xff\n```\n', 'latin1'));
    await eventually(async () => {
      const { status, body } = await it.post(`/sessions/${id}/approve`);
      assert.deepEqual([status, body.code], [422, 'plan_hides_text']);
      assert.match(body.detail, /not UTF-8/);
    });
  });

  it('is not approved while it has a merge conflict, of which both sides would run', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const [ours, theirs] = ['ours', 'theirs'].map((name) => `\`\`\`sh\ntouch ${name}\n\`\`\`\n`);
    const text = `# Plan\n\n<<<<<<< HEAD\n${ours}=======\n${theirs}>>>>>>> main\n`;
    writeFileSync(join(newestSession(it.running, it.item), 'plan.md'), text);
    await eventually(async () => {
      const { status, body } = await it.post(`/sessions/${id}/approve`);
      assert.deepEqual([status, body.code], [409, 'unreadable_record']);
      assert.match(body.detail, /merge conflict, which starts in line 3/);
    });
    assert.equal((await it.until(id, 'plan_ready')).mode, 'plan');
  });

  it('is not approved with a shell block that hides something, and nothing runs', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    const plan = `${it.at}/sessions/${id}/plan`;
    for (const hidden of [
      'ls\u001b[8m; touch evil',
      `ls${' '.repeat(3000)}; touch evil`,
      'ls\u202e',
    ]) {
      await it.running.call(
        'PUT',
        plan,
        `\`\`\`sh\ntouch mine\n\`\`\`\n\n\`\`\`bash\n${hidden}\n\`\`\`\n`,
      );
      const { status, body } = await it.post(`/sessions/${id}/approve`);
      assert.deepEqual([status, body.code], [422, 'plan_hides_text']);
      assert.match(body.detail, /^Block 2 of 2/);
    }
    assert.equal((await it.until(id, 'plan_ready')).mode, 'plan');
    assert.ok(!(await it.eventsOf(id)).some(({ event }) => event === 'tool_call'));
  });
});

describe('the runbook', () => {
  it('proposes no block that hides something', async (t) => {
    const it = await withCase(t, '```sh\nls\u200b\n```\n');
    const { id } = await it.start();
    const { error } = await it.until(id, 'failed');
    assert.match(error ?? '', /^Block 1 of 1 \(ls⟦U\+200B⟧\) has ⟦U\+200B⟧ in line 1, column 3/);
  });

  it('shows what a command writes, without its colours', async (t) => {
    const script = "printf '\\033[31mred\\033[0m\\033[2J\\302\\233\\n'";
    const it = await withCase(t, `\`\`\`sh\n${script}\n\`\`\`\n`);
    const { id } = await it.worked();
    const calls = (await it.eventsOf(id)).filter(({ event }) => event === 'tool_call');
    assert.equal(calls.at(-1)?.data.output, 'red␛[2J⟦U+009B⟧\n');
  });
});

describe('a title', () => {
  it('with anything hidden is refused by the API', async (t) => {
    const { running, at } = await withCase(t);
    for (const title of ['a\u001b[8m', 'a\u202eb', 'a\u200bb', 'a\u009bb', 'a\u2028b']) {
      const made = await running.call('POST', '/cases', { title, type: 'bug' });
      assert.equal(made.status, 400, title);
      assert.equal((await running.call('PUT', at, { title })).status, 400);
    }
    assert.equal(
      (await running.call('POST', '/cases', { title: '👩‍💻 ok', type: 'bug' })).status,
      201,
    );
  });

  it('with anything hidden, made by hand, is told as a problem and shown', async (t) => {
    const { running, item, at } = await withCase(t);
    const file = join(running.workspace, item.path, 'case.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/^title: .*$/m, 'title: "Say \\u202E\\u001b[8mhello"'));
    const { body, text: answer } = await eventually(async () => {
      const served = await running.call<Case>('GET', at);
      assert.equal(served.body.title, 'Say ⟦U+202E⟧␛[8mhello');
      return served;
    });
    assert.doesNotMatch(answer, HIDDEN);
    assert.deepEqual(
      body.problems?.map(({ code }) => code),
      ['hidden_characters'],
    );
    const list = await running.call<Case[]>('GET', '/cases');
    assert.doesNotMatch(list.text, HIDDEN);
    assert.equal((await running.call('PUT', at, { description: 'Other.' })).status, 200);
    assert.match(readFileSync(file, 'utf8'), /\\u202E/);
  });
});
