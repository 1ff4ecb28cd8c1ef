import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { killAtEnd } from '../../../helpers/at-end.ts';
import { assertSentence, dossier, dossierIn } from '../../../helpers/command.ts';
import { DOSSIER } from '../../../helpers/daemon.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { withAgent } from '../../../helpers/sessions.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';
import { withPlan } from '../../../helpers/with-plan.ts';

const WAITS = 'Wait:\n\n```sh\necho begun\nuntil [ -e go ]; do sleep 0.05; done\n```\n';

/** A daemon with a Work item, whose agent does this. */
const withAgentAtWork = async (t: TestContext, behaviour: string, questions: object[] = []) => {
  const { settings, env, files } = withAgent(t, behaviour, 'auto');
  const home = env?.HOME ?? '';
  writeFiles(join(home, '.test-agent'), { 'questions.json': JSON.stringify(questions) });
  const workspace = temporaryDirectory(t);
  writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const { root } = makeRepository(t, { files: files ?? {} });
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root], { HOME: home });
  const api = connect({ url });
  const body = { title: 'Ask me', type: 'bug', description: 'Ask.' };
  const { id } = await api.call('POST /cases', { body });
  const said = (verb: string, ...more: string[]) =>
    dossier(t, verb, 'ask', '--workspace', workspace, ...more);
  const waits = (count: number) =>
    eventually(async () => {
      // On a slow machine a session may wait for its agent for a while.
      const all = await api.call('GET /attention');
      const asked = all.filter(({ kind }) => kind !== 'waiting');
      assert.equal(asked.length, count);
      return asked;
    });
  const shown = (verb: string, ...answers: [RegExp, string][]) =>
    atTerminal(t, [verb, 'ask', '--workspace', workspace], answers);
  return { id, api, said, waits, shown };
};

const planned = async (t: TestContext, options: Parameters<typeof withPlan>[1] = {}) => {
  const all = await withPlan(t, options);
  const said = (verb: string, ...more: string[]) =>
    dossier(t, verb, 'make', '--workspace', all.workspace, ...more);
  const approve = () =>
    all.dossier.call('POST /cases/{id}/sessions/{sid}/approve', { ...all.at, body: {} });
  return { ...all, said, approve };
};

describe('dossier start', () => {
  it('begins a session with what is chosen and said, and names the command that shows it', async (t) => {
    const { said, at, dossier: api } = await planned(t);
    const more = ['Smaller', 'this time', '--provider', 'manual', '--type', 'fixing'];
    const ended = await said('start', ...more);
    assert.match(
      ended.stdout,
      /^Session [0-9a-f]{8} of manual is queued\. Follow it with dossier tail [0-9a-f]{8} --workspace \S+\nBased on main \(.*\)\.\n$/,
    );
    const [, second] = await api.call('GET /cases/{id}/sessions', { id: at.id });
    assert.deepEqual([second?.type, second?.provider], ['fixing', 'manual']);
    const wrong = await said('start', '--provider', 'nobody');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /nobody/);
  });
});

