import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { requireAgent } from '../../../../lib/cli/verbs/start.ts';
import { connect } from '../../../../lib/client/client.ts';
import { dossierIn } from '../../../helpers/command.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import type { startForTest } from '../../../helpers/service.ts';
import { withAgent } from '../../../helpers/sessions.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

type Answers = Parameters<typeof atTerminal>[2];

/** A daemon of a repository, in which `dossier run` is called with a file that says this. */
const scene = async (
  t: TestContext,
  text = 'Leave a note\n\n```sh\necho Reviewed. > note.txt\n```\n',
  { settings = '', env = {} }: Parameters<typeof startForTest>[1] = {},
) => {
  const workspace = temporaryDirectory(t);
  const { root, git } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  if (settings !== '') writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root], env);
  const api = connect({ url });
  const file = join(temporaryDirectory(t), 'item.md');
  writeFileSync(file, text);
  const words = ['run', '--file', file, '--workspace', workspace];
  const said = (...more: string[]) => dossierIn(t, { cwd: root }, [...words, ...more]);
  const verb = (...more: string[]) =>
    dossierIn(t, { cwd: root }, [...more, '--workspace', workspace]);
  const shown = (answers: Answers) => atTerminal(t, words, answers, { cwd: root });
  const session = async () => {
    const [item] = await api.call('GET /cases');
    const [only] = await api.call('GET /cases/{id}/sessions', { id: item?.id ?? '' });
    return only;
  };
  return { api, said, verb, shown, session, workspace, git };
};

const PAGE = /Enter: next page, q: leave --/;
const KEYS = /a: approve the plan {3}c: request changes {3}q: leave\r?\n/;

describe('dossier run without a terminal', () => {
  it('ends with 4 once the plan waits, with its id and hash; approve --follow does the rest', async (t) => {
    const { said, verb, session } = await scene(t);
    const waits = await said();
    const [, id = '', hash = ''] = /^([0-9a-f]{8})\t([0-9a-f]{64})\n$/.exec(waits.stdout) ?? [];
    assert.equal(waits.code, 4, waits.stderr);
    assert.equal(hash, (await session())?.plan_sha256);
    assert.match(waits.stderr, new RegExp(`dossier approve ${id} --hash ${hash} --follow --work`));
    const done = await verb('approve', id, '--hash', hash, '--follow');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^Approved; .*\nApproved by operator\n-- working\n/);
    assert.doesNotMatch(done.stdout, /planning/);
    assert.match(
      done.stdout,
      /\n\+Reviewed\.\nTo merge it: dossier merge [0-9a-f]{8} --workspace /,
    );
    assert.equal((await verb('approve', id, '--follow', '--json')).code, 2);
  });

  it('says the session and its hash for programs, with --json', async (t) => {
    const { said, session } = await scene(t);
    const { code, stdout } = await said('--json');
    const { plan_sha256, ...told } = JSON.parse(stdout);
    assert.deepEqual([code, plan_sha256], [4, (await session())?.plan_sha256]);
    assert.deepEqual([told.session.status, told.waiting.kind], ['plan_ready', 'plan']);
  });

  it('is 1 where planning fails, and makes nothing without a title or a repository', async (t) => {
    const agent = withAgent(t, 'terminal-error', 'auto');
    const { said, verb, api, workspace } = await scene(t, 'Fail\n', agent);
    const failed = await said();
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /^[0-9a-f]{8}\tfailed\n$/);
    assert.equal((await verb('run')).code, 2);
    const args = ['run', 'Elsewhere', '--project', 'none', '--workspace', workspace];
    const outside = await dossierIn(t, {}, args);
    assert.match(outside.stderr, /no repository to work in, so nothing was created\. .*\.\n$/);
    const unknown = await said('--provider', 'none');
    assert.match(
      unknown.stderr,
      /no provider none, so nothing was created\. Name one of .*runbook.*\.\n$/,
    );
    assert.equal((await api.call('GET /cases')).length, 1);
  });

  it('names the Work item that it made where no session could begin on it', async (t) => {
    const { said, api } = await scene(t);
    const { code, stderr } = await said('--base', 'none');
    const [item] = await api.call('GET /cases');
    const id = item?.id.slice(0, 8);
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`Work item ${id} was created\\. To start it: dossier start ${id} --base none `),
    );
    assert.match(stderr, /no branch or commit none/);
  });
});

