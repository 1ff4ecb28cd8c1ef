import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { allItems } from '../../store/reconcile/items.ts';
import { reconcile } from '../../store/reconcile/reconcile.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import type { ProblemRecord } from '../../store/records/problem.ts';
import type { Proof } from '../../store/records/proof.ts';
import { readLock } from '../../store/sessions/locks.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { atEnd } from '../helpers/at-end.ts';
import { eventually } from '../helpers/eventually.ts';
import { openReceiver } from '../helpers/receiver.ts';
import { gitIn, type TestRepository } from '../helpers/repository.ts';
import type { Running } from '../helpers/service.ts';
import { assertProblem, fingerprint, told, type WithCase, withCase } from '../helpers/work-item.ts';

const watched = (t: TestContext, description = 'As it was.'): Promise<WithCase> =>
  withCase(t, { description }, { watch: true });

/** Waits until exactly this was told, then compares the whole workspace: nothing more comes. */
const assertTold = async (
  { events, running }: Pick<WithCase, 'events' | 'running'>,
  ...expected: string[]
) => {
  await eventually(() => assert.deepEqual(told(events), expected));
  await compareAll(running);
  assert.deepEqual(told(events), expected);
};

/** What the minute's sweep does, and then every Work item in its turn: behind whatever is still being written. */
const compareAll = async ({ service: { store } }: Running): Promise<void> => {
  await sweepWorkspace(store);
  await Promise.all(allItems(store).map(({ id }) => reconcile(store, id)));
};

const shown = async ({ call, at }: WithCase): Promise<Case> => (await call<Case>('GET', at)).body;

const problemsOf = async ({ call }: Pick<WithCase, 'call'>): Promise<ProblemRecord[]> => {
  const { body } = await call<ProblemRecord[]>('GET', '/api/diagnostics');
  return body;
};

/** Ways to save a file, as editors and tools have them. */
const SAVES: Record<string, (path: string, text: string) => void> = {
  'in place, as VS Code does': (path, text) => writeFileSync(path, text),
  'in place and twice, as one who is not sure': (path, text) => {
    writeFileSync(path, text);
    writeFileSync(path, text);
  },
  'emptied first, then in two pieces': (path, text) => {
    writeFileSync(path, '');
    writeFileSync(path, text.slice(0, 40));
    appendFileSync(path, text.slice(40));
  },
  'as vim does: the old one moved to ~, a new one, the old one removed': (path, text) => {
    renameSync(path, `${path}~`);
    writeFileSync(path, text);
    rmSync(`${path}~`);
  },
  'as vim does where backups are kept': (path, text) => {
    writeFileSync(join(path, '../4913'), '');
    rmSync(join(path, '../4913'));
    renameSync(path, `${path}~`);
    writeFileSync(path, text);
  },
  'by rename over it, as many editors do': (path, text) => {
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  },
  'as Emacs does: a lock that is a link to nowhere, an autosave, a backup by rename': (
    path,
    text,
  ) => {
    const [lock, auto] = ['.#case.md', '#case.md#'].map((name) => join(path, '..', name)) as [
      string,
      string,
    ];
    symlinkSync('operator@machine.4711:1', lock);
    writeFileSync(auto, text);
    renameSync(path, `${path}~`);
    writeFileSync(path, text);
    rmSync(auto);
    rmSync(lock);
  },
  'as JetBrains does: a new one beside it, the old one away, the new one in place': (
    path,
    text,
  ) => {
    writeFileSync(`${path}___jb_tmp___`, text);
    renameSync(path, `${path}___jb_old___`);
    renameSync(`${path}___jb_tmp___`, path);
    rmSync(`${path}___jb_old___`);
  },
  'as nano does with backups: a copy beside it, then in place': (path, text) => {
    copyFileSync(path, `${path}~`);
    writeFileSync(path, text);
  },
  'removed, and written anew': (path, text) => {
    rmSync(path);
    writeFileSync(path, text);
  },
  'by tee': (path, text) => void execFileSync('tee', [path], { input: text }),
  'by cp over it': (path, text) => {
    writeFileSync(`${path}.new`, text);
    execFileSync('cp', [`${path}.new`, path]);
    rmSync(`${path}.new`);
  },
  'by mv over it, from another directory': (path, text) => {
    const other = join(path, '../memory/case.md');
    mkdirSync(join(other, '..'));
    writeFileSync(other, text);
    execFileSync('mv', [other, path]);
  },
  'by rsync, which writes beside it and renames': (path, text) => rsync(path, text),
  'by rsync --inplace': (path, text) => rsync(path, text, '--inplace'),
  'with a swap file and a lock beside it': (path, text) => {
    writeFileSync(join(path, '../.case.md.swp'), 'swap');
    writeFileSync(join(path, '../#case.md#'), text);
    writeFileSync(path, text);
    rmSync(join(path, '../#case.md#'));
    rmSync(join(path, '../.case.md.swp'));
  },
};

