/** session.md as somebody finds it long after, whatever way the session ended. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import { layoutOf } from '../../store/layout.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const HALF = '```sh\necho half > half.txt\n```\n\n```sh\ntest -e go || sleep 300\n```\n';

const atWork = async (t: TestContext): Promise<SessionTest & { id: string }> => {
  const it = await withCase(t, HALF);
  const { id } = await it.planned();
  await it.post(`/sessions/${id}/approve`);
  await eventually(async () => {
    const calls = (await it.eventsOf(id)).filter(({ event }) => event === 'tool_call');
    assert.match(String(calls.at(-1)?.data.title), /sleep/);
  });
  return Object.assign(it, { id });
};

const recordOf = ({ running, item }: SessionTest) => {
  const dir = newestSession(running, item);
  const read = (name: string): string =>
    existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : '';
  const [, , body = ''] = read('session.md').split(/^---$/m);
  return { body, patch: read('diff.patch'), matter: read('session.md') };
};

const DONE = /1 file, \+1 −0: see \[diff\.patch\][\s\S]*added {4}half\.txt {2}\+1 −0/;

describe('the record of a session', () => {
  it('that is paused, interrupted, resumed and aborted has its partial work each time', async (t) => {
    const it = await atWork(t);
    await it.control('pause');
    assert.match(recordOf(it).body, /^Paused in Work mode at/m);
    assert.match(recordOf(it).body, DONE);
    assert.match(recordOf(it).patch, /^\+half$/m);
    await it.control('resume');
    await it.until(it.id, 'working');
    const behind = await it.running.call('GET', `${it.at}/sessions/${it.id}/diff`);
    assert.equal(behind.status, 404);
    await it.running.restart();
    await it.until(it.id, 'paused');
    assert.match(recordOf(it).body, /The daemon stopped while the session was running/);
    assert.match(recordOf(it).body, DONE);
    await it.control('abort');
    const { body, patch } = recordOf(it);
    assert.match(body, /^Aborted by the operator in Work mode at/m);
    assert.match(body, DONE);
    assert.match(body, /## Commands run\n\n```text\n.*half\.txt {2}completed/);
    assert.equal((await it.running.call('GET', `${it.at}/sessions/${it.id}/diff`)).text, patch);
  });

  it('says so when the worktree was taken away', async (t) => {
    const it = await atWork(t);
    await it.control('pause');
    const tree = join(it.running.workspace, '.dossier/worktrees', basename(it.item.path));
    it.running.repository.git('worktree', 'remove', '--force', '--force', tree);
    assert.equal((await it.control('abort')).status, 200);
    assert.match(recordOf(it).body, /It can no longer be determined:\n\n```text\n.* is missing\./);
    assert.match(recordOf(it).patch, /^\+half$/m);
  });

  it('that was never approved says what was planned, and that nothing was executed', async (t) => {
    const it = await withCase(t, HALF);
    await it.planned();
    await it.control('abort');
    const { body, patch } = recordOf(it);
    assert.match(body, /^Aborted by the operator in Plan mode .* Nothing was executed\.$/m);
    assert.match(body, /by runbook\. It was not approved\./);
    assert.equal(patch, '');
  });

  it('goes with its Work item, with what of it is kept outside of git', async (t) => {
    const it = await withCase(t, HALF);
    const { id } = await it.planned();
    await it.control('abort');
    const other = randomUUID();
    const fileOf = (session: string): string =>
      join(it.running.workspace, '.dossier/transcripts', `${session}.ndjson`);
    mkdirSync(dirname(fileOf(id)), { recursive: true });
    for (const session of [id, other]) writeFileSync(fileOf(session), '');
    const answer = await it.running.call('DELETE', it.at);
    assert.equal(answer.status, 204, answer.text);
    assert.deepEqual([existsSync(fileOf(id)), existsSync(fileOf(other))], [false, true]);
  });

  it('that failed while it planned has the reason', async (t) => {
    const options = withAgent(t, 'error');
    mkdirSync(join(options.env?.HOME ?? '', '.test-agent'));
    const it = await withCase(t, 'Change a.txt.', options);
    const { id } = await it.start();
    await it.until(id, 'failed');
    const { body } = recordOf(it);
    assert.match(body, /^Failed in Plan mode at .*\n\n```text\n.*holiday/m);
    assert.match(body, /There is no plan yet of agent\./);
  });
});

describe('the record of a session whose agent or program prints an unresolved merge', () => {
  const MERGE = '<<<<<<< HEAD\\na\\n=======\\nb\\n>>>>>>> topic\\n';
  const approved = async (it: SessionTest, status: string): Promise<string> => {
    const { id } = await it.worked(status);
    return id;
  };
  const assertReadable = async (it: SessionTest, id: string, names: readonly string[]) => {
    const one = `${it.at}/sessions/${id}`;
    for (const name of ['', ...names])
      assert.equal((await it.running.call('GET', `${one}${name}`)).status, 200, name);
    const { body } = await it.running.call<Session[]>('GET', `${it.at}/sessions`);
    assert.deepEqual(
      body.map((each) => each.id),
      [id],
    );
    assert.match(recordOf(it).body, /^ <<<<<<< HEAD$/m);
    const checked = await checkWorkspace(layoutOf(it.running.workspace), async () => []);
    const findings = checked.findings.filter(({ severity }) => severity === 'error');
    assert.deepEqual(findings, []);
  };

  it('can be read after a runbook that fails with one', async (t) => {
    const it = await withCase(t, `\`\`\`sh\nprintf '${MERGE}'; exit 1\n\`\`\`\n`);
    await assertReadable(it, await approved(it, 'failed'), ['/plan', '/diff']);
  });

  it('can be read after an agent that has one in its plan, its command and its words', async (t) => {
    const it = await withCase(t, 'Do it.', withAgent(t, 'markers'));
    const id = await approved(it, 'completed');
    await assertReadable(it, id, ['/plan', '/diff']);
    const plan = await it.running.call('GET', `${it.at}/sessions/${id}/plan`);
    assert.match(
      plan.text,
      /^ <<<<<<< HEAD\na\n\|\|\|\|\|\|\| base\nb\n =======\nc\n >>>>>>> topic$/m,
    );
  });

  it('still says so of one that somebody left in plan.md', async (t) => {
    const it = await withCase(t);
    await it.planned();
    writeFileSync(
      join(newestSession(it.running, it.item), 'plan.md'),
      MERGE.replaceAll('\\n', '\n'),
    );
    const checked = await checkWorkspace(layoutOf(it.running.workspace), async () => []);
    const findings = checked.findings.filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      findings.map(({ code, file }) => [code, basename(file)]),
      [['conflict_markers', 'plan.md']],
    );
  });
});