describe('a command about a session whose file cannot be read', () => {
  it('names the file, and does not say that there is no session', async (t) => {
    const { said, workspace } = await planned(t);
    const [file = ''] = readdirSync(join(workspace, 'cases'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('session.md'));
    writeFileSync(join(workspace, 'cases', file), 'spoilt');
    await eventually(async () => {
      const { code, stderr } = await said('plan');
      assert.equal(code, 1);
      assert.match(stderr, /^dossier: The sessions of .* cannot be read: cases\/.*session\.md: /);
    });
  });
});

describe('a command about a session of a Work item that has none', () => {
  it('says so, and has the daemon write nothing', async (t) => {
    const workspace = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', workspace]);
    await connect({ url }).call('POST /cases', { body: { title: 'Later', type: 'chore' } });
    const changedAt = () => statSync(join(workspace, '.dossier/tmp')).ctimeMs;
    const before = changedAt();
    const { code, stderr } = await dossier(t, 'plan', 'later', '--workspace', workspace);
    assert.equal(code, 1);
    assert.match(stderr, /has no session yet/);
    assert.equal(changedAt(), before);
  });
});

describe('dossier tail', () => {
  it('tells what a session does as it does it, and ends with it', async (t) => {
    const { said, approve, dossier: api, at, workspace } = await planned(t, { description: WAITS });
    await approve();
    const args = [DOSSIER, 'tail', 'make', '--workspace', workspace];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    killAtEnd(t, child);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    await eventually(() => assert.match(text, /^begun$/m));
    assert.match(text, /The plan is ready: dossier approve [0-9a-f]{8} --workspace \S+\n/);
    assert.match(text, /Approved by operator\n-- working\n\* execute: .*\n(?:.*\n)*begun\n$/);
    const { path } = await api.call('GET /api/cases/{id}/worktree', { id: at.id });
    writeFileSync(join(path, 'go'), '');
    const [code] = await once(child, 'close');
    assert.match(
      text,
      /Changed: 1 file, .*\. Show it with dossier diff [0-9a-f]{8} --workspace \S+\n-- completed\n-- ended: completed\n$/,
    );
    assert.equal(code, 0);
    const last = (await said('tail', '-n', '1')).stdout;
    assert.equal(last, '-- ended: completed\n');
    const lines = (await said('tail', '--json')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([lines[0].event, lines.at(-1).event], ['status', 'complete']);
    assert.equal((await said('tail', '-n', '0')).code, 2);
    const dash = await said('tail', '-n', '-5');
    assert.equal(dash.code, 2);
    assert.match(dash.stderr, /^dossier: -n needs a value that [^\n]*\n$/);
  });

  it('ends at its next word where nobody reads it any more', async (t) => {
    const {
      approve,
      dossier: api,
      at,
      workspace,
    } = await planned(t, {
      description: 'Wait:\n\n```sh\nwhile sleep 0.05; do echo on; done\n```\n',
    });
    await approve();
    const args = [DOSSIER, 'tail', 'make', '--workspace', workspace];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    killAtEnd(t, child);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    // Neither completed nor failed.
    assert.deepEqual(await once(child, 'exit'), [130, null]);
    assert.equal((await api.call('GET /cases/{id}/sessions/{sid}', at)).status, 'working');
  });

  it('has failed where its words could not be written', async (t) => {
    const { workspace } = await planned(t);
    const full = openSync('/dev/full', 'w');
    const ended = await dossierIn(t, { stdout: full }, ['tail', 'make', '--workspace', workspace]);
    closeSync(full);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /^dossier: The output is incomplete: ENOSPC/);
  });

  it('says that the daemon is gone, and goes on once it is back, also at another address', async (t) => {
    const { approve, at, daemon, root, workspace } = await planned(t, { description: WAITS });
    await approve();
    const args = [DOSSIER, 'tail', 'make', '--workspace', workspace];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    killAtEnd(t, child);
    let [text, told] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      told += piece;
    });
    await eventually(() => assert.match(text, /^begun$/m));
    await daemon.end();
    await eventually(() => assert.match(told, /start it: dossier up --workspace \S+\n$/));
    const { port } = new URL(daemon.url);
    const back = await startHere(t, ['--workspace', workspace, '--repo', root, '--port', port]);
    await eventually(() => assert.match(text, /^It waits for you: dossier resume /m));
    assert.match(told, /^dossier: The connection to the daemon was lost[^\n]*\n$/);
    await back.end();
    const moved = await startHere(t, ['--workspace', workspace, '--repo', root]);
    assert.notEqual(new URL(moved.url).port, port);
    const { call } = connect({ url: moved.url });
    await call('POST /api/cases/{id}/session/abort', { id: at.id, body: {} });
    await eventually(() => assert.match(text, /^-- ended: aborted$/m));
    const lines = text.match(/^(?:begun|It waits for you: .*|-- aborted|-- ended: aborted)$/gm);
    assert.equal(lines?.length, 4, text);
  });

  it('is 1 where the session failed', async (t) => {
    const { said, approve } = await planned(t, { description: 'Fail:\n\n```sh\nfalse\n```\n' });
    await approve();
    const ended = await said('tail');
    assert.equal(ended.code, 1);
    assert.match(
      ended.stdout,
      /\n\* execute: .* failed \(exit 1\)\n(?:.*\n)*1 of 1 approved command failed: `false` \(exit 1\)\n(?:.*\n)*-- ended: failed$/m,
    );
  });

  it('is 1 with the next command where the work failed that approve follows', async (t) => {
    const { said, dossier: api, at } = await planned(t, { description: '```sh\nfalse\n```\n' });
    const { plan_sha256 } = await api.call('GET /cases/{id}/sessions/{sid}', at);
    const ended = await said('approve', '--hash', plan_sha256 ?? '', '--follow');
    assert.equal(ended.code, 1, ended.stderr);
    assert.match(ended.stdout, /\n-- ended: failed\nSee dossier show [0-9a-f]{8} /);
  });

  it('leaves it running at Ctrl-C', { skip: noTerminal }, async (t) => {
    const { approve, dossier: api, at, workspace } = await planned(t, { description: WAITS });
    await approve();
    const { code, text } = await atTerminal(
      t,
      ['tail', 'make', '--workspace', workspace],
      [[/^begun\r$/m, '\u0003']],
    );
    assert.notEqual(code, 0);
    assert.doesNotMatch(text, /ended/);
    assert.equal((await api.call('GET /cases/{id}/sessions/{sid}', at)).status, 'working');
  });
});

