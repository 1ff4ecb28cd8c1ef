import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { getWorktree } from '../../../../lib/code/worktrees/read.ts';
import { openTurn } from '../../../../lib/code/worktrees/turn/open.ts';
import { diffOf } from '../../../../lib/work/sessions/turns/wrap-up.ts';
import { savePullDraft } from '../../../../store/codehost/pulls.ts';
import { patchesFile } from '../../../../store/layout.ts';
import type { Session } from '../../../../store/records/session.ts';
import { sessionDirOf, sessionsOf } from '../../../../store/sessions/sessions.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { NOBODY } from '../../../helpers/nobody.ts';
import { writeFiles } from '../../../helpers/repository.ts';
import { newestSession } from '../../../helpers/service.ts';
import type { Problem } from '../../../helpers/sessions.ts';
import { forgetAnswer } from '../../../helpers/unanswered.ts';
import { assertProblem, sha256 } from '../../../helpers/work-item.ts';
import { openedScene, type PullScene, pullScene } from './fixture.ts';

const lastCommit = ({ git }: PullScene): string[] =>
  git('log', '-1', '--format=%an%n%s%n%b').trim().split('\n');

/** The session that ran a script, after its plan was approved. */
const completed = async (
  { running, item }: PullScene,
  script: string,
  planned: () => Promise<unknown> = async () => undefined,
): Promise<Session> => {
  await running.call('PUT', `/cases/${item.id}`, {
    description: `\`\`\`sh\n${script}\n\`\`\`\n`,
  });
  const made = await running.call<Session>('POST', `/cases/${item.id}/sessions`, { type: 'fix' });
  const at = `/cases/${item.id}/sessions/${made.body.id}`;
  const reach = (status: string) =>
    eventually(async () => {
      const { body } = await running.call<Session>('GET', at);
      assert.equal(body.status, status);
      return body;
    });
  await reach('plan_ready');
  await planned();
  await running.call('POST', `${at}/approve`);
  return reach('completed');
};

