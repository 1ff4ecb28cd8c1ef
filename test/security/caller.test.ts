/** Only the operator decides: whatever a process of a run without a sandbox does to hide, its calls are refused. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { attacker, noAttacker, TRICKS, type Trick } from '../helpers/attacker.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** A daemon whose runs have no sandbox, with a proof of one Work item that nobody but the operator may verify. */
const start = async (t: TestContext, uid?: number, dev = false) => {
  const repository = makeRepository(t);
  const workspace = temporaryDirectory(t);
  const outside = temporaryDirectory(t);
  const out = join(outside, 'out');
  mkdirSync(out);
  writeFileSync(join(workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
  const home = temporaryDirectory(t);
  for (const path of [outside, out, workspace, home]) chmodSync(path, 0o777);
  if (uid !== undefined) for (const path of [workspace, home]) chownSync(path, uid, uid);
  const args = ['--workspace', workspace, '--repo', repository.root, ...(dev ? ['--dev'] : [])];
  if (uid !== undefined) own(repository.root, uid);
  const daemon = await startDaemon(t, args, { HOME: home }, uid);
  const call = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await fetch(`${daemon.url}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    return JSON.parse(answer.text).id;
  };
  const id = await made('/cases', { title: 'Mark your own work', type: 'chore' });
  const pid = await made(`/cases/${id}/proof`, { type: 'log', content: 'trust me' });
  const proof = `/cases/${id}/proof/${pid}`;
  const script = attacker(t);
  const { hostname, port } = new URL(daemon.url);
  const attack = (trick: Trick, target = { hostname, port, path: `${proof}/verify` }): string =>
    `python3 ${script} ${trick} ${target.hostname} ${target.port} PUT ${target.path} ${out}/answers`;
  /** Runs a script as a runbook's session does, in Work mode, to its end. */
  const work = async (lines: string[]): Promise<string> => {
    const description = `\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;
    const item = await made('/cases', { title: 'Work', type: 'chore', description });
    const session = await made(`/cases/${item}/sessions`, { type: 'implementing' });
    const at = `/cases/${item}/sessions/${session}`;
    await eventually(async () => assert.match((await call('GET', at)).text, /"plan_ready"/));
    const approved = await call('POST', `${at}/approve`);
    assert.equal(approved.status, 200, approved.text);
    return at;
  };
  const ended = (at: string) =>
    eventually(async () => {
      const { text } = await call('GET', at);
      assert.match(text, /"status":"(completed|failed)"/);
      return text;
    });
  const answers = (): string => {
    try {
      return readFileSync(`${out}/answers`, 'utf8');
    } catch {
      return '';
    }
  };
  return { daemon, workspace, call, made, proof, attack, work, ended, answers, out };
};

const own = (path: string, uid: number): void => {
  // git refuses a repository of somebody else's.
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  execFileSync('chown', ['-R', `${uid}:${uid}`, path]);
};

const users = [
  { who: 'the user who runs the tests', uid: undefined, skip: noAttacker },
  { who: 'a user without rights', uid: NOBODY, skip: noAttacker || (!isRoot && 'needs root') },
];

for (const { who, uid, skip } of users)
  describe(`a run without a sandbox, as ${who}`, { skip }, () => {
    it('is refused, whatever it does to hide', async (t) => {
      const it = await start(t, uid);
      const at = await it.work([...TRICKS.map((trick) => it.attack(trick)), 'sleep 0']);
      const told = await it.ended(at);
      assert.match(told, /"status":"completed"/);
      assert.deepEqual(
        it.answers().trim().split('\n').toSorted(),
        TRICKS.map((trick) => `${trick} 403 not_operator`).toSorted(),
      );
      assert.match((await it.call('GET', it.proof)).text, /"verified":false/);
      assert.equal((await it.call('PUT', `${it.proof}/verify`)).status, 200);
    });

    it('does nothing by a call that it hangs up on', async (t) => {
      const it = await start(t, uid);
      const calls = Array.from({ length: 20 }, () => it.attack('hang_up'));
      await it.ended(await it.work(calls));
      assert.match((await it.call('GET', it.proof)).text, /"verified":false/);
    });

    it('leaves the operator’s own calls alone', async (t) => {
      const it = await start(t, uid);
      const at = await it.work([`while [ ! -e ${it.out}/done ]; do sleep 0.1; done`]);
      assert.equal((await it.call('GET', '/cases')).status, 200);
      writeFileSync(`${it.out}/done`, '');
      await it.ended(at);
    });

    it('is refused by another daemon of the same user, too', async (t) => {
      const one = await start(t, uid);
      const other = await start(t, uid);
      const { hostname, port } = new URL(other.daemon.url);
      const target = { hostname, port, path: `${other.proof}/verify` };
      await one.ended(await one.work(TRICKS.map((trick) => one.attack(trick, target))));
      assert.deepEqual(
        one.answers().trim().split('\n').toSorted(),
        TRICKS.map((trick) => `${trick} 403 not_operator`).toSorted(),
      );
      assert.equal((await other.call('PUT', `${other.proof}/verify`)).status, 200);
    });
  });