describe('dossier diff', () => {
  it('says that nothing was changed, and prints no patch', async (t) => {
    const { said, approve, until } = await planned(t, { description: '```sh\ntrue\n```\n' });
    await approve();
    await until('complete');
    const { code, stdout, stderr } = await said('diff');
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /The session changed no file$/m);
  });

  it('is a patch that git applies, and counts its lines', async (t) => {
    const { said, approve, until, root, workspace } = await planned(t);
    const none = await said('diff');
    assert.equal(none.code, 1);
    assertSentence(
      none,
      /is plan_ready\. To read and approve its plan: dossier approve [0-9a-f]{8} --workspace \S+\n$/,
    );
    await approve();
    await until('complete');
    const { stdout } = await said('diff');
    const applied = spawnSync('git', ['apply'], { cwd: root, input: stdout, encoding: 'utf8' });
    assert.deepEqual([applied.status, applied.stderr], [0, '']);
    assert.equal(readFileSync(join(root, 'two.txt'), 'utf8'), 'two\n');
    assert.equal(
      (await said('diff', '--stat')).stdout,
      '+1\t-0\tone.txt\n+1\t-0\tthree.txt\n+1\t-0\ttwo.txt\n',
    );
    if (noTerminal !== false) return;
    const args = ['diff', 'make', '--workspace', workspace];
    const { text } = await atTerminal(t, args, [], { env: { NO_COLOR: '' } });
    assert.match(text, /\^\[1mdiff --git a\/one\.txt b\/one\.txt\^\[22m\n/);
    assert.match(text, /\n\^\[32m\+one\^\[39m\n/);
    assert.doesNotMatch((await atTerminal(t, args)).text, /\^/);
  });
});

describe('dossier diff of what runs later', () => {
  it('names it first, and is a patch that git applies all the same', async (t) => {
    const description = 'Do:\n\n```sh\necho x > .envrc; echo y > a.txt\n```\n';
    const { said, approve, until, root } = await planned(t, { description });
    await approve();
    await until('complete');
    const { stdout } = await said('diff');
    const when = 'runs when you enter the directory with direnv';
    assert.ok(
      stdout.startsWith(
        `Files that run something later, outside the sandbox:\n  .envrc: ${when}\n\ndiff --git `,
      ),
      stdout,
    );
    const applied = spawnSync('git', ['apply'], { cwd: root, input: stdout, encoding: 'utf8' });
    assert.deepEqual([applied.status, applied.stderr], [0, '']);
    assert.match((await said('diff', '--stat')).stdout, /^\+1\t-0\t\.envrc\truns when you enter/);
  });
});

describe('dossier diff --stat', () => {
  it('names files as they are, and takes no line of one for the head of another', async (t) => {
    const odd = "mkdir 'a b'; printf 'x\\rdiff --git a/no b/no\\n' > 'a b/ö.txt'";
    const description = `Odd:\n\n\`\`\`sh\n${odd}\n\`\`\`\n`;
    const { said, approve, until } = await planned(t, { description });
    await approve();
    await until('complete');
    assert.equal((await said('diff', '--stat')).stdout, '+1\t-0\ta b/ö.txt\n');
  });
});

describe('dossier diff --json', () => {
  it('says that nothing was changed', async (t) => {
    const { said, approve, until } = await planned(t, { description: 'Do:\n\n```sh\ntrue\n```\n' });
    await approve();
    await until('complete');
    assert.deepEqual(JSON.parse((await said('diff', '--json')).stdout), { files: [], diff: '' });
    assert.equal((await said('diff', '--stat')).stdout, '');
  });
});

describe('dossier abort', () => {
  it('of two terminals at once tells the later one what the session is now', async (t) => {
    const { said } = await planned(t);
    const [one, other] = await Promise.all([said('abort'), said('abort')]);
    const [later] = [one, other].filter(({ code }) => code !== 0);
    assert.match(one.stdout + other.stdout, / is aborted$/m);
    if (later !== undefined) assertSentence(later, /no active session\. See dossier show/);
  });
});

describe('dossier say', () => {
  it('sends a message, with the command that shows what comes of it', async (t) => {
    const { id, api, said } = await withAgentAtWork(t, 'work-hang');
    const body = { type: 'implementing' };
    const { id: sid } = await api.call('POST /cases/{id}/sessions', { id, body });
    const ended = await said('say', 'Smaller,', 'please');
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /^(Sent to|Saved for )/);
    await api.call('POST /api/cases/{id}/session/abort', { id });
    const next = await said('say', 'Once more', '--json');
    const { session_id, text } = JSON.parse(next.stdout);
    assert.deepEqual([session_id === sid, text], [false, 'Once more']);
    assert.equal((await said('say')).code, 2);
    const early = await said('say', 'Go', '--approve');
    assert.equal(early.code, 1);
    assertSentence(early, /has ended/);
  });
});

describe('dossier comment', () => {
  it('notes what is said of a part of the plan, in its words', async (t) => {
    const { said, fileOf } = await planned(t);
    const file = await fileOf('comments.md');
    assert.match(
      (await said('comment', 'Good', 'so far')).stdout,
      /^Saved\. To send the plan back with it: dossier revise [0-9a-f]{8}/,
    );
    await said('comment', '--on', 'echo two', 'Not two');
    assert.match(
      readFileSync(file, 'utf8'),
      /Good so far\n\n> ```sh\n> echo two > two\.txt\n> ```\n\nNot two\n$/,
    );
    for (const [on, why] of [
      ['echo', /More than one part/],
      ['echo four', /No part/],
    ] as const) {
      const ended = await said('comment', '--on', on, 'Hm');
      assert.equal(ended.code, 1);
      assertSentence(ended, why);
    }
    assert.equal((await said('comment')).code, 2);
    const empty = await said('comment', ' ');
    assert.equal(empty.code, 1);
    assertSentence(empty, /^dossier: The comment is empty, so nothing was saved/);
    assert.match((await said('revise')).stdout, /^The plan was sent back/);
    await eventually(() => assert.match(readFileSync(file, 'utf8'), /\*Sent /));
  });

  it('is shown before the plan is approved, and as it is sent, whoever wrote it', async (t) => {
    const { said, fileOf } = await planned(t);
    writeFileSync(await fileOf('comments.md'), 'From a colleague, by git.\n');
    const shown = await said('plan');
    assert.match(shown.stderr, /Unsent comments, .*:\n {2}From a colleague, by git\.$/m);
    assert.match((await said('revise')).stdout, /\. Sent:\n {2}From a colleague, by git\.\n$/);
  });

  it('leaves the plan readable where comments.md is a link, which is said', async (t) => {
    const { said, fileOf } = await planned(t);
    symlinkSync('plan.md', await fileOf('comments.md'));
    const shown = await said('plan');
    assert.match(shown.stdout, /echo one > one\.txt/, shown.stderr);
    assert.match(shown.stderr, /Its unsent comments cannot be read: .*\.md is not a regular file/);
    assert.equal(shown.code, 0);
  });

  it('opens comments.md in an editor; who writes there meanwhile loses nothing, nor does who edits', {
    skip: noTerminal,
  }, async (t) => {
    const { fileOf, workspace, said } = await planned(t);
    const file = await fileOf('comments.md');
    const script = join(temporaryDirectory(t), 'editor.sh');
    const edited = (body: string) => {
      writeFileSync(script, body);
      const env = { VISUAL: `sh ${script}` };
      return atTerminal(t, ['comment', 'make', '--workspace', workspace], [], { env });
    };
    assert.equal((await edited(`echo 'By hand.' >> "$1"`)).code, 0);
    assert.equal(readFileSync(file, 'utf8'), 'By hand.\n');
    const unchanged = await edited('exit 0');
    assert.deepEqual([unchanged.code, unchanged.text], [1, 'dossier: Nothing was changed.\n']);
    const clash = await edited(`echo 'And theirs.' >> ${file}; echo 'And mine.' >> "$1"`);
    const [, kept = ''] = /Your text is kept in (\S+comments\.md)/.exec(clash.text) ?? [];
    assert.equal(clash.code, 1);
    assert.equal(readFileSync(kept, 'utf8'), 'By hand.\nAnd mine.\n');
    assert.equal(readFileSync(file, 'utf8'), 'By hand.\nAnd theirs.\n');
    assert.equal((await said('comment', 'One more')).code, 0);
    assert.match(readFileSync(file, 'utf8'), /^By hand\.\nAnd theirs\.\n\n[\s\S]*One more\n$/);
  });
});

describe('dossier abort', () => {
  it('of two terminals at once tells the later one what the session is now', async (t) => {
    const { said } = await planned(t);
    const [one, other] = await Promise.all([said('abort'), said('abort')]);
    const [later] = [one, other].filter(({ code }) => code !== 0);
    assert.match(one.stdout + other.stdout, / is aborted$/m);
    if (later !== undefined) assertSentence(later, /no active session\. See dossier show/);
  });
});

describe('dossier say', () => {
  it('sends a message to the session, prints it as JSON, and needs a text', async (t) => {
    const { api, id, said, waits } = await withAgentAtWork(t, 'listens');
    await said('start');
    const [plan] = await waits(1);
    const at = { id, sid: plan?.session_id ?? '' };
    const sent = await said('say', 'Keep the', 'old name');
    assert.match(
      sent.stdout,
      /^Sent to session [0-9a-f]{8}\. Follow it with dossier tail [0-9a-f]{8}/,
    );
    const { stdout } = await said('say', 'Be brief', '--now', '--json');
    const { session_id, text } = JSON.parse(stdout);
    assert.deepEqual([session_id, text], [at.sid, 'Be brief']);
    const texts = await api.call('GET /cases/{id}/sessions/{sid}/messages', at);
    assert.deepEqual(
      texts.map((message) => message.text),
      ['Keep the old name', 'Be brief'],
    );
    const empty = await said('say', ' ');
    assert.equal(empty.code, 2);
    assertSentence(empty, /^dossier: say needs a TEXT/);
  });
});

describe('dossier answer', { skip: noTerminal }, () => {
  it('gives leave, by an option or by its number at a terminal', async (t) => {
    const { api, id, said, waits, shown } = await withAgentAtWork(t, 'terminal');
    await said('start');
    const [plan] = await waits(1);
    const sid = plan?.session_id ?? '';
    await api.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid, body: {} });
    await eventually(async () =>
      assert.equal((await api.call('GET /attention'))[0]?.kind, 'permission'),
    );
    const without = await said('answer');
    assert.equal(without.code, 2);
    assert.match(without.stderr, /--option yes or no/);
    assert.equal((await said('answer', '--option', 'maybe')).code, 2);
    assert.equal((await said('answer', '--request', 'zz', '--option', 'yes')).code, 1);
    const left = await shown('answer', [/Which number\? /, '9\r']);
    assert.match(
      left.text,
      /ls␛\[8m; rm -rf ~[\s\S]* 1 {2}Yes \(allow once\)[\s\S]*No answer was sent\.\n$/,
    );
    const given = await shown('answer', [/Which number\? /, '1\r']);
    assert.match(given.text, /\nAnswered with yes: .*ls␛\[8m; rm -rf ~.*\n$/);
    assert.deepEqual([left.code, given.code], [1, 0]);
    assert.equal((await said('tail')).code, 0);
    const none = await said('answer', '--option', 'yes');
    assert.equal(none.code, 1);
    assertSentence(none, /has no open request/);
  });

  it('allows all commands that begin as --prefix says, or as is typed at a terminal', async (t) => {
    const { api, id, said, waits, shown } = await withAgentAtWork(t, 'commands');
    await said('start');
    const [plan] = await waits(1);
    const at = { id, sid: plan?.session_id ?? '' };
    await api.call('POST /cases/{id}/sessions/{sid}/approve', { ...at, body: {} });
    const asks = (command: RegExp) =>
      eventually(async () => {
        const [asked] = await api.call('GET /attention');
        assert.deepEqual([asked?.kind, command.test(asked?.message ?? '')], ['permission', true]);
      });
    await asks(/npm test/);
    assert.equal((await said('answer', '--option', 'yes', '--prefix', 'npm')).code, 2);
    const given = await said('answer', '--option', 'allow_prefix', '--prefix', 'npm test');
    assert.match(given.stdout, /^Answered with allow_prefix: .*npm test/, given.stderr);
    // The second is not asked for: it begins with the prefix, and has no operator of the shell.
    for (const command of [/&& curl evil/, /; rm -rf/, /\$\(id\)/, /test\W{1,3}id/]) {
      await asks(command);
      await said('answer', '--option', 'no');
    }
    await asks(/npm testing/);
    const chosen = await shown(
      'answer',
      [/(\d) {2}[^\n]*\(allow prefix\)[\s\S]*Which number\? /, '3\r'],
      [/begin with \(Enter: this whole command\): /, '\r'],
    );
    assert.equal(chosen.code, 0, chosen.text);
  });

  it('fills in what a question asks for, or declines; of several none is taken by chance', async (t) => {
    const properties = { name: { type: 'string' }, count: { type: 'integer' } };
    const schema = { type: 'object', properties, required: ['name'] };
    const asked = ['One?', 'Two?', 'Three?'].map((message) => ({
      message,
      requestedSchema: schema,
    }));
    const { api, said, waits, shown } = await withAgentAtWork(t, 'asks', asked);
    await said('start');
    const waiting = await waits(3);
    const several = await said('answer', '--option', 'decline');
    assert.equal(several.code, 1);
    assert.match(several.stderr, /Choose one with --request ID: \n {2}[0-9a-f]{8} {2}One\?/);
    const requestOf = (message: string): string =>
      waiting
        .find((item) => item.message.includes(message))
        ?.answer.path.split('/')
        .at(-1) ?? '';
    const wrong = await said('answer', '--request', requestOf('Two?'), '--field', 'size=1');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /NAME=VALUE, of name, count/);
    const fields = ['--field', 'name=A=B', '--field', 'count=3'];
    const two = await said('answer', '--request', requestOf('Two?'), ...fields);
    assert.match(two.stdout, /^Answered with accept: .*Two\?/, two.stderr);
    const one = await shown('answer', [/name[\s\S]*> /, 'Me\r'], [/count[\s\S]*> /, '\r']);
    assert.match(one.text, /Answered with accept: .*One\?/);
    assert.equal((await said('answer', '--option', 'decline')).code, 0);
    await eventually(async () => assert.equal((await api.call('GET /attention'))[0]?.kind, 'plan'));
    const plan = (await said('plan')).stdout;
    assert.match(plan, /"content":\{"name":"Me"\}[\s\S]*"content":\{"name":"A=B","count":3\}/);
    assert.match(plan, /"action":"decline"/);
  });
});