describe('POST /api/cases/{id}/pr/create', () => {
  it('pushes the branch and opens a draft of it, which is recorded', async (t) => {
    const scene = await pullScene(t);
    const { host, worktree, post, get, read } = scene;
    const main = await host.repositories.headOf('main');
    const head = scene.work();
    const made = await post('create', { labels: ['bug'] });
    assert.equal(made.status, 201, made.text);
    const { number, state, base_ref, title, labels } = made.body;
    assert.equal(made.headers.location, `/api/cases/${scene.item.id}/pr`);
    assert.deepEqual([state, base_ref, title, labels], ['draft', 'main', 'Round half up', ['bug']]);
    assert.equal(await host.repositories.headOf(worktree.branch), head);
    assert.equal(await host.repositories.headOf('main'), main);
    const there = await host.pulls.read(number);
    assert.deepEqual([there.title, there.body, there.draft], [title, made.body.body, true]);
    assert.match(there.body ?? '', /## What was asked\n\n> The tax is off by one\./);
    const { adopted, committed, left_out, warnings, ...record } = made.body;
    assert.deepEqual([adopted, committed, left_out, warnings], [false, null, [], []]);
    // What an approval of its next body is held against.
    assert.equal(made.body.published_sha256, sha256(made.body.body));
    assert.deepEqual((await get('')).body, record);
    assert.match(read('pr/pr.md'), new RegExp(`^number: ${number}$`, 'm'));
    assert.match(read('pr/timeline.ndjson'), /"event":"opened","from":"none","to":"draft"/);
  });

  it('answers as the first would have when the daemon died before it had answered', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    const send = () =>
      scene.running.call('POST', `/api/cases/${scene.item.id}/pr/create`, {}, headers);
    const first = await send();
    assert.equal(first.status, 201, first.text);
    forgetAnswer(scene.running.workspace, 'k');
    const again = await send();
    assert.deepEqual([again.status, again.body], [201, first.body], again.text);
  });

  it('commits what the completed session left, as the operator, and runs no hook', async (t) => {
    const scene = await pullScene(t, { settings: 'worktrees:\n  commit: never' });
    const { running, item, worktree, git } = scene;
    writeFiles(running.repository.root, {
      '.git/hooks/pre-commit': '#!/bin/sh\nexit 1\n',
    });
    const { id } = await completed(
      scene,
      'printf "one\\n" > "a b.txt"\nmkdir -p deep && printf x > deep/new.txt',
      async () => assertProblem(await scene.post('create'), 409, 'session_active'),
    );
    assert.notEqual(git('status', '--porcelain'), '');
    const opened = await scene.post('create');
    assert.equal(opened.status, 201, opened.text);
    assert.equal(opened.body.committed?.files, 2);
    assert.equal(git('status', '--porcelain'), '');
    const [author, subject, ...body] = lastCommit(scene);
    assert.deepEqual([author, subject], ['Test Operator', 'Round half up']);
    assert.match(body.join('\n'), new RegExp(`Work item: ${item.id}\nSession: ${id}`));
    assert.equal(readFileSync(join(worktree.path, 'a b.txt'), 'utf8'), 'one\n');
    assert.match(opened.body.body, /\*\*fix\*\* by runbook/);
  });

  it('commits and pushes no file named like one with secrets unless it is told to', async (t) => {
    const scene = await pullScene(t, {});
    const session = await completed(scene, 'printf TOKEN > .env; printf x > new.txt');
    const made = await scene.post('create');
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(
      [made.body.committed, scene.git('status', '--porcelain')],
      [null, '?? .env\n'],
    );
    assert.deepEqual(made.body.left_out, [{ path: '.env', why: 'secret' }]);
    assert.equal(session.commit?.files, 1);
    const pushed = await scene.post('push');
    assert.deepEqual([pushed.body.committed, pushed.body.left_out], [null, made.body.left_out]);
    const told = await scene.post('push', { changes: 'commit' });
    assert.deepEqual([told.body.committed?.files, told.body.left_out], [1, []]);
  });

  it('takes the result of a session that an earlier version recorded with such a file', async (t) => {
    const scene = await pullScene(t, { settings: 'worktrees:\n  commit: never' });
    const { running, item } = scene;
    await completed(scene, 'printf TOKEN > .env; printf x > new.txt');
    const { store } = running.service;
    const [stored] = sessionsOf(store, item.id) ?? [];
    assert.ok(stored);
    const { patch } = await diffOf(running.service, stored);
    assert.match(patch.toString(), /TOKEN/);
    writeFileSync(join(sessionDirOf(store, stored), 'diff.patch'), patch);
    rmSync(patchesFile(store.layout, stored.session.id));
    const made = await scene.post('create');
    assert.deepEqual([made.status, made.body.committed?.files], [201, 1], made.text);
    assert.deepEqual(made.body.left_out, [{ path: '.env', why: 'secret' }]);
  });

  it('commits no staged file named like one with secrets, which stays staged', async (t) => {
    const scene = await pullScene(t, { settings: 'worktrees:\n  commit: never' });
    await completed(scene, 'printf TOKEN > .env; printf x > new.txt; git add -A');
    const made = await scene.post('create');
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.body.left_out, [{ path: '.env', why: 'secret' }]);
    assert.equal(scene.git('show', '--format=', '--name-only', 'HEAD'), 'new.txt\n');
    assert.equal(scene.git('status', '--porcelain'), 'A  .env\n');
    const told = await scene.post('push', { changes: 'commit' });
    assert.deepEqual([told.body.committed?.files, told.body.left_out], [1, []]);
  });

  it('asks before it commits what was there before the approval, and takes each session by its own', async (t) => {
    const scene = await pullScene(t, { settings: 'worktrees:\n  commit: never' });
    await completed(scene, 'printf 1 > "first \u00e9.txt"; printf x > both.txt');
    writeFiles(scene.worktree.path, { 'private.txt': 'mine\n', 'README.md': 'mine\n' });
    writeFiles(scene.worktree.path, { '.env': 'mine\n' });
    await completed(scene, 'printf 2 > second.txt; printf y > both.txt');
    const refused = await scene.post('create');
    assertProblem(refused, 409, 'uncommitted_changes');
    assert.deepEqual(refused.body.files.toSorted(), ['README.md', 'private.txt']);
    rmSync(join(scene.worktree.path, 'private.txt'));
    scene.git('checkout', '-q', 'README.md');
    await completed(scene, 'printf 3 > third.txt');
    const made = await scene.post('create');
    assert.equal(made.status, 201, made.text);
    assert.equal(made.body.committed?.files, 4);
    assert.deepEqual(made.body.left_out, [{ path: '.env', why: 'secret' }]);
  });

  it('asks before it commits what patches that it did not write call the work of a session', async (t) => {
    const scene = await pullScene(t, { settings: 'worktrees:\n  commit: never' });
    writeFiles(scene.worktree.path, { 'private.txt': 'mine\n' });
    await completed(scene, 'printf 1 > first.txt');
    rmSync(join(newestSession(scene.running, scene.item), 'since-approval.patch'));
    assertProblem(await scene.post('create'), 409, 'uncommitted_changes');
    assert.equal(scene.git('status', '--porcelain'), '?? first.txt\n?? private.txt\n');
  });

  it('asks before it commits what was left in the worktree before the session', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    writeFiles(scene.worktree.path, { 'leftover.txt': 'half\n' });
    await completed(scene, 'printf 2 > second.txt');
    const refused = await scene.post('create');
    assertProblem(refused, 409, 'uncommitted_changes');
    assert.deepEqual(refused.body.files, ['leftover.txt']);
    assert.equal((await scene.post('create', { changes: 'leave' })).status, 201);
    assert.equal(scene.git('status', '--porcelain'), '?? leftover.txt\n');
  });

  it('warns of files in its commits that are named like secrets', async (t) => {
    const scene = await pullScene(t);
    scene.work({ 'x/prod.env': 'T\n', 'x/.env.example': 'T\n' });
    const { status, body, text } = await scene.post('create');
    assert.equal(status, 201, text);
    assert.match(body.warnings.join(), /^Its commits add files .*: x\/prod\.env\.$/);
  });

  it('warns of files whose content git-lfs would have uploaded, with the command', async (t) => {
    const scene = await pullScene(t);
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'1'.repeat(64)}\nsize 9\n`;
    scene.work({ '.gitattributes': '*.bin filter=lfs\n', 'big.bin': pointer, 'other.txt': 'o\n' });
    const { status, body, text } = await scene.post('create');
    assert.equal(status, 201, text);
    const { path, branch } = scene.worktree;
    assert.deepEqual(body.warnings, [
      `The content of its LFS files is not uploaded: big.bin. Run: git -C ${path} lfs push --all origin ${branch}`,
    ]);
  });

  it('asks before it commits what no session left', async (t) => {
    const scene = await pullScene(t);
    const head = scene.work();
    writeFiles(scene.worktree.path, { 'by-hand.txt': 'mine\n' });
    const refused = await scene.post('create');
    assertProblem(refused, 409, 'uncommitted_changes');
    assert.deepEqual(refused.body.files, ['by-hand.txt']);
    assert.equal(await scene.host.repositories.headOf(scene.worktree.branch), undefined);
    const made = await scene.post('create', { changes: 'leave' });
    assert.deepEqual([made.status, made.body.head_sha], [201, head], made.text);
    const pushed = await scene.post('push', { changes: 'commit' });
    assert.deepEqual([pushed.status, pushed.body.committed?.files], [200, 1], pushed.text);
    assert.equal(scene.git('status', '--porcelain'), '');
  });

  it('says what the draft says, as the operator has edited it', async (t) => {
    const scene = await pullScene(t);
    const { store } = scene.running.service;
    const matter = { title: 'Composed', composed_sha256: sha256('Composed.\n') };
    await savePullDraft(store, scene.item.id, { matter, body: 'Composed.\n' });
    const draft = () => scene.get<{ title: string; body: string; edited: boolean }>('draft');
    assert.equal((await draft()).body.edited, false);
    const path = join(scene.running.workspace, scene.item.path);
    writeFiles(path, { 'pr/draft.md': scene.read('pr/draft.md').replace('Composed.', 'By hand.') });
    assert.equal((await draft()).body.edited, true);
    scene.work();
    const made = await scene.post('create');
    assert.deepEqual([made.body.title, made.body.body], ['Composed', 'By hand.\n'], made.text);
    writeFiles(path, { 'pr/draft.md': 'no record' });
    assertProblem(await draft(), 409, 'unreadable_record');
  });

  it('makes one of two that come at once', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    const answers = await Promise.all([scene.post('create'), scene.post('create')]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409]);
    const refused = answers.find(({ status }) => status === 409);
    assertProblem(refused as (typeof answers)[0], 409, 'already_exists');
    assert.equal((await scene.host.pulls.list()).length, 1);
  });

  it('adopts an open one of the branch as it is, with what has happened to it', async (t) => {
    const scene = await pullScene(t);
    const { host, worktree, git } = scene;
    scene.work();
    git('push', '--quiet', host.repository.root, `HEAD:refs/heads/${worktree.branch}`);
    const theirs = { title: 'By hand', body: 'Mine.\r\nAll of it.', draft: true };
    const { number } = await host.pulls.open(worktree.branch, theirs);
    await host.pulls.ready(number);
    const made = await scene.post('create', { title: 'Mine', labels: ['bug'] });
    assert.equal(made.status, 201, made.text);
    const { adopted, title, body, state, labels, warnings } = made.body;
    assert.deepEqual([adopted, title, body, state], [true, 'By hand', theirs.body, 'open']);
    assert.deepEqual([labels, warnings], [[], ['Its title stays: By hand']]);
    assert.deepEqual(host.writes(), []);
    const ways = (await scene.get<{ from: string; to: string }[]>('state-timeline')).body;
    assert.deepEqual(
      ways.map(({ from, to }) => `${from} ${to}`),
      ['none draft', 'draft open'],
    );
  });

  for (const { wanted, isAdopted, base } of [
    { wanted: {}, isAdopted: true, base: 'release' },
    { wanted: { base: 'release' }, isAdopted: true, base: 'release' },
    { wanted: { base: 'main' }, isAdopted: false, base: 'main' },
  ])
    it(`adopts an open one into another base unless the base is named (${JSON.stringify(wanted)})`, async (t) => {
      const scene = await pullScene(t);
      const { host, worktree, git } = scene;
      scene.work();
      git('push', '--quiet', host.repository.root, `HEAD:refs/heads/${worktree.branch}`);
      await host.repositories.push({ branch: 'release', files: { 'release.ts': '1\n' } });
      const { number } = await host.pulls.open(worktree.branch);
      await host.pulls.edit(number, { base: 'release' });
      const made = await scene.post('create', wanted);
      assert.deepEqual(
        [made.status, made.body.adopted, made.body.base_ref, made.body.number === number],
        [201, isAdopted, base, isAdopted],
        made.text,
      );
    });

  it('warns of commits below its base that the remote did not have', async (t) => {
    const scene = await pullScene(t, {
      cloned: (host) => {
        const clone = host.repositories.clone();
        for (const name of ['older', 'private']) {
          writeFiles(clone.root, { [`${name}.txt`]: 'mine\n' });
          clone.git('add', '--all');
          clone.git('commit', '--quiet', '--message', `Add ${name}`);
        }
        return clone;
      },
    });
    scene.work();
    const made = await scene.post('create');
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.body.warnings, [
      'It includes 2 commits from before this work that were on no branch of origin as last fetched: Add private, Add older',
    ]);
  });

  it('says what is in the way, and proposes nothing', async (t) => {
    const scene = await pullScene(t);
    const nothing = await scene.post('create');
    assertProblem(nothing, 422, 'invalid_state');
    assert.match(nothing.body.detail, /nothing to propose/);
    scene.work();
    const onto = await scene.post('create', { base: scene.worktree.branch });
    assertProblem(onto, 422, 'invalid_state');
    assert.match(onto.body.detail, /never pushed to/);
    assert.equal(await scene.host.repositories.headOf(scene.worktree.branch), undefined);
    assertProblem(await scene.post('create', { state: 'open' }), 400, 'bad_request', '/state');
    const other = await scene.running.call('POST', `/api/cases/${crypto.randomUUID()}/pr/create`);
    assertProblem(other, 404, 'not_found');
    const bare = await scene.running.call<{ id: string }>('POST', '/cases', {
      title: 'No worktree',
      type: 'bug',
    });
    assertProblem(
      await scene.running.call('POST', `/api/cases/${bare.body.id}/pr/create`),
      404,
      'not_found',
    );
    assert.deepEqual(scene.host.writes(), []);
  });
});

describe('a pull request from a fork', () => {
  const forked = (t: TestContext): Promise<PullScene> =>
    pullScene(t, {
      cloned: async (host) => {
        await host.repositories.fork('operator');
        const made = host.repositories.clone({ repository: 'operator/app' });
        made.git('remote', 'add', 'upstream', 'https://github.com/acme/app.git');
        return made;
      },
    });

  it('is opened only where somebody said which repository is meant', async (t) => {
    const scene = await forked(t);
    const head = scene.work();
    const refused = await scene.post<{ base: string; push: string }>('create');
    assertProblem(refused, 409, 'codehost_ambiguous');
    assert.deepEqual([refused.body.base, refused.body.push], ['acme/app', 'operator/app']);
    assert.deepEqual(scene.host.writes(), []);
    assertProblem(await scene.post('create', { repository: 'acme/other' }), 422, 'invalid_state');
    const made = await scene.post('create', { repository: 'acme/app' });
    assert.equal(made.status, 201, made.text);
    const there = await scene.host.pulls.read(made.body.number);
    assert.deepEqual(
      [there.head.label, there.head.sha],
      [`operator:${scene.worktree.branch}`, head],
    );
    assert.equal(await scene.host.repositories.headOf(scene.worktree.branch), undefined);
    assert.equal((await scene.get('status')).body.head_in_sync, true);
  });
});

describe('what fails on the way to a pull request', () => {
  const WRITE = { method: 'POST', path: /\/pulls$/ };

  it('does not double one whose answer was lost', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    scene.host.fail('reset', { ...WRITE, when: 'after' });
    const made = await scene.post('create');
    assert.deepEqual([made.status, made.body.adopted], [201, false], made.text);
    assert.equal((await scene.host.pulls.list()).length, 1);
  });

  it('finds it again when the answer does not come in time', async (t) => {
    const scene = await pullScene(t, { settings: 'codehost:\n  timeout_seconds: 2' });
    scene.work();
    const { release } = scene.host.fail('silence', { ...WRITE, when: 'after' });
    const made = await scene.post('create');
    release();
    assert.deepEqual([made.status, made.body.state], [201, 'draft'], made.text);
    assert.equal((await scene.host.pulls.list()).length, 1);
  });

  it('says that the outcome is unknown while nobody can tell, and adopts it then', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    const look = { method: 'GET', path: /\/pulls$/, times: 3 };
    const lost = scene.host.fail('reset', { ...WRITE, when: 'after' });
    void lost.met.then(() => scene.host.fail('bad gateway', look));
    const first = await scene.post('create');
    assertProblem(first, 503, 'codehost_unreachable');
    assert.equal(first.body.outcome, 'unknown');
    assertProblem(await scene.get(''), 404, 'not_found');
    const second = await scene.post('create');
    assert.deepEqual([second.status, second.body.adopted], [201, true], second.text);
    assert.equal((await scene.host.pulls.list()).length, 1);
  });

  it('keeps the branch when the host is down, and goes on from there', async (t) => {
    const scene = await pullScene(t);
    const head = scene.work();
    scene.host.fail('reset', { ...WRITE, when: 'before' });
    const failed = await scene.post('create');
    assertProblem(failed, 503, 'codehost_unreachable');
    assert.equal(failed.body.outcome, 'unknown');
    assert.equal(await scene.host.repositories.headOf(scene.worktree.branch), head);
    assertProblem(await scene.get(''), 404, 'not_found');
    assert.equal((await scene.post('create')).status, 201);
    assert.equal((await scene.host.pulls.list()).length, 1);
  });

  it('says what was committed and pushed before the host refused the pull request', async (t) => {
    const scene = await pullScene(t);
    writeFiles(scene.worktree.path, { 'by-hand.txt': 'mine\n' });
    const refusedNext = async (): Promise<string> => {
      scene.host.fail('rejected', { ...WRITE });
      const refused = await scene.post('create', { changes: 'commit' });
      return assertProblem(refused, 422, 'codehost_rejected').detail;
    };
    const detail = await refusedNext();
    const head = scene.git('rev-parse', 'HEAD').trim();
    const { branch } = scene.worktree;
    assert.equal(await scene.host.repositories.headOf(branch), head);
    const at = head.slice(0, 12);
    const pushed = `Before that, ${branch} was pushed to origin at ${at}.`;
    assert.ok(
      detail.endsWith(`${pushed} Before that, the changes were committed as ${at}.`),
      detail,
    );
    assert.doesNotMatch(await refusedNext(), /Before that/);
  });

  it('never opens one that is ready where drafts are not to be had', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    scene.host.fail('drafts unsupported', WRITE);
    const refused = await scene.post('create');
    assertProblem(refused, 422, 'codehost_rejected');
    assert.match(refused.body.detail, /send \{"draft": false\}/);
    assert.equal((await scene.host.pulls.list()).length, 0);
    const made = await scene.post('create', { draft: false });
    assert.deepEqual([made.status, made.body.state], [201, 'open'], made.text);
  });

  it('adds its labels to those that others gave it meanwhile', async (t) => {
    const scene = await pullScene(t);
    const { host } = scene;
    for (const label of ['bug', 'theirs']) await host.repositories.label(label);
    scene.work();
    const held = host.fail('silence', { graphql: 'query PullRequest(' });
    const answer = scene.post('create', { labels: ['bug'] });
    await held.met;
    const [made] = await host.pulls.list();
    await host.pulls.edit(made?.number ?? 0, { labels: ['theirs'] });
    held.release();
    assert.deepEqual((await answer).body.labels.toSorted(), ['bug', 'theirs']);
    const [{ labels } = { labels: [] }] = await host.pulls.list();
    assert.deepEqual(labels.map(({ name }) => name).toSorted(), ['bug', 'theirs']);
  });

  it('records its labels where the answer that set them is lost', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    scene.host.fail('reset', { method: 'POST', path: /\/labels$/, when: 'after' });
    const made = await scene.post('create', { labels: ['bug'] });
    assert.deepEqual([made.status, made.body.labels, made.body.warnings], [201, ['bug'], []]);
    assert.match(scene.read('pr/pr.md'), /^labels:\n {2}- bug$/m);
  });

  it('takes labels that cannot be set for a warning', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    scene.host.fail('forbidden', { method: 'POST', path: /\/labels$/ });
    const made = await scene.post('create', { labels: ['bug'] });
    assert.deepEqual([made.status, made.body.labels], [201, []], made.text);
    assert.match(
      made.body.warnings[0] ?? '',
      /Setting its labels failed; send them with PATCH …\/pr: /,
    );
  });

  it('leaves a branch alone that has commits of others', async (t) => {
    const scene = await pullScene(t);
    scene.work();
    const theirs = await scene.host.repositories.push({ branch: scene.worktree.branch });
    const refused = await scene.post('create');
    assertProblem(refused, 409, 'remote_moved');
    assert.equal(await scene.host.repositories.headOf(scene.worktree.branch), theirs);
    assert.deepEqual(scene.host.writes(), []);
  });
});

describe('POST /api/cases/{id}/pr/push', () => {
  it('brings what came after to the pull request, and nothing over what others pushed', async (t) => {
    const scene = await openedScene(t);
    const { host, worktree } = scene;
    assert.equal((await scene.post<{ status: string }>('push')).body.status, 'up_to_date');
    const later = scene.work({ 'later.ts': '1\n' });
    assert.equal((await scene.post<{ status: string }>('push')).body.status, 'pushed');
    assert.equal(await host.repositories.headOf(worktree.branch), later);
    const theirs = await host.repositories.push({ branch: worktree.branch });
    scene.work({ 'last.ts': '1\n' });
    assertProblem(await scene.post('push'), 409, 'remote_moved');
    assert.equal(await host.repositories.headOf(worktree.branch), theirs);
    writeFiles(worktree.path, { 'by-hand.txt': 'mine\n' });
    const moved = assertProblem(
      await scene.post('push', { changes: 'commit' }),
      409,
      'remote_moved',
    );
    const mine = scene.git('rev-parse', 'HEAD').slice(0, 12);
    assert.match(
      moved.detail,
      new RegExp(`Before that, the changes were committed as ${mine}\\.$`),
    );
  });

  it('waits for a turn that is not taken in yet, and then brings what it committed', async (t) => {
    const scene = await openedScene(t, { settings: 'sandbox: off' });
    const { host, worktree, item, running, git } = scene;
    const pushed = git('rev-parse', 'HEAD').trim();
    const record = getWorktree(running.service.store, item.id);
    const turn = await openTurn(running.service, record, { marker: NOBODY, session_id: NOBODY });
    const later = scene.work({ 'later.ts': '1\n' });
    writeFiles(worktree.path, { 'staged.ts': '1\n' });
    git('add', 'staged.ts');
    const lock = join(record.git_dir, 'index.lock');
    writeFileSync(lock, '');
    await turn.close(() => undefined);
    const picture = () => [
      git('rev-parse', 'HEAD', 'refs/heads/main'),
      readFileSync(join(worktree.path, 'staged.ts'), 'utf8'),
      readdirSync(running.service.store.layout.repositories).toSorted(),
    ];
    const before = picture();
    const rebase = await running.call<Problem>('POST', `/api/cases/${item.id}/pr/rebase`);
    for (const { status, body } of [await scene.post('push'), rebase]) {
      assert.deepEqual([status, body.code], [409, 'worktree_busy'], JSON.stringify(body));
      assert.match(body.detail, /could not be imported.*kept at/);
    }
    assert.deepEqual(picture(), before);
    assert.equal(await host.repositories.headOf(worktree.branch), pushed);
    rmSync(lock);
    // What it staged is taken in with it: nothing of it is pushed unasked.
    assertProblem(await scene.post('push'), 409, 'uncommitted_changes');
    assert.equal(git('status', '--short'), 'A  staged.ts\n');
    git('stash', '-q');
    const { status, body } = await scene.post<{ status: string; commit: string }>('push');
    assert.deepEqual([status, body.status, body.commit], [200, 'pushed', later]);
    assert.equal(await host.repositories.headOf(worktree.branch), later);
    assert.deepEqual(readdirSync(running.service.store.layout.repositories), []);
  });

  it('has nothing to push to without a pull request', async (t) => {
    const scene = await pullScene(t);
    assertProblem(await scene.post('push'), 404, 'not_found');
  });
});