describe('dossier run at a terminal', { skip: noTerminal }, () => {
  it('takes the key for the plan once its end was shown, then shows the work and the diff', async (t) => {
    const { shown, session } = await scene(t);
    let before: string | undefined;
    const { code, text } = await shown([
      // Neither the key nor what is typed with Enter approves before the end.
      [PAGE, 'a\ra'],
      [
        KEYS,
        async () => {
          before = (await session())?.status;
          return '\ra';
        },
      ],
    ]);
    assert.equal(before, 'plan_ready');
    assert.equal(code, 0, text);
    assert.match(text, /Commands in the plan:\n {2}echo Reviewed\. > note\.txt\n/);
    assert.match(text, /Approved by operator\n[\s\S]*-- ended: completed\n[\s\S]*\n\+Reviewed\.\n/);
  });

  it('sends the plan back with a comment, and leaves it as it is at q and at Ctrl-C', async (t) => {
    const { shown, session } = await scene(t);
    const { code, text } = await shown([
      [PAGE, '\r'],
      [KEYS, 'c'],
      [/What should change\? /, 'Shorter\r'],
      [PAGE, '\r'],
      [KEYS, 'q'],
    ]);
    assert.equal(code, 130, text);
    assert.match(text, /is plan_ready; it was not changed\.\nTo continue: dossier approve /);
    const { status, sent_back, approved_at } = (await session()) ?? {};
    assert.deepEqual([status, sent_back, approved_at], ['plan_ready', true, null]);
    const left = await shown([[PAGE, '\u0003']]);
    assert.equal(left.code, 130, left.text);
  });

  it('shows a plan anew that became another one while it was read', async (t) => {
    const { shown, session, workspace } = await scene(t);
    const change = async () => {
      const { path = '' } = (await session()) ?? {};
      writeFileSync(join(workspace, path, 'plan.md'), 'Another.\n\n```sh\ntrue\n```\n');
      return 'a';
    };
    const { code, text } = await shown([
      [PAGE, '\r'],
      [KEYS, change],
      [/\nAnother\.[\s\S]*q: leave\r?\n/, 'q'],
    ]);
    assert.equal(code, 130, text);
    assert.equal((await session())?.status, 'plan_ready');
  });

  it('leaves the work running at Ctrl-C, and says how to go on', async (t) => {
    const { shown, session } = await scene(
      t,
      'Wait\n\n```sh\necho begun\nuntil [ -e go ]; do sleep 0.05; done\n```\n',
    );
    const { code, text } = await shown([
      [PAGE, '\r'],
      [KEYS, 'a'],
      [/^begun\r$/m, '\u0003'],
    ]);
    assert.equal(code, 130, text);
    assert.match(text, /is working; it was not changed\.\nTo continue: dossier tail /);
    assert.equal((await session())?.status, 'working');
  });

  it('asks what the agent asks, there', async (t) => {
    const agent = withAgent(t, 'terminal', 'auto');
    const { shown } = await scene(t, 'Ask me\n', agent);
    const { code, text } = await shown([
      [PAGE, '\r'],
      [KEYS, 'a'],
      [/Which number\? /, '1\r'],
    ]);
    assert.equal(code, 0, text);
  });
});

describe('dossier run and start of an agent that is not logged in', () => {
  it('starts no agent to find out where the provider of the settings is none', async () => {
    const called: string[] = [];
    const call = async (name: string) => {
      called.push(name);
      return { provider: 'runbook' };
    };
    await requireAgent({ dossier: { call }, values: {} } as never);
    assert.deepEqual(called, ['GET /settings']);
  });

  it('make nothing and say so; --force starts it', async (t) => {
    const agent = withAgent(t, 'plan', 'auto');
    const settings = (agent.settings ?? '').replaceAll(/\bagent$|\bagent(?=:)/gm, 'claude');
    const { said, verb, api } = await scene(t, 'Do it\n', { ...agent, settings });
    const refused = await said();
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /^dossier: claude does not seem to be logged in, so nothing was created\..*\.\n$/,
    );
    assert.deepEqual(await api.call('GET /cases'), []);
    const { id } = await api.call('POST /cases', { body: { title: 'Do it', type: 'task' } });
    assert.equal((await verb('start', id)).code, 1);
    assert.deepEqual(await api.call('GET /cases/{id}/sessions', { id }), []);
    assert.equal((await verb('start', id, '--force')).code, 0);
  });
});
