import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { check } from '../../../lib/cli/check.ts';
import { UsageError } from '../../../lib/config.ts';
import { isUndoName } from '../../../store/fs/place.ts';
import { layoutOf } from '../../../store/layout.ts';
import type { Proof } from '../../../store/records/proof.ts';
import type { NewWebhook } from '../../../store/records/webhook.ts';
import { makeWorkspaceFiles } from '../../../store/workspace/workspace-files.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { callOf } from '../../helpers/call-of.ts';
import { dossierIn } from '../../helpers/command.ts';
import { inject } from '../../helpers/faults.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { fingerprint, type WithCase, withCase } from '../../helpers/work-item.ts';

const run = async (workspace: string, ...flags: string[]) => {
  const call = callOf(['check', '--workspace', workspace, ...flags], process.env);
  const said: string[] = [];
  const code = await check(call, (line) => said.push(line));
  return { code, said, text: said.join('\n') };
};

/** `file code` of each finding. */
const found = async (workspace: string): Promise<string[]> => {
  const { said } = await run(workspace, '--json');
  const { problems } = JSON.parse(said[0] ?? '') as { problems: { file: string; code: string }[] };
  return problems.map(({ file, code }) => `${file} ${code}`);
};

const CASE = (n: number): string =>
  `---\nid: 0000000${n}-0000-4000-8000-000000000000\ntitle: Item ${n}\ntype: bug\nstate: OPEN\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n`;

// Root may read and write what nobody may.
const nobody = (): { user?: { uid: number; gid: number } } =>
  process.getuid?.() === 0 ? { user: { uid: 65_534, gid: 65_534 } } : {};

/** A workspace that no daemon has seen. */
const fresh = (t: TestContext, files: Record<string, string> = {}): string => {
  const root = temporaryDirectory(t);
  writeFiles(root, { 'cases/one/case.md': CASE(1), 'cases/two/case.md': CASE(2), ...files });
  return root;
};

/** One that a daemon has worked in, which has ended. */
const used = async (t: TestContext): Promise<WithCase & { proof: Proof; root: string }> => {
  const work = await withCase(t);
  const { body } = await work.call<Proof>('POST', `${work.at}/proof`, {
    type: 'log',
    content: 'ok',
  });
  await makeWorkspaceFiles(work.running.service.store.layout);
  await work.running.stop();
  return { ...work, proof: body, root: work.running.workspace };
};

