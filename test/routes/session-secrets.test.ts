/** New files that are named like secrets stay in the worktree: no file of the workspace has their content. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Recovery } from '../../store/records/recovery.ts';
import type { Session } from '../../store/records/session.ts';
import { writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withCase, withScript } from '../helpers/sessions.ts';

const sh = (...lines: string[]): string => `\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;

const SECRET = 'hunter2';

const pathOf = async ({ running, item }: SessionTest): Promise<string> =>
  (await running.call<{ path: string }>('GET', `/api/cases/${item.id}/worktree`)).body.path;

/** One whole session. `before` is what the operator does in its worktree before they approve. */
const worked = async (it: SessionTest, before?: (path: string) => void): Promise<Session> => {
  const { id } = await it.start();
  await it.until(id, 'plan_ready');
  before?.(await pathOf(it));
  await it.post(`/sessions/${id}/approve`);
  return it.until(id, 'completed');
};

const fileOf = ({ running, item }: SessionTest, name: string): string =>
  readFileSync(join(newestSession(running, item), name), 'utf8');

/** The patches of a Work item that have the secret. */
const leaksOf = ({ running, item }: SessionTest): string[] =>
  readdirSync(join(running.workspace, item.path), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.patch$/.test(name))
    .filter((name) => readFileSync(join(running.workspace, item.path, name)).includes(SECRET));

describe('a new file that is named like a secret', () => {
  it('is named in the summary and the stream, and its content is in the worktree alone', async (t) => {
    const it = await withCase(t, sh(`echo ${SECRET} > .env`, 'echo b > b.txt; git add .env'));
    const { id } = await worked(it);
    assert.deepEqual(leaksOf(it), []);
    assert.match(fileOf(it, 'diff.patch'), /^diff --git a\/b\.txt b\/b\.txt$/m);
    const summary = fileOf(it, 'session.md');
    assert.match(summary, /^added {4}\.env {2}\+1 −0$/m);
    assert.match(summary, /only in the worktree \(new .*\):\n\n```text\n\.env\n```/);
    const told = (await it.eventsOf(id)).filter(({ event }) => event === 'error');
    assert.match(
      String(told[0]?.data.message),
      /secrets or were copied from your checkout: \.env\. They exist only in the worktree/,
    );
    assert.equal(readFileSync(join(await pathOf(it), '.env'), 'utf8'), `${SECRET}\n`);
  });

  it('is a change: of a turn, of the diff of a proof, and before the approval', async (t) => {
    const it = await withCase(t, sh('echo more >> .env'));
    const { status } = await worked(it, (path) => writeFiles(path, { '.env': `${SECRET}\n` }));
    assert.equal(status, 'completed');
    // A change of a file from before has its former content, which nothing else keeps.
    assert.deepEqual(
      leaksOf(it).map((name) => basename(name)),
      ['since-approval.patch'],
    );
    const proof = await it.post('/proof', { type: 'note', content: 'It works' });
    assert.match(String((proof.body as { diff_sha256?: string }).diff_sha256), /^[0-9a-f]{64}$/);
  });

  it('stays shown where it is deleted, renamed, tracked, or where a program runs it', async (t) => {
    const files = { 'a.txt': 'one\n', 'old.txt': `${'line\n'.repeat(20)}`, 'server.key': 'k\n' };
    const lines = [
      'mv old.txt old.pem; git rm -q --cached server.key; echo changed > server.key',
      'echo x > .envrc; rm -f mine.env',
    ];
    const it = await withCase(t, sh(...lines), { files });
    await worked(it, (path) => writeFiles(path, { 'mine.env': `${SECRET}\n` }));
    const patch = fileOf(it, 'diff.patch');
    const heads = patch.match(/^diff --git .*\n(?:deleted|new|index|similarity).*$/gm) ?? [];
    assert.deepEqual(
      heads.map((head) => head.replace(/diff --git a\/(\S+) .*\n(\w+).*/, '$1 $2')),
      ['.envrc new', 'old.txt deleted', 'server.key index'],
    );
    // The ref of the start of work has it only until other work starts.
    assert.match(fileOf(it, 'since-approval.patch'), /^deleted file.*\n.*\n.*a\/mine\.env/m);
    assert.match(fileOf(it, 'session.md'), /^mine\.env$/m);
    assert.match(
      fileOf(it, 'session.md'),
      /secrets, or were copied[^\n]*\):\n\n```text\nold\.pem\n```/,
    );
  });

  it('is under the ref of a removed worktree, which the recovered patch names', async (t) => {
    const it = await withCase(t, sh(`mkdir -p k; echo ${SECRET} > k/id_rsa; echo b > b.txt`));
    await worked(it);
    const { running, item } = it;
    const at = `/api/cases/${item.id}/worktree`;
    assert.equal((await running.call('DELETE', `${at}?force=true`)).status, 204);
    assert.deepEqual(leaksOf(it), []);
    const recoveries = `/api/worktrees/${item.id}/recoveries`;
    const [one] = (await running.call<Recovery[]>('GET', recoveries)).body;
    const patch = readFileSync(join(running.workspace, one?.patch ?? ''), 'utf8');
    assert.match(patch, /^Only there, because .* secrets or .*: k\/id_rsa$/m);
    assert.match(patch, /^diff --git a\/b\.txt b\/b\.txt$/m);
    assert.equal((await running.call('POST', `${recoveries}/${one?.id}/restore`)).status, 201);
    assert.equal(readFileSync(join(await pathOf(it), 'k/id_rsa'), 'utf8'), `${SECRET}\n`);
  });

  it('is under the ref of what a Plan turn changed, and not in its patch', async (t) => {
    const plan = `echo ${SECRET} > .env; echo b > b.txt`;
    const it = await withCase(t, 'Meddle.', withScript(t, { plan }));
    const { id } = await it.start();
    const { error } = await it.until(id, 'failed');
    assert.deepEqual(leaksOf(it), []);
    assert.match(fileOf(it, 'plan-mode-violation.patch'), /^diff --git a\/b\.txt b\/b\.txt$/m);
    const [ref = ''] = /refs\/dossier\/undone\/\S+/.exec(error ?? '') ?? [];
    const kept = it.running.repository.git('show', `${ref}:files/.env`);
    assert.equal(kept, `${SECRET}\n`);
  });
});