const rsync = (path: string, text: string, ...options: string[]): void => {
  const from = join(mkdtempSync(join(tmpdir(), 'dossier-from-')), 'case.md');
  writeFileSync(from, text);
  execFileSync('rsync', ['--times', '--ignore-times', ...options, from, path]);
  rmSync(dirname(from), { recursive: true });
};

describe('a save of case.md', () => {
  for (const [name, save] of Object.entries(SAVES))
    it(`fires what the API would, once, in order: ${name}`, async (t) => {
      const work = await watched(t);
      const text = work
        .read('case.md')
        .replace('title: Tax is off by one', 'title: "Tax: fixed" # by hand')
        .replace('state: OPEN', 'state: BLOCKED');
      save(join(work.dir, 'case.md'), text);
      await assertTold(work, 'case_updated', 'case_state_changed OPEN BLOCKED');
      assert.deepEqual(
        work.events.map(({ payload }) => payload),
        [
          { case_id: work.item.id },
          { case_id: work.item.id, old_state: 'OPEN', new_state: 'BLOCKED' },
        ],
      );
      assert.equal(work.read('case.md'), text, 'the daemon touches nothing');
      const { title, state } = await shown(work);
      assert.deepEqual([title, state], ['Tax: fixed', 'BLOCKED']);
    });

  it('by sed -i is one change of state', async (t) => {
    const work = await watched(t);
    execFileSync('sed', ['-i', 's/^state: OPEN$/state: PLANNING/', join(work.dir, 'case.md')]);
    await assertTold(work, 'case_state_changed OPEN PLANNING');
    assert.equal((await shown(work)).state, 'INVESTIGATING');
    assert.match(work.read('case.md'), /^state: PLANNING$/m, 'the word stays as it was written');
  });

  it('by >> is a new description', async (t) => {
    const work = await watched(t);
    execFileSync('sh', ['-c', 'printf "\\nAnd more.\\n" >> case.md'], { cwd: work.dir });
    await assertTold(work, 'case_updated');
    assert.equal((await shown(work)).description, 'As it was.\n\nAnd more.');
  });

  it('by a real vim is what the API would have told', async (t) => {
    const work = await watched(t);
    const args = [
      '-u',
      'NONE',
      '-es',
      '-c',
      '%s/^state: OPEN$/state: NON_ISSUE/',
      '-c',
      'x',
      'case.md',
    ];
    try {
      execFileSync('vim', args, { cwd: work.dir, stdio: 'pipe' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      assert.notEqual(process.env.CI, 'true', 'vim has to be there in CI');
      return t.skip('vim is not installed');
    }
    await assertTold(work, 'case_state_changed OPEN NON_ISSUE');
  });

  it('of nothing but comments, order and keys of the operator tells nothing', async (t) => {
    const work = await watched(t);
    const before = work.read('case.md');
    const text = `---\n# mine\nmine: [1, 2]\n${before.slice(4).replace('state: OPEN', "state:   'OPEN'")}`;
    work.write('case.md', text);
    await assertTold(work);
    execFileSync('touch', [join(work.dir, 'case.md')]);
    await assertTold(work);
    work.write('case.md', text);
    writeFileSync(join(work.dir, 'new'), text);
    renameSync(join(work.dir, 'new'), join(work.dir, 'case.md'));
    await assertTold(work);
    assert.equal(work.read('case.md'), text);
  });

  it('and a call of the API right after are two changes, each told once', async (t) => {
    const work = await watched(t);
    work.write('case.md', work.read('case.md').replace('off by one', 'off by two'));
    await work.call('PUT', work.at, { description: 'By the API.' });
    await work.call('PUT', `${work.at}/state`, { state: 'VERIFYING' });
    await assertTold(work, 'case_updated', 'case_updated', 'case_state_changed OPEN VERIFYING');
    const { title, description } = await shown(work);
    assert.deepEqual([title, description], ['Tax is off by two', 'By the API.']);
  });
});

describe('a case.md that cannot be read', () => {
  it('is shown as it last was, with the place, and is written by nobody until it is mended', async (t) => {
    const work = await watched(t);
    const { call, at } = work;
    const good = work.read('case.md');
    const bad = good.replace('state: OPEN', 'state: BLOCKED\n  title: [twice');
    work.write('case.md', bad);
    // Two lines of it are wrong.
    await eventually(async () => assert.equal((await problemsOf(work)).length, 2));
    const problems = await problemsOf(work);
    const [problem] = problems;
    assert.equal(problem?.file, `${work.item.path}/case.md`);
    assert.ok(Number(problem?.line) >= 5 && Number(problem?.column) >= 1, JSON.stringify(problem));
    const list = await call<Case[]>('GET', '/cases');
    assert.deepEqual(
      list.body.map(({ title, state, problems }) => [title, state, problems]),
      [['Tax is off by one', 'OPEN', problems]],
    );
    const refused = assertProblem(await call('PUT', at, { title: 'x' }), 409, 'unreadable_record');
    assert.ok(
      refused.detail.includes(`case.md:${problem?.line}:${problem?.column}:`),
      refused.detail,
    );
    await compareAll(work.running);
    assert.equal(work.read('case.md'), bad);
    assert.deepEqual(told(work.events), []);
    work.write('case.md', good.replace('state: OPEN', 'state: BLOCKED'));
    await assertTold(work, 'case_state_changed OPEN BLOCKED');
    assert.deepEqual(await problemsOf(work), []);
    assert.equal((await shown(work)).problems, undefined);
  });

  it('from the start is reported, and becomes a Work item once it is mended', async (t) => {
    const work = await watched(t);
    const dir = join(work.running.workspace, 'cases/by-hand');
    mkdirSync(dir);
    writeFileSync(join(dir, 'case.md'), '---\ntitle: "never closed\n---\n');
    await eventually(async () =>
      assert.equal((await problemsOf(work))[0]?.file, 'cases/by-hand/case.md'),
    );
    assert.equal((await work.call<Case[]>('GET', '/cases')).body.length, 1);
    writeFileSync(join(dir, 'case.md'), '---\ntitle: "closed"\n---\n');
    await eventually(async () =>
      assert.equal((await work.call<Case[]>('GET', '/cases')).body.length, 2),
    );
    assert.deepEqual(await problemsOf(work), []);
    await assertTold(work);
  });

  it('because it is gone is a fault, not a deletion', async (t) => {
    const work = await watched(t);
    const text = work.read('case.md');
    rmSync(join(work.dir, 'case.md'));
    await eventually(async () => assert.equal((await problemsOf(work))[0]?.code, 'missing_file'));
    assert.equal((await shown(work)).title, 'Tax is off by one');
    assertProblem(await work.call('PUT', work.at, { title: 'x' }), 409, 'unreadable_record');
    work.write('case.md', text.replace('state: OPEN', 'state: BLOCKED'));
    await assertTold(work, 'case_state_changed OPEN BLOCKED');
    assert.deepEqual(await problemsOf(work), []);
  });
});

describe('a directory of a Work item', () => {
  it('that is renamed or moved is the same Work item: no event, another path', async (t) => {
    const work = await watched(t);
    const { workspace } = work.running;
    let from = work.dir;
    for (const path of ['cases/2026-01/renamed', 'cases/archive/2025/deep', 'cases/top']) {
      mkdirSync(join(workspace, path, '..'), { recursive: true });
      renameSync(from, join(workspace, path));
      from = join(workspace, path);
      await eventually(async () => assert.equal((await shown(work)).path, path));
    }
    await assertTold(work);
    assert.equal((await work.call<Case[]>('GET', '/cases')).body.length, 1);
    const memory = await work.call('PUT', `${work.at}/memory/notes.md`, 'in the new place');
    assert.equal(memory.status, 200);
    assert.equal(readFileSync(join(from, 'memory/notes.md'), 'utf8'), 'in the new place');
    await work.running.restart();
    await assertTold(work);
  });

  it('that is moved out of the workspace is gone, and moved back is the same again', async (t) => {
    const work = await watched(t);
    const away = `${work.running.workspace}-away`;
    atEnd(t, () => rmSync(away, { recursive: true, force: true }));
    renameSync(work.dir, away);
    await eventually(async () => assertProblem(await work.call('GET', work.at), 404, 'not_found'));
    renameSync(away, work.dir);
    await eventually(async () => assert.deepEqual(await shown(work), work.item));
    await assertTold(work);
    work.write('case.md', work.read('case.md').replace('state: OPEN', 'state: BLOCKED'));
    await assertTold(work, 'case_state_changed OPEN BLOCKED');
  });

  it('that is moved and edited at once tells the edit alone', async (t) => {
    const work = await watched(t);
    const path = 'cases/moved';
    renameSync(work.dir, join(work.running.workspace, path));
    const file = join(work.running.workspace, path, 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('state: OPEN', 'state: BLOCKED'));
    await assertTold(work, 'case_state_changed OPEN BLOCKED');
    assert.equal((await shown(work)).path, path);
  });

  it('that is copied is reported and left alone; without its id it is a Work item of its own', async (t) => {
    const work = await watched(t);
    const copy = join(work.running.workspace, 'cases/a-copy');
    cpSync(work.dir, copy, { recursive: true });
    await eventually(async () => assert.equal((await problemsOf(work))[0]?.code, 'duplicate_id'));
    const before = fingerprint(copy);
    await work.call('PUT', work.at, { title: 'Only the first' });
    await compareAll(work.running);
    assert.deepEqual(fingerprint(copy), before);
    assert.equal((await shown(work)).path, work.item.path, 'the first seen keeps the id');
    await work.running.restart();
    assert.equal((await shown(work)).path, work.item.path);
    assert.equal((await problemsOf(work))[0]?.code, 'duplicate_id');
    const text = readFileSync(join(copy, 'case.md'), 'utf8');
    writeFileSync(join(copy, 'case.md'), text.replace(/^id: .*\n/m, ''));
    const other = await eventually(async () => {
      const { body } = await work.call<Case[]>('GET', '/cases');
      const found = body.find(({ path }) => path === 'cases/a-copy');
      assert.ok(found);
      return found;
    });
    assert.notEqual(other.id, work.item.id);
    assert.deepEqual(await problemsOf(work), []);
    await assertTold(work, 'case_updated');
  });

  it('that is copied is reported no longer than the copy is there', async (t) => {
    const work = await watched(t);
    const folder = join(work.running.workspace, 'cases/copies');
    cpSync(work.dir, join(folder, 'one'), { recursive: true });
    await eventually(async () => assert.equal((await problemsOf(work))[0]?.code, 'duplicate_id'));
    rmSync(folder, { recursive: true });
    await eventually(async () => assert.deepEqual(await problemsOf(work), []));
  });

  it('that is made by hand with a title alone is adopted, and the rest is left as it was', async (t) => {
    const work = await watched(t);
    const dir = join(work.running.workspace, 'cases/mine');
    mkdirSync(join(dir, 'memory'), { recursive: true });
    writeFileSync(join(dir, 'memory/notes.md'), 'mine');
    const text = '---\r\n# mine\r\ntitle:  "By hand"  # yes\r\nmine: {a:  1}\r\n---\r\nText  \r\n';
    writeFileSync(join(dir, 'case.md'), text);
    const item = await eventually(async () => {
      const { body } = await work.call<Case[]>('GET', '/cases');
      const found = body.find(({ path }) => path === 'cases/mine');
      assert.ok(found);
      return found;
    });
    assert.deepEqual(
      [item.title, item.type, item.state, item.description],
      ['By hand', 'task', 'OPEN', 'Text  '],
    );
    const added = `id: ${item.id}\r\ntype: task\r\nstate: OPEN\r\ncreated_at: ${item.created_at}\r\n`;
    assert.equal(
      readFileSync(join(dir, 'case.md'), 'utf8'),
      text.replace('mine: {a:  1}\r\n', `mine: {a:  1}\r\n${added}`),
    );
    await assertTold(work);
    await work.running.restart();
    const again = await work.call<Case>('GET', `/cases/${item.id}`);
    assert.deepEqual(again.body, item);
    await assertTold(work);
  });

  it('that is removed is 404 after the grace period, and no event', async (t) => {
    const work = await watched(t);
    const kept = `${work.dir}.kept`;
    cpSync(work.dir, kept, { recursive: true });
    rmSync(work.dir, { recursive: true });
    rmSync(kept, { recursive: true });
    await eventually(async () => assertProblem(await work.call('GET', work.at), 404, 'not_found'));
    await assertTold(work);
  });

  it('that is gone and comes back within the grace period never was away', async (t) => {
    const work = await watched(t);
    renameSync(work.dir, join(work.running.workspace, 'elsewhere'));
    renameSync(join(work.running.workspace, 'elsewhere'), work.dir);
    await assertTold(work);
    assert.equal((await shown(work)).path, work.item.path);
  });

  it('two of which change places stay the Work items that their files say', async (t) => {
    const work = await watched(t);
    const { body: other } = await work.call<Case>('POST', '/cases', {
      title: 'The other',
      type: 'bug',
    });
    const [a, b] = [work.dir, join(work.running.workspace, other.path)];
    renameSync(a, `${a}.x`);
    renameSync(b, a);
    renameSync(`${a}.x`, b);
    await eventually(async () => {
      assert.deepEqual((await shown(work)).path, other.path);
      assert.deepEqual(
        (await work.call<Case>('GET', `/cases/${other.id}`)).body.path,
        work.item.path,
      );
    });
    await assertTold(work);
    assert.deepEqual(await problemsOf(work), []);
  });
});

describe('an id in case.md', () => {
  it('that is removed is put back, the rest of the edit is told', async (t) => {
    const work = await watched(t);
    const text = work
      .read('case.md')
      .replace(/^id: .*\n/m, '')
      .replace('off by one', 'off by two');
    work.write('case.md', text);
    await assertTold(work, 'case_updated');
    assert.equal(work.read('case.md'), text.replace('---\n\n', `id: ${work.item.id}\n---\n\n`));
    assert.equal((await shown(work)).title, 'Tax is off by two');
  });

  it('that is changed is reported, for others know the old one', async (t) => {
    const work = await watched(t);
    const text = work.read('case.md');
    work.write('case.md', text.replace(work.item.id, randomUUID()));
    await eventually(async () => assert.equal((await problemsOf(work))[0]?.code, 'wrong_id'));
    assert.equal((await shown(work)).title, 'Tax is off by one');
    // It may be another Work item's directory by now: nothing is put into it, and it is not deleted.
    const { call, at } = work;
    for (const refused of [
      await call('DELETE', at),
      await call('POST', `${at}/proof`, { type: 'log', content: 'x' }),
      await call('PUT', `${at}/memory/notes.md`, 'x'),
    ])
      assertProblem(refused, 409, 'unreadable_record');
    work.write('case.md', text);
    assert.equal((await shown(work)).problems, undefined);
    assert.deepEqual(await problemsOf(work), []);
    await assertTold(work);
  });
});

const HAND_MADE = '---\ntype: screenshot # seen\nmine: 1\n---\n\nIt works.\n';

describe('a proof by hand', () => {
  const only = async ({ call, at }: WithCase): Promise<Proof> => {
    const { body } = await call<Proof[]>('GET', `${at}/proof`);
    assert.equal(body.length, 1);
    return body[0] as Proof;
  };

  it('is created, then verified, each told once', async (t) => {
    const work = await watched(t);
    work.write('proof/shot.md', HAND_MADE);
    await assertTold(work, 'proof_created');
    const made = await only(work);
    assert.deepEqual(
      [made.type, made.content, made.verified, made.commit],
      ['screenshot', 'It works.', false, null],
    );
    const text = work.read('proof/shot.md');
    const added = `id: ${made.id}\nverified: false\ncreated_at: ${made.created_at}\n`;
    assert.equal(text, HAND_MADE.replace('mine: 1\n', `mine: 1\n${added}`));
    assert.deepEqual(work.events[0]?.payload, {
      case_id: work.item.id,
      proof_id: made.id,
      proof_type: 'screenshot',
    });
    work.write('proof/shot.md', text.replace('verified: false', 'verified: true'));
    await assertTold(work, 'proof_created', 'proof_updated true');
    const verified = await only(work);
    assert.equal(verified.verified, true);
    assert.match(work.read('proof/shot.md'), /^verified_sha256: [0-9a-f]{64}$/m);
    assert.match(
      work.read('proof/shot.md'),
      new RegExp(`^verified_at: ${verified.verified_at}$`, 'm'),
    );
  });

  it('that says verified from the start is created and verified', async (t) => {
    const work = await watched(t);
    work.write('proof/shot.md', HAND_MADE.replace('mine: 1', 'verified: true'));
    await assertTold(work, 'proof_created', 'proof_updated true');
    assert.equal((await only(work)).verified, true);
  });

  it('that is edited after it was verified is verified no longer, and that is told', async (t) => {
    const work = await watched(t);
    const { call, at } = work;
    const { body } = await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'ok 1' });
    await call('PUT', `${at}/proof/${body.id}/verify`);
    const file = `proof/log-${body.id.slice(0, 8)}.md`;
    work.write(file, work.read(file).replace('ok 1', 'ok 1\nok 2'));
    await assertTold(work, 'proof_created', 'proof_updated true', 'proof_updated false');
    const now = await only(work);
    assert.deepEqual([now.verified, now.verified_at, now.content], [false, null, 'ok 1\nok 2']);
    const text = work.read(file);
    assert.match(text, /^verified: false$/m);
    assert.doesNotMatch(text, /verified_sha256/);
    await call('PUT', `${at}/proof/${body.id}/verify`);
    assert.equal((await only(work)).verified, true);
    // Line ends and spaces at the end of the file are the editor's business, not the operator's.
    work.write(file, work.read(file).replaceAll('\n', '\r\n'));
    await assertTold(
      work,
      'proof_created',
      'proof_updated true',
      'proof_updated false',
      'proof_updated true',
    );
    assert.equal((await only(work)).verified, true);
  });

  it('satisfies the gate of a Work item that is VERIFYING', async (t) => {
    const work = await watched(t);
    await work.call('PUT', `${work.at}/state`, { state: 'VERIFYING' });
    work.write('proof/shot.md', HAND_MADE.replace('mine: 1', 'verified: true'));
    await assertTold(
      work,
      'case_state_changed OPEN VERIFYING',
      'proof_created',
      'proof_updated true',
      'case_state_changed VERIFYING RESOLVED',
    );
    assert.equal((await shown(work)).outcome, 'resolved');
  });
});

