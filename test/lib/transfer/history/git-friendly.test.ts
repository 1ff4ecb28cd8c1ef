import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sweepWorkspace } from '../../../../store/reconcile/sweep.ts';
import type { Case } from '../../../../store/records/case.ts';
import { makeWorkspaceFiles } from '../../../../store/workspace/workspace-files.ts';
import { DOSSIER } from '../../../helpers/daemon.ts';
import { asyncGit } from '../../../helpers/git-workspace.ts';
import { openReceiver } from '../../../helpers/receiver.ts';
import { type Machine, newItem, twoMachines, workOn } from '../../../helpers/two-machines.ts';

/** A workspace in which everything that the API has was used, all of it uncommitted. */
const lived = async (t: TestContext) => {
  const [machine] = await twoMachines(t);
  const { send, call, workspace } = machine;
  const receiver = await openReceiver(t);
  const events = ['case_updated', 'proof_created'];
  const given = await send<{ id: string; secret: string }>('POST', '/webhooks', {
    ...{ url: receiver.url, events, secret: 'a secret of the operator' },
  });
  const made = await send<{ id: string; secret: string }>('POST', '/webhooks', {
    url: receiver.url,
  });
  const item = await newItem(machine, 'With secrets');
  const at = `/cases/${item.id}`;
  const ofCase = await send<{ secret: string }>('POST', `${at}/webhooks`, { url: receiver.url });
  await call('PUT', `${at}/memory/notes.md`, '# Notes\n');
  await send('POST', `${at}/proof/checklist`, { description: 'a', type: 'log', required: true });
  await send('PUT', at, { title: 'Renamed' });
  await workOn(machine, item);
  await send('POST', `${at}/proof`, { type: 'note', content: 'Looked at.' });
  const held = await send<{ token: string }>('POST', `/api/worktrees/${item.id}/lock`, {});
  await receiver.atLeast(6);
  const [delivery] = await send<{ id: string }[]>('GET', `/webhooks/${made.id}/deliveries`);
  await send('POST', `/webhooks/${made.id}/deliveries/${delivery?.id}/redeliver`);
  const kept = readdirSync(join(workspace, '.dossier/secrets'));
  assert.equal(kept.length, 3);
  const secrets = [given, made, ofCase].map(({ secret }) => secret);
  return { machine, item, secrets: [...secrets, held.token, held.token.slice(0, 12)] };
};

/** Asserts that neither a file that git knows of, nor any object that it has, of any commit, says a secret. */
const assertKeepsNothing = ({ workspace }: Machine, secrets: string[]): void => {
  const env = { PATH: process.env.PATH, HOME: workspace };
  const input = { cwd: workspace, encoding: 'utf8', env, maxBuffer: 2 ** 28 } as const;
  const names = execFileSync('git', ['ls-files'], input);
  assert.doesNotMatch(names, /^(\.dossier|.*\/lock\.md)/m);
  const kept = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch'], input);
  assert.ok(kept.includes('Renamed'), 'the search finds what is there');
  for (const secret of secrets) assert.equal(kept.includes(secret), false, secret);
};

describe('git add --all', () => {
  it('reaches no secret and no token, and without a .gitignore neither', async (t) => {
    const { machine, item, secrets } = await lived(t);
    await machine.git('add', '--all');
    assertKeepsNothing(machine, secrets);
    await machine.git('commit', '--quiet', '--message', 'all of it');
    assertKeepsNothing(machine, secrets);
    await machine.send('DELETE', `/api/worktrees/${item.id}/lock`);
    rmSync(join(machine.workspace, '.gitignore'));
    await machine.git('add', '--all', '.');
    assertKeepsNothing(machine, secrets);
  });
});

/** What git sees of a workspace in which nothing was meant to change. */
const assertSame = async ({ git }: Machine, why: string): Promise<void> =>
  assert.equal(await git('status', '--porcelain'), '', why);

/** A value that changes is a line that changes. */
const assertOneLine = async ({ git, send, committed }: Machine, item: Case): Promise<void> => {
  const at = `/cases/${item.id}`;
  await send('PUT', at, { title: 'Renamed again' });
  const changed = async (): Promise<string> => (await git('diff', '--numstat')).trim();
  assert.equal(await changed(), `1\t1\t${item.path}/case.md`);
  await send('PUT', `${at}/state`, { state: 'INVESTIGATING' });
  assert.equal(await changed(), `2\t2\t${item.path}/case.md`);
  await committed();
};

describe('the files of a workspace', () => {
  it('do not change when nothing does, and in one line when one value does', async (t) => {
    const { machine, item } = await lived(t);
    const { git, send, call, running, workspace } = machine;
    const at = `/cases/${item.id}`;
    await send('DELETE', `/api/worktrees/${item.id}/lock`);
    await machine.committed();
    await send('PUT', at, {
      title: 'Renamed',
      description: (await send<typeof item>('GET', at)).description,
    });
    await call('PUT', `${at}/memory/notes.md`, '# Notes\n');
    const { state } = await send<typeof item>('GET', at);
    await send('PUT', `${at}/state`, { state });
    await assertSame(machine, 'written once more');
    await sweepWorkspace(running.service.store);
    await assertSame(machine, 'swept');
    await running.restart();
    await assertSame(machine, 'restarted');
    await assertOneLine(machine, item);
    await running.stop();
    await makeWorkspaceFiles(running.service.store.layout);
    execFileSync(process.execPath, [DOSSIER, 'doctor', '--workspace', workspace], {
      env: { ...process.env, DOSSIER_REPO: running.repository.root },
    });
    await assertSame(machine, 'examined');
    assert.equal(await git('stash', 'list'), '');
  });

  it('keep their bytes where git likes other line ends', async (t) => {
    const [one, two] = await twoMachines(t);
    const { git, send, workspace } = one;
    await git('config', 'core.autocrlf', 'true');
    const item = await newItem(one, 'With line ends');
    const path = `${item.path}/memory/windows.md`;
    await one.call('PUT', `/cases/${item.id}/memory/windows.md`, 'one\r\ntwo\n');
    await one.committed();
    await git('push', '--quiet');
    await two.git('config', 'core.autocrlf', 'true');
    await two.git('pull', '--quiet');
    const bytes = readFileSync(join(workspace, path));
    assert.deepEqual(readFileSync(join(two.workspace, path)), bytes);
    assert.deepEqual(
      readFileSync(join(two.workspace, item.path, 'case.md')),
      readFileSync(join(workspace, item.path, 'case.md')),
    );
    assert.equal((await send<typeof item>('GET', `/cases/${item.id}`)).title, 'With line ends');
  });

  it('that the daemon writes as a whole are the one or the other after a conflict', async (t) => {
    const [{ git, workspace, committed }] = await twoMachines(t);
    const path = join(workspace, 'cases/a/sessions/b/events.ndjson');
    await git('checkout', '--quiet', '-b', 'other');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '{"id":1,"event":"theirs"}\n');
    await committed();
    await git('checkout', '--quiet', 'main');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '{"id":1,"event":"ours"}\n');
    await committed();
    await assert.rejects(git('merge', '--quiet', 'other'));
    assert.equal(readFileSync(path, 'utf8'), '{"id":1,"event":"ours"}\n');
    await asyncGit(workspace)('checkout', '--theirs', '--', path);
    assert.equal(readFileSync(path, 'utf8'), '{"id":1,"event":"theirs"}\n');
  });
});