describe('dossier check', () => {
  it('names a missing project once, with its first Work item and what to do', async (t) => {
    const root = fresh(t);
    writeFiles(root, { 'cases/a/case.md': CASE(3).replace('\n---', '\nproject: shop\n---') });
    const { code, text } = await run(root);
    assert.equal(code, 0);
    assert.match(text, /^cases\/a\/case\.md warning missing_project .* no project shop\. Run /m);
    writeFiles(root, { 'cases/b/case.md': CASE(4).replace('\n---', '\nproject: shop\n---') });
    assert.match((await run(root)).text, /no project shop, which 2 open Work items name\. Run /);
    assert.deepEqual(
      (await found(root)).filter((each) => each.includes('missing_project')),
      ['cases/a/case.md missing_project'],
    );
    writeFiles(root, {
      'workspace.md': '---\nprojects:\n  shop: git@example.com:a/shop.git\n---\n',
    });
    assert.deepEqual(
      (await found(root)).filter((each) => each.includes('missing_project')),
      [],
    );
  });

  it('finds nothing where nothing is wrong, and writes nothing', async (t) => {
    const root = fresh(t);
    const before = fingerprint(root);
    const { code, said } = await run(root);
    assert.deepEqual([code, said], [0, ['2 Work items: no problems.']]);
    assert.deepEqual(fingerprint(root), before);
    assert.equal(readdirSync(root).includes('.dossier'), false);
  });

  it('reads the records that nothing is compared with: rebases, the pull request', async (t) => {
    const root = fresh(t, {
      'cases/one/conflicts/2026.md': '---\nid: me\n---\n',
      'cases/one/pr/draft.md': '---\nlabels: [bug]\n---\n',
      'cases/one/pr/pr.md': 'no record',
      'cases/one/pr/timeline.ndjson': '{"seq":1}\n',
      'cases/two/pr': 'a file',
    });
    assert.deepEqual(await found(root), [
      'cases/one/conflicts/2026.md not_a_record',
      'cases/one/conflicts/2026.md not_a_record',
      'cases/one/pr/draft.md not_a_record',
      'cases/one/pr/pr.md no_front_matter',
      'cases/one/pr/timeline.ndjson bad_line',
      'cases/two/pr not_a_directory',
    ]);
  });

  it('says one line for each, sorted by file, and answers 1', async (t) => {
    const root = fresh(t, {
      'cases/one/case.md': CASE(1).replace('state: OPEN', 'state: DOING'),
      'cases/one/memory/notes.md': 'é\n<<<<<<< a\n=======\n>>>>>>> b\n',
      'cases/one/sessions/2026/session.md': '---\nid: me\n---\n',
      'cases/one/sessions/lock.md': '',
      'cases/three/case.md': CASE(2),
      'memory/global.md': 'a\0',
      'memory/snapshots/one.md': '---\nid: me\n---\n',
      'webhooks/mine.md': '---\nurl: ftp://x\n---\n',
      'workspace.md': '---\nmax_sessions: 0\n---\n',
    });
    writeFileSync(join(root, 'cases/one/sessions/2026/plan.md'), Buffer.from([0x61, 0xff]));
    writeFileSync(join(root, 'cases/one/sessions/2026/comments.md'), 'a\0');
    symlinkSync('/etc/hostname', join(root, 'cases/two/memory'));
    const { code, said } = await run(root);
    assert.equal(code, 1);
    assert.deepEqual(
      said.map((line) => line.split(' ', 3).join(' ')),
      [
        'cases/one/case.md:5:1 error not_a_record',
        'cases/one/memory/notes.md:2:1 error conflict_markers',
        'cases/one/sessions/2026/comments.md:1:2 error nul_byte',
        'cases/one/sessions/2026/plan.md:1:2 error not_utf8',
        'cases/one/sessions/2026/session.md:2:1 error not_a_record',
        'cases/one/sessions/2026/session.md:2:1 error not_a_record',
        'cases/one/sessions/lock.md error empty_file',
        'cases/two/case.md:2:1 error duplicate_id',
        'cases/two/memory error symbolic_link',
        'memory/global.md:1:2 error nul_byte',
        'memory/snapshots/one.md:2:1 error not_a_record',
        'webhooks/mine.md:2:1 error not_a_record',
        'workspace.md:2:1 error not_a_record',
        '2 Work items:'.replace('2', '3'),
      ],
    );
  });

  it('names sessions that no case.md belongs to, also where no daemon has seen one', async (t) => {
    const session = '2026-11-21T07-03-46Z-3043939f/session.md';
    const root = fresh(t, { [`cases/lost/sessions/${session}`]: 'anything\n' });
    assert.deepEqual(await found(root), ['cases/lost/case.md missing_file']);
    const { root: known, item } = await used(t);
    writeFiles(join(known, item.path), { [`sessions/${session}`]: 'anything\n' });
    rmSync(join(known, item.path, 'case.md'));
    assert.deepEqual(await found(known), [`${item.path}/case.md missing_file`]);
  });

  it('names files that belong to no Work item', async (t) => {
    const root = fresh(t, {
      'cases/2026-11/upper/CASE.md': '---\ntitle: Upper case\n---\n',
      'cases/2026-11/upper/sessions/2026-11-21T07-03-46Z-3043939f/session.md': 'anything\n',
      'cases/stray.md': '---\ntitle: Stray\n---\n',
      'cases/README.md': 'Our Work items.\n',
      'cases/one/proof/checklist.md': '- [ ] one\n- [] two\n',
    });
    const wanted = [
      'cases/2026-11/upper/CASE.md misnamed_file',
      'cases/one/proof/checklist.md almost_item',
      'cases/stray.md unknown_file',
    ];
    assert.deepEqual(await found(root), wanted);
  });

  it('names the copies that sync tools leave, as warnings', async (t) => {
    const { root, item } = await used(t);
    const copies = [
      'workspace.sync-conflict-20260101-120000-ABCDEFG.md',
      'memory/global (conflicted copy 2026-01-01).md',
      `${item.path}/case (operator's conflicted copy 2026-01-01).md`,
      `${item.path}/memory/notes.Conflict.md`,
      `${item.path}/proof/log_conflict-20260101-120000.md`,
    ];
    writeFiles(root, Object.fromEntries(copies.map((name) => [name, 'anything\n'])));
    assert.deepEqual(
      await found(root),
      copies.toSorted().map((name) => `${name} conflict_copy`),
    );
    assert.equal((await run(root)).code, 0);
  });

  it('names the first line of events.ndjson that is no event, and not one that is being written', async (t) => {
    const session = 'sessions/2026-11-21T07-03-46Z-3043939f';
    const { root, item } = await used(t);
    const event = '{"id":1,"event":"status","data":{}}\n';
    const events = `${item.path}/${session}/events.ndjson`;
    writeFiles(root, { [events]: `${event}\n<<<<<<< HEAD\n${event}{"id":0}\n{"id":2` });
    const { code, said } = await run(root);
    assert.equal(code, 0);
    const why = '2 lines, of which this is the first, are not events of the session';
    assert.ok(said[0]?.startsWith(`${events}:3:1 warning not_an_event ${why}`), said[0]);
    writeFiles(root, { [events]: `${event}{"id":2` });
    assert.deepEqual(await found(root), []);
  });

  it('warns of memory files whose names differ only in letter case', async (t) => {
    const { root, item } = await used(t);
    const memory = `${item.path}/memory`;
    writeFiles(root, { [`${memory}/Notes.md`]: 'a', [`${memory}/notes.md`]: 'b' });
    const { code, said } = await run(root);
    assert.equal(code, 0);
    assert.match(said[0] ?? '', /memory\/notes\.md warning same_name .* as Notes\.md, /);
    assert.equal(said.length, 2);
  });

  it('names each line of a checklist that looks like an item and is none', async (t) => {
    const good = [
      '- [ ] one',
      '* [x] two',
      '3. [X] three',
      '- [a link](b.md)',
      '[x]: https://a.org',
    ];
    const wrong = ['- [] four', '-[ ] five', '- [x]six', '[ ] seven', '- [✓] eight', '- [ ]'];
    const text = [...good, '```', '- [] code', '```', ...wrong].join('\n');
    const root = fresh(t, { 'cases/one/proof/checklist.md': `---\nowner: me\n---\n${text}\n` });
    const { code, said } = await run(root);
    assert.equal(code, 0);
    const file = 'cases/one/proof/checklist.md';
    const why =
      'warning almost_item The line is not an item of the checklist, so nothing requires it.';
    assert.deepEqual(said.slice(0, -1), [
      `${file}:12:1 ${why} Write - [ ] four`,
      `${file}:13:1 ${why} Write - [ ] five`,
      `${file}:14:1 ${why} Write - [x] six`,
      `${file}:15:1 ${why} Write - [ ] seven`,
      `${file}:16:1 ${why} Write - [ ] eight`,
      `${file}:17:1 ${why} Write - [ ] and its words`,
    ]);
  });

  it('answers 0 when all are warnings, such as a key in the settings or a record made by hand', async (t) => {
    const root = fresh(t, {
      'cases/hand/case.md': '---\ntitle: By hand\n---\n',
      'workspace.md':
        '---\nproviders:\n  a:\n    kind: acp\n    env: { A_MODEL: x, A_API_KEY: abc, OTHER: sk-abcdefgh }\n---\n',
    });
    const { code, said } = await run(root);
    assert.equal(code, 0);
    assert.match(
      said[0] ?? '',
      /^cases\/hand\/case.md warning incomplete id, type, state, created_at/,
    );
    assert.match(
      said[1] ?? '',
      /^workspace.md:3:1 warning trust_needed providers\.a waits .*dossier trust --workspace \S+$/,
    );
    assert.match(said[2] ?? '', /^workspace.md:5:35 warning secret_in_settings A_API_KEY/);
    assert.match(said[3] ?? '', /^workspace.md:5:47 warning secret_in_settings OTHER/);
    assert.doesNotMatch(said.join('\n'), /abc/);
  });

  it('names a secret in the file of a webhook, without its value', async (t) => {
    const hook = '---\nurl: http://127.0.0.1:9\nsecret: fileSECRET\n---\n';
    const { said } = await run(fresh(t, { 'webhooks/x.md': hook }));
    assert.match(said.join('\n'), /^webhooks\/x.md error secret_in_webhook secret is ignored/m);
    assert.doesNotMatch(said.join('\n'), /fileSECRET/);
  });

  it('lists all that is wrong with a record, and what to put in quotes', async (t) => {
    const root = fresh(t, {
      'cases/hand/case.md': '---\ntitle: Fix: the thing\n---\n',
      'workspace.md': '---\nautocommit: yes\nmax_sessions: "4"\n---\n',
    });
    const { code, said } = await run(root);
    assert.equal(code, 1);
    assert.match(
      said[0] ?? '',
      /^cases\/hand\/case\.md:2:8 error bad_yaml .*Put it in quotes: title: "Fix: the thing"/,
    );
    assert.match(said[1] ?? '', /^workspace\.md:2:1 error not_a_record autocommit: .*write true/);
    assert.match(said[2] ?? '', /^workspace\.md:3:1 error not_a_record max_sessions: .*write 4/);
  });

  it('says what git has of it', async (t) => {
    const root = fresh(t, { '.gitignore': '/.dossier\n*.lock/\n*.tmp\n**/sessions/lock.md\n' });
    const git = gitIn(root);
    git('init', '--quiet');
    git('add', '--all');
    writeFileSync(join(root, 'cases/one/case.md'), 'no');
    const { said } = await run(root);
    assert.match(said[0] ?? '', /: git -C \S+ checkout -- cases\/one\/case\.md$/);
    assert.equal(said.length, 2);
    git('add', '--all');
    const [broken = ''] = (await run(root)).said;
    assert.match(
      broken,
      /is the same\. To see earlier ones: git -C \S+ log -p -- cases\/one\/case\.md$/,
    );
  });

  it('claims no mode that the file system does not keep', async (t) => {
    const root = temporaryDirectory(t);
    await makeWorkspaceFiles(layoutOf(root));
    chmodSync(join(root, '.dossier'), 0o777);
    const faults = await inject(t, process.pid, 'chmod,fchmodat:error=EPERM');
    if (faults === undefined) return;
    const { code, text } = await run(root, '--fix');
    await faults.end();
    assert.equal(code, 1, text);
    assert.match(text, /^\.dossier error wide_mode .* mounted with umask=077/m);
    assert.doesNotMatch(text, /fixed/);
  });

  it('looks at what is of this machine only, beside a daemon too', async (t) => {
    const { running, call, item, dir } = await withCase(t);
    const root = running.workspace;
    const made = (await call<NewWebhook>('POST', '/webhooks', { url: 'http://127.0.0.1:9/' })).body;
    assert.deepEqual(await found(root), []);
    rmSync(join(root, '.dossier/secrets', made.id));
    writeFileSync(join(root, '.dossier/secrets/other'), 'x', { mode: 0o644 });
    chmodSync(join(root, '.dossier'), 0o755);
    const id = '11111111-2222-4333-8444-555555555555';
    writeFileSync(join(root, `.dossier/worktrees/${id}.json`), '{');
    writeFileSync(join(root, '.dossier/api-keys/mine.json'), '{}', { mode: 0o640 });
    assert.deepEqual(await found(root), [
      '.dossier wide_mode',
      '.dossier/api-keys/mine.json wide_mode',
      '.dossier/api-keys/mine.json not_a_record',
      '.dossier/secrets/other wide_mode',
      '.dossier/secrets/other orphan_secret',
      `.dossier/worktrees/${id}.json not_json`,
      `webhooks/${made.id}.md no_secret`,
    ]);
    await assert.rejects(run(root, '--fix'), (error: Error) => {
      assert.equal(error.name, 'Refusal');
      assert.match(error.message, new RegExp(`process ${process.pid} .*Nothing was fixed`));
      return true;
    });
    assert.equal(statSync(join(root, '.dossier')).mode & 0o777, 0o755);
    assert.equal(readFileSync(join(dir, 'case.md'), 'utf8').includes(item.id), true);
  });

  it('names the turns of an earlier or another daemon that keep sessions from their worktree', async (t) => {
    const { running, item } = await withCase(t);
    const root = running.workspace;
    for (const dir of ['baselines', 'repositories'])
      writeFileSync(join(root, `.dossier/${dir}/${item.id}.json`), '{}', { mode: 0o600 });
    assert.deepEqual(await found(root), [
      `.dossier/baselines/${item.id}.json made_elsewhere`,
      `.dossier/repositories/${item.id}.json made_elsewhere`,
    ]);
    const [said = ''] = (await run(root)).said;
    assert.match(said, /does not count\. Check it, then move it out of \.dossier\//);
  });

  it('reads a workspace that it may not write', async (t) => {
    const root = fresh(t);
    const change = (mode: string) => execFileSync('chmod', ['-R', mode, root]);
    change('555');
    atEnd(t, () => change('755'));
    const user = nobody();
    const said = (...words: string[]) =>
      dossierIn(t, user, ['check', ...words, '--workspace', root]);
    assert.deepEqual(await said(), {
      ...{ code: 0, signal: null, stdout: '2 Work items: no problems.\n', stderr: '' },
    });
    assert.match((await said('--fix')).stderr, /cannot be read and written by this user/);
  });

  it('lists what it may not read, and takes it neither for missing nor for an orphan', async (t) => {
    const { root, dir } = await used(t);
    const session = join(dir, 'sessions/2026-01-01T00-00-00.000Z-00000001/session.md');
    writeFiles(root, { [relative(root, session)]: 'x' });
    const user = nobody();
    if (user.user !== undefined) execFileSync('chown', ['-R', `${user.user.uid}`, root]);
    for (const path of [session, dirname(session), dir]) {
      chmodSync(path, 0);
      const { stdout, stderr } = await dossierIn(t, user, ['check', '--workspace', root]);
      chmodSync(path, 0o755);
      const listed = new RegExp(`^${relative(root, path)}\\S* error no_permission `, 'm');
      assert.match(stdout, listed, stderr);
      assert.doesNotMatch(stdout, /missing_file|orphan/);
    }
  });

  it('names a link in every directory in which the daemon refuses one', async (t) => {
    const root = fresh(t);
    const places = ['answers', 'api-keys', 'baselines', 'journal', 'repositories'];
    for (const name of places) {
      mkdirSync(join(root, '.dossier', name), { recursive: true, mode: 0o700 });
      symlinkSync('/etc/hostname', join(root, '.dossier', name, 'a'));
    }
    chmodSync(join(root, '.dossier'), 0o700);
    assert.deepEqual(
      await found(root),
      places.map((name) => `.dossier/${name}/a symbolic_link`),
    );
  });

  it('refuses what it is not meant for', async (t) => {
    for (const argv of [
      ['serve', '--fix'],
      ['init', '--fix'],
      ['check', 'it'],
    ])
      assert.throws(() => callOf(argv, {}), UsageError);
    await assert.rejects(run(join(temporaryDirectory(t), 'no')), UsageError);
  });
});

describe('dossier check --fix', () => {
  it('is named with the workspace that it is for', async (t) => {
    const root = fresh(t, { '.dossier/tmp/left': '' });
    const { said } = await run(root);
    const fix = `dossier check --fix --workspace ${root}`;
    assert.ok(
      said.some((line) =>
        line.includes(` leftover One leftover of an interrupted operation. ${fix} removes it`),
      ),
    );
    assert.ok(said.at(-1)?.includes(`; ${fix} fixes `), said.at(-1));
  });

  it('puts back what a power cut took, exactly as it was last seen', async (t) => {
    const work = await used(t);
    const { root, item, proof } = work;
    const proofFile = `${item.path}/proof/log-${proof.id.slice(0, 8)}.md`;
    const git = gitIn(root);
    git('init', '--quiet');
    git('add', '--all');
    for (const file of [`${item.path}/case.md`, proofFile]) {
      const path = join(root, file);
      const good = readFileSync(path);
      for (const lose of [
        () => truncateSync(path, 0),
        () => writeFileSync(path, Buffer.alloc(good.length)),
        () => file === proofFile || rmSync(path),
      ]) {
        lose();
        await run(root, '--fix');
        assert.deepEqual(readFileSync(path), good, file);
      }
    }
    assert.deepEqual(await found(root), []);
  });

  it('never puts back what is not what was last seen, nor writes over what somebody wrote', async (t) => {
    const { root, item } = await used(t);
    const path = join(root, item.path, 'case.md');
    const git = gitIn(root);
    git('init', '--quiet');
    appendFileSync(path, 'not the last\n');
    git('add', '--all');
    for (const text of ['', '---\ntitle: [\n---\n', '<<<<<<< a\n=======\n>>>>>>> b\n']) {
      writeFileSync(path, text);
      assert.equal((await run(root, '--fix')).code, 1);
      assert.equal(readFileSync(path, 'utf8'), text);
    }
  });

  it('gives the copy of a Work item an id of its own, when it is known which one is the copy', async (t) => {
    const { root, item, dir } = await used(t);
    cpSync(dir, join(root, 'cases/a-copy'), { recursive: true });
    const before = readFileSync(join(dir, 'case.md'), 'utf8');
    assert.equal((await run(root, '--fix')).code, 0);
    const copy = readFileSync(join(root, 'cases/a-copy/case.md'), 'utf8');
    assert.equal(readFileSync(join(dir, 'case.md'), 'utf8'), before);
    assert.equal(copy.replace(/^id: .*$/m, `id: ${item.id}`), before);
    assert.notEqual(copy, before);
    const unknown = fresh(t, { 'cases/copy/case.md': CASE(1) });
    assert.equal((await run(unknown, '--fix')).code, 1, 'nobody knows which was first');
  });

  it('does each thing once, keeps what it replaces, and says so', async (t) => {
    const { root, dir } = await used(t);
    const git = gitIn(root);
    git('init', '--quiet');
    writeFileSync(join(root, '.gitignore'), '# mine\r\n*.tmp\r\n');
    chmodSync(join(root, '.dossier'), 0o755);
    writeFileSync(join(root, '.dossier/tmp/left'), 'x');
    const journal = join(
      root,
      '.dossier/journal',
      readdirSync(join(root, '.dossier/journal'))[0] ?? '',
    );
    const sound = readFileSync(journal);
    appendFileSync(journal, '00000000 {"torn');
    mkdirSync(join(dir, 'sessions'), { recursive: true });
    const lock =
      '---\nkind: session\nsession_id: 11111111-2222-4333-8444-555555555555\nacquired_at: 2026-01-01T00:00:00.000Z\n---\n';
    writeFileSync(join(dir, 'sessions/lock.md'), lock);
    writeFiles(root, { 'cases/hand/case.md': '---\n# mine\ntitle: By hand\n---\nText\n' });
    const { code, said } = await run(root, '--fix');
    assert.equal(code, 0, said.join('\n'));
    assert.deepEqual(
      said
        .slice(0, -1)
        .map((line) => line.split(' ').slice(1, 3).join(' '))
        .toSorted(),
      [
        'fixed incomplete',
        'fixed journal_torn',
        'fixed leftover',
        'fixed not_ignored',
        'fixed stale_lock',
        'fixed wide_mode',
      ],
    );
    assert.equal(said.at(-1), '2 Work items: 6 fixed.');
    assert.equal(
      readFileSync(join(root, '.gitignore'), 'utf8'),
      '# mine\r\n*.tmp\r\n.dossier/\r\n*.lock/\r\n**/sessions/lock.md\r\n',
    );
    assert.equal(statSync(join(root, '.dossier')).mode & 0o777, 0o700);
    assert.deepEqual(readFileSync(journal), sound);
    assert.match(
      readFileSync(join(root, 'cases/hand/case.md'), 'utf8'),
      /^---\n# mine\ntitle: By hand\nid: .*\ntype: task\nstate: OPEN\ncreated_at: .*\n---\nText\n$/,
    );
    const [day = ''] = readdirSync(join(root, '.dossier/undo'));
    const kept = readdirSync(join(root, '.dossier/undo', day));
    for (const name of ['.gitignore', 'lock.md', 'case.md', `tail-${basename(journal)}`])
      assert.ok(
        kept.some((each) => isUndoName(each) && each.endsWith(`-${name}`)),
        `${name} in ${kept.join(' ')}`,
      );
    const after = fingerprint(root);
    assert.deepEqual((await run(root, '--fix')).said, ['2 Work items: no problems.']);
    assert.deepEqual(fingerprint(root), after, 'the second time changes nothing');
  });

  it('makes what an interrupted write linked into .dossier/undo a file of its own', async (t) => {
    const { root, dir } = await used(t);
    const file = join(dir, 'notes.md');
    writeFileSync(file, 'as it was\n', { mode: 0o640 });
    const kept = '.dossier/undo/2026-11-21/1795000000000-0a1b2c3d-notes.md';
    mkdirSync(dirname(join(root, kept)), { recursive: true });
    linkSync(file, join(root, kept));
    assert.deepEqual(await found(root), [`${kept} leftover`]);
    assert.equal((await run(root, '--fix')).code, 0);
    assert.deepEqual(await found(root), []);
    const [one, other] = [statSync(file), statSync(join(root, kept))];
    assert.deepEqual([one.nlink, other.nlink], [1, 1]);
    assert.equal(other.mode, one.mode);
    assert.deepEqual(readFileSync(join(root, kept)), readFileSync(file));
  });

  it('leaves a lock alone whose session goes on, or cannot be read', async (t) => {
    const id = '11111111-2222-4333-8444-555555555555';
    const lock = `---\nkind: session\nsession_id: ${id}\nacquired_at: 2026-01-01T00:00:00.000Z\n---\n`;
    const session = `---\nid: ${id}\ntype: implementing\nmode: plan\nstatus: paused\nprovider: manual\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n`;
    const ended = session.replace('paused', 'completed');
    for (const [name, text, stays] of [
      ['s-11111111', session, true],
      ['s-11111111', '', true],
      ['renamed', ended, true],
      ['s-11111111', ended, false],
    ] as const) {
      const root = fresh(t, {
        'cases/one/sessions/lock.md': lock,
        [`cases/one/sessions/${name}/session.md`]: text,
      });
      await run(root, '--fix');
      assert.equal(readdirSync(join(root, 'cases/one/sessions')).includes('lock.md'), stays);
    }
  });

  it('gives back the id that was taken out of a Work item', async (t) => {
    const { root, item, dir } = await used(t);
    const path = join(dir, 'case.md');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^id: .*\n/m, ''));
    await run(root, '--fix');
    assert.match(readFileSync(path, 'utf8'), new RegExp(`^id: ${item.id}$`, 'm'));
  });
});