/** The workspace as a git repository of the operator, with what is there committed on main. */
const commitAll = async ({ running }: WithCase): Promise<TestRepository['git']> => {
  const git = gitIn(running.workspace);
  await makeWorkspaceFiles(running.service.store.layout);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'An Operator');
  git('config', 'user.email', 'one@example.com');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'main');
  return git;
};

describe('git checkout in the workspace', () => {
  it('between branches fires exactly the difference, there and back', async (t) => {
    const work = await watched(t);
    const git = await commitAll(work);
    git('checkout', '--quiet', '-b', 'other');
    work.write(
      'case.md',
      work.read('case.md').replace('state: OPEN', 'state: BLOCKED').replace('one', 'two'),
    );
    work.write(
      'proof/shot.md',
      `---\nid: ${randomUUID()}\ntype: log\nverified: false\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n\nok\n`,
    );
    git('add', '--all');
    git('commit', '--quiet', '--message', 'other');
    const there = ['case_updated', 'case_state_changed OPEN BLOCKED', 'proof_created'];
    await assertTold(work, ...there);
    git('checkout', '--quiet', 'main');
    const back = [...there, 'case_updated', 'case_state_changed BLOCKED OPEN'];
    await assertTold(work, ...back);
    await eventually(async () =>
      assert.deepEqual((await work.call('GET', `${work.at}/proof`)).body, []),
    );
    git('checkout', '--quiet', 'other');
    await assertTold(work, ...back, ...there);
  });

  it('of thirty Work items tells each of its own, and a Work item of one branch alone comes and goes', async (t) => {
    const work = await watched(t);
    const items: Case[] = [];
    for (let n = 0; n < 30; n += 1)
      items.push(
        (await work.call<Case>('POST', '/cases', { title: `Number ${n}`, type: 'bug' })).body,
      );
    const git = await commitAll(work);
    git('checkout', '--quiet', '-b', 'other');
    for (const { path } of items) {
      const file = join(work.running.workspace, path, 'case.md');
      writeFileSync(file, readFileSync(file, 'utf8').replace('state: OPEN', 'state: NON_ISSUE'));
    }
    rmSync(work.dir, { recursive: true });
    git('add', '--all');
    git('commit', '--quiet', '--message', 'other');
    const expected = Array(30).fill('case_state_changed OPEN NON_ISSUE');
    await assertTold(work, ...expected);
    assert.deepEqual(
      new Set(work.events.map(({ payload }) => payload.case_id)),
      new Set(items.map(({ id }) => id)),
    );
    await eventually(async () => assertProblem(await work.call('GET', work.at), 404, 'not_found'));
    work.events.length = 0;
    git('checkout', '--quiet', 'main');
    await assertTold(work, ...Array(30).fill('case_state_changed NON_ISSUE OPEN'));
    await eventually(async () => assert.equal((await shown(work)).title, 'Tax is off by one'));
  });

  it('waits while git is at work, so that one checkout is one batch', async (t) => {
    const work = await watched(t);
    await commitAll(work);
    const lock = join(work.running.workspace, '.git/index.lock');
    writeFileSync(lock, '');
    const good = work.read('case.md');
    rmSync(work.dir, { recursive: true });
    mkdirSync(work.dir);
    work.write('case.md', good.replace('state: OPEN', 'state: IMPLEMENTING'));
    work.write('case.md', good.replace('state: OPEN', 'state: BLOCKED'));
    rmSync(lock);
    await assertTold(work, 'case_state_changed OPEN BLOCKED');
  });

  it('neither frees nor forges the session lock', async (t) => {
    const work = await watched(t, '```sh\ntrue\n```\n');
    const git = await commitAll(work);
    git('checkout', '--quiet', '-b', 'other');
    git('commit', '--quiet', '--allow-empty', '--message', 'other');
    const started = await work.call('POST', `${work.at}/sessions`, { type: 'implementing' });
    assert.equal(started.status, 201, started.text);
    const held = await eventually(() => work.read('sessions/lock.md'));
    git('checkout', '--quiet', 'main');
    assert.equal(work.read('sessions/lock.md'), held);
    assert.doesNotMatch(git('status', '--porcelain', '--untracked-files=all'), /lock\.md/);
    git('checkout', '--quiet', 'other');
    assert.equal(work.read('sessions/lock.md'), held);
    assert.equal(readLock(work.running.service.store, work.item.id)?.locked, true);
  });
});

