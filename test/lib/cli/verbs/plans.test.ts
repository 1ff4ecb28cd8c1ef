import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sha256 } from '../../../../store/base/sha256.ts';
import { assertSentence, dossier } from '../../../helpers/command.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';
import { withPlan } from '../../../helpers/with-plan.ts';

const planned = async (t: TestContext, options: Parameters<typeof withPlan>[1] = {}) => {
  const shown = await withPlan(t, options);
  const { at, workspace } = shown;
  const said = (verb: string, ...more: string[]) =>
    dossier(t, verb, at.id.slice(0, 8), '--workspace', workspace, ...more);
  const session = () => shown.dossier.call('GET /cases/{id}/sessions/{sid}', at);
  const hash = (await session()).plan_sha256 ?? '';
  const asked = (...answers: [RegExp, string | (() => unknown)][]) =>
    atTerminal(t, ['approve', 'make', '--workspace', workspace], answers);
  return { ...shown, said, asked, session, hash };
};

const QUESTION = /characters of the hash: /;

describe('dossier plan', () => {
  it('says the plan, and for programs its hash and session with it', async (t) => {
    const { said, hash, at } = await planned(t);
    const plain = await said('plan');
    assert.match(plain.stdout, /echo one > one\.txt/);
    const { session, plan_sha256, plan } = JSON.parse((await said('plan', '--json')).stdout);
    assert.deepEqual([session.id, plan_sha256, `${plan}\n`], [at.sid, hash, plain.stdout]);
  });
});