describe('a restart', () => {
  it('makes no event, and a second one neither', async (t) => {
    const work = await watched(t);
    work.write('proof/shot.md', HAND_MADE.replace('mine: 1', 'verified: true'));
    await work.call('PUT', `${work.at}/state`, { state: 'BLOCKED' });
    const expected = ['proof_created', 'proof_updated true', 'case_state_changed OPEN BLOCKED'];
    await assertTold(work, ...expected);
    const before = fingerprint(work.running.workspace);
    for (const _ of [1, 2]) {
      await work.running.restart();
      await assertTold(work, ...expected);
      assert.deepEqual(fingerprint(work.running.workspace), before);
    }
  });

  it('tells what changed while no daemon ran, once', async (t) => {
    const work = await watched(t);
    const receiver = await openReceiver(t);
    await work.call('POST', '/webhooks', { url: receiver.url });
    const { body: other } = await work.call<Case>('POST', '/cases', { title: 'Goes', type: 'bug' });
    await work.running.stop();
    work.write(
      'case.md',
      work.read('case.md').replace('state: OPEN', 'state: PLANNING').replace('one', 'two'),
    );
    work.write('proof/shot.md', HAND_MADE);
    rmSync(join(work.running.workspace, other.path), { recursive: true });
    mkdirSync(join(work.running.workspace, 'cases/new'));
    writeFileSync(join(work.running.workspace, 'cases/new/case.md'), '---\ntitle: New\n---\n');
    await work.running.restart();
    const told3 = ['case_updated', 'case_state_changed OPEN PLANNING', 'proof_created'];
    const received = (): string[] => told(receiver.received.map(({ body }) => JSON.parse(body)));
    await eventually(() => assert.deepEqual(received(), told3));
    const titles = (await work.call<Case[]>('GET', '/cases')).body.map(({ title }) => title);
    assert.deepEqual(titles, ['Tax is off by two', 'New']);
    await work.running.restart();
    // What comes after shows that nothing came between.
    await work.call('PUT', `${work.at}/state`, { state: 'OPEN' });
    const told4 = [...told3, 'case_state_changed PLANNING OPEN'];
    await eventually(() => assert.deepEqual(received(), told4));
    assert.deepEqual(told(work.events), told4.slice(3));
  });

  it('after a move while no daemon ran goes on in the new place, without an event', async (t) => {
    const work = await watched(t);
    await work.running.stop();
    renameSync(work.dir, join(work.running.workspace, 'cases', basename(work.dir)));
    await work.running.restart();
    await assertTold(work);
    assert.equal((await shown(work)).path, `cases/${basename(work.dir)}`);
  });

  it('without .dossier takes a silent new baseline', async (t) => {
    const work = await watched(t);
    await work.running.stop();
    work.write('case.md', work.read('case.md').replace('state: OPEN', 'state: BLOCKED'));
    work.write('proof/shot.md', HAND_MADE);
    rmSync(join(work.running.workspace, '.dossier'), { recursive: true });
    await work.running.restart();
    await assertTold(work);
    assert.equal((await shown(work)).state, 'BLOCKED');
    assert.ok(existsSync(join(work.running.workspace, '.dossier')));
    work.write('case.md', work.read('case.md').replace('state: BLOCKED', 'state: OPEN'));
    await assertTold(work, 'case_state_changed BLOCKED OPEN');
  });
});