describe('dossier approve', { skip: noTerminal }, () => {
  it('shows who works within what, then the plan, and approves it at the first letters of its hash', async (t) => {
    const apart = { settings: 'sandbox: off', isApart: true };
    const { asked, session, hash } = await planned(t, apart);
    const { code, text } = await asked([QUESTION, `${hash.slice(0, 4)}\r`]);
    const { base_commit, approved_at } = await session();
    const head = text.slice(0, text.indexOf('echo one > one.txt'));
    assert.match(head, /^Plan of Make files$/m);
    assert.match(head, /^By +runbook$/m);
    assert.match(head, /^Sandbox +none$/m);
    assert.match(head, /^Network +open, including this machine$/m);
    assert.match(head, /^Unasked +only the blocks of the plan, one by one$/m);
    assert.match(head, /^From +Based on main \([0-9a-f]{7} '.*', .* old\)\.$/m);
    assert.ok(head.includes(`(${String(base_commit).slice(0, 7)} `));
    assert.match(head, /^Cost +not reported$/m);
    assert.match(head, new RegExp(`^Hash +${hash}$`, 'm'));
    assert.match(head, /^Not isolated: its programs can do whatever your user can/m);
    assert.match(text, /\nApproved; session [0-9a-f]{8} is working\n$/);
    assert.deepEqual([code, approved_at === null], [0, false]);
  });

  it('repeats at the question that it is not isolated, after all comments', async (t) => {
    const apart = { settings: 'sandbox: off', isApart: true };
    const { asked, fileOf } = await planned(t, apart);
    writeFileSync(await fileOf('comments.md'), 'By git.\n'.repeat(100));
    const { text } = await asked([QUESTION, '\r']);
    assert.match(text, / {2}By git\.\nNot isolated: [^\n]*\nHash [0-9a-f]{64}\n/);
  });

  it('approves nothing at anything else, or at three letters, with 1, nor at Ctrl-C, with 130', async (t) => {
    const { asked, session, hash } = await planned(t);
    for (const typed of ['\r', 'yes\r', `${hash.slice(0, 3)}\r`, `${hash}\r`]) {
      const { code, text } = await asked([QUESTION, typed]);
      assert.match(text, /Nothing was approved\.\n$/);
      assert.equal(code, 1);
    }
    assert.equal((await asked([QUESTION, '\u0003'])).code, 130);
    assert.equal((await session()).status, 'plan_ready');
  });

  it('is refused where the plan became another one while it was read', async (t) => {
    const { asked, session, hash, fileOf } = await planned(t);
    const file = await fileOf('plan.md');
    const { code, text } = await asked([
      QUESTION,
      () => {
        writeFileSync(file, 'Another.\n\n```sh\nrm -rf .\n```\n');
        return `${hash.slice(0, 4)}\r`;
      },
    ]);
    assert.match(text, /dossier: The plan .*changed/);
    const { status, approved_at } = await session();
    assert.deepEqual([code, status, approved_at], [1, 'plan_ready', null]);
  });

  it('says what a reader would not see, above the plan and again at the question', async (t) => {
    const { asked, at, dossier: api } = await planned(t);
    const body = 'Do\u202e it\u001b[8m:\n\n```sh\ntrue\n```\n';
    await api.call('PUT /cases/{id}/sessions/{sid}/plan', { ...at, body });
    const { text } = await asked([QUESTION, '\r']);
    const warnings =
      text.match(/^Invisible or misleading text in line \d+, column \d+: bidi, .*$/gm) ?? [];
    assert.equal(warnings.length, 2, text);
    assert.match(text, /⟦U\+202E⟧ it␛\[8m/);
    assert.ok(!text.includes('\u202e'));
  });

  it('takes the whole hash where nobody can be asked, and only that', async (t) => {
    const { said, session, hash } = await planned(t);
    for (const more of [
      [],
      ['--hash', hash.slice(0, 63)],
      ['--hash', hash.slice(0, 4)],
      ['--yes'],
    ]) {
      const ended = await said('approve', ...more);
      assert.equal(ended.code, 2);
      assert.match(ended.stderr, /--hash|--yes/);
    }
    const other = await said('approve', '--hash', sha256('another'));
    assert.equal(other.code, 1);
    assertSentence(other, /plan/);
    assert.equal((await session()).status, 'plan_ready');
    const ended = await said('approve', '--hash', hash.toUpperCase(), '--json');
    assert.equal(ended.code, 0);
    assert.equal(JSON.parse(ended.stdout).approved_sha256, hash);
    const again = await said('approve', '--hash', hash);
    assert.equal(again.code, 1);
    const late = await said('comment', 'Too late');
    assert.deepEqual([late.code, late.stdout], [1, '']);
    assert.match(
      late.stderr,
      /has no plan to send back\. [^\n]* dossier (?:tail|say) [0-9a-f]{8} /,
    );
    assertSentence(
      again,
      /There is no plan to approve: session [0-9a-f]{8} is \w+\. .* dossier (?:tail|diff) [0-9a-f]{8} /,
    );
  });
});

describe('dossier revise', () => {
  it('sends the plan back with what is said, and tells that it did', async (t) => {
    const { said, session } = await planned(t);
    const none = await said('revise');
    assert.equal(none.code, 1);
    assertSentence(
      none,
      /no unsent comment\. Give one: dossier revise [0-9a-f]{8} COMMENT --workspace/,
    );
    const ended = await said('revise', 'Smaller,', 'please');
    assert.match(ended.stdout, /^The plan was sent back; session [0-9a-f]{8} is \w+\n$/);
    assert.deepEqual([ended.code, (await session()).sent_back], [0, true]);
    assert.equal((await said('revise', '--session', 'ffff')).code, 1);
  });

  it('is refused after the end with the command that sends a message', async (t) => {
    const { said } = await planned(t);
    await said('abort');
    const late = await said('revise', 'Smaller');
    assert.equal(late.code, 1);
    assert.match(late.stderr, /is aborted and has no plan .* dossier say [0-9a-f]{8} /);
  });
});

describe('dossier pause, resume and abort', () => {
  it('steer the session that was looked up, and say how it is now', async (t) => {
    const { said, session, hash } = await planned(t, {
      description: 'Wait:\n\n```sh\ntouch begun\nuntil [ -e go ]; do sleep 0.05; done\n```\n',
    });
    await said('approve', '--hash', hash);
    const begun = join((await said('path')).stdout.trim(), 'begun');
    await eventually(() => assert.ok(existsSync(begun)));
    const paused = await said('pause');
    assert.deepEqual([paused.code, paused.stderr], [0, '']);
    assert.match(paused.stdout, /^Session [0-9a-f]{8} is paused\n$/);
    const wrong = await said('resume', '--from', 'nowhere');
    assert.equal(wrong.code, 2);
    const resumed = await said('resume', '--from', 'again');
    assert.deepEqual([resumed.code, resumed.stderr], [0, '']);
    assert.match(resumed.stdout, / is working\n$/);
    assert.equal(JSON.parse((await said('abort', '--json')).stdout).status, 'aborted');
    assert.equal((await session()).status, 'aborted');
    const again = await said('abort');
    assert.equal(again.code, 1);
    assertSentence(again, /no active session\. See dossier show [0-9a-f]{8} /);
  });
});
