/** Many runs in Plan and Work mode that do their worst in a sandbox. DOSSIER_ADVERSARY: how many; a seed each (`npm run soak:adversary`). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { hostileScript, objectsOf, pictureOf, type Targets } from '../helpers/adversary.ts';
import { eventually } from '../helpers/eventually.ts';
import { missing } from '../helpers/inside.ts';
import { gitIn, writeFiles } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';
import { withScript } from '../helpers/sessions.ts';

const RUNS = Number(process.env.DOSSIER_ADVERSARY ?? 5);
const FIRST = Number(process.env.DOSSIER_ADVERSARY_SEED ?? 1);

interface Scene {
  running: Running;
  home: string;
  targets: Targets;
}

const makeItem = async (running: Running, title: string): Promise<Case> => {
  const made = await running.call<Case>('POST', '/cases', { title, type: 'bug' });
  assert.equal(made.status, 201, made.text);
  return made.body;
};

const scene = async (t: TestContext): Promise<Scene> => {
  const options = withScript(t, {}, 'auto');
  const home = options.env?.HOME ?? '';
  writeFiles(home, {
    '.ssh/id': 'secret\n',
    '.npmrc': '//x/:_authToken=secret\n',
    '.bashrc': '# mine\n',
    '.claude/settings.json': '{"mine":1}\n',
    '.gitconfig': '[user]\n\tname = me\n',
  });
  const running = await startForTest(t, options);
  const { root, git } = running.repository;
  writeFiles(root, { 'a.txt': 'zero\n' });
  git('commit', '-qam', 'zero');
  git('branch', 'other');
  git('tag', '-a', 'v1', '-m', 'v1');
  writeFiles(root, { 'a.txt': 'stashed\n' });
  git('stash', 'push', '--quiet', '-m', 'mine');
  const other = await makeItem(running, 'Another');
  const { body } = await running.call<{ path: string }>('POST', '/api/worktrees', {
    case_id: other.id,
  });
  const { workspace } = running;
  const targets = {
    ...{ repo: root, home, workspace, otherTree: body.path, port: 4870 },
    other: join(workspace, other.path),
  };
  return { running, home, targets };
};

const RESTING = ['plan_ready', 'completed', 'failed', 'aborted', 'paused'];

const atRest = ({ running }: Scene, at: string): Promise<Session> =>
  eventually(async () => {
    const { body } = await running.call<Session>('GET', at);
    assert.ok(RESTING.includes(body.status), body.status);
    return body;
  });

/** One session with this script as its agent's, in the mode it is for, until it is at rest. */
const attack = async (
  on: Scene,
  item: Case,
  mode: 'plan' | 'work',
  script: string,
): Promise<Session> => {
  const { running, home } = on;
  // What follows would end this machine otherwise.
  assert.equal(running.service.sandbox().kind, 'bubblewrap');
  const scripts = { 'plan.sh': ':', 'work.sh': ':', [`${mode}.sh`]: script };
  writeFiles(join(home, '.test-agent'), scripts);
  const made = await running.call<Session>('POST', `/cases/${item.id}/sessions`, {
    type: 'implementing',
  });
  assert.equal(made.status, 201, made.text);
  const at = `/cases/${item.id}/sessions/${made.body.id}`;
  const planned = await atRest(on, at);
  if (mode === 'plan' || planned.status !== 'plan_ready') return planned;
  const approved = await running.call('POST', `${at}/approve`);
  assert.equal(approved.status, 200, approved.text);
  return eventually(async () => {
    const session = await atRest(on, at);
    assert.notEqual(session.status, 'plan_ready');
    return session;
  });
};

// A run that could not start changes nothing either.
const assertRan = (ends: readonly string[]): void => {
  for (const end of RUNS < 12 ? [] : ['plan plan_ready', 'work completed'])
    assert.ok(ends.includes(end), ends.join());
};

describe('the picture of what is the operator’s', { skip: missing }, () => {
  it('is another after every kind of change that is looked for', async (t) => {
    const { targets } = await scene(t);
    const { repo, home, workspace, other, otherTree } = targets;
    const git = gitIn(repo);
    const seen = (): string => JSON.stringify(pictureOf(targets, () => false));
    const changes: (() => unknown)[] = [
      () => git('branch', 'new'),
      () => git('stash', 'drop', '--quiet'),
      () => git('config', 'core.fsmonitor', 'x'),
      () => writeFiles(repo, { '.git/hooks/post-checkout': 'x' }),
      () => writeFiles(repo, { 'a.txt': 'other\n' }),
      () => writeFiles(home, { '.bashrc': 'x' }),
      () => writeFiles(workspace, { 'workspace.md': 'x' }),
      () => writeFiles(workspace, { '.dossier/trust/x': 'x' }),
      () => writeFiles(other, { 'proof/x.md': 'x' }),
      () => writeFiles(otherTree, { 'a.txt': 'x' }),
    ];
    for (const change of changes) {
      const before = seen();
      change();
      assert.notEqual(seen(), before, String(change));
    }
  });
});

describe(`${RUNS} hostile runs in the sandbox`, { skip: missing }, () => {
  it('change nothing of the operator’s but the branch and the worktree that are theirs', async (t) => {
    const on = await scene(t);
    const { targets, running } = on;
    const ends: string[] = [];
    for (let seed = FIRST; seed < FIRST + RUNS; seed += 1) {
      const mode = seed % 2 === 0 ? 'work' : 'plan';
      const item = await makeItem(running, `Run ${seed}`);
      const script = hostileScript(seed, targets);
      const own = (ref: string): boolean =>
        ref.startsWith('refs/dossier/') || ref.includes(item.id.slice(0, 8));
      const [before, objects] = [pictureOf(targets, own), objectsOf(targets.repo)];
      const { status, error } = await attack(on, item, mode, script);
      const why = `seed ${seed}, ${mode}, ${status}: ${error ?? ''}\n${script}`;
      assert.deepEqual(pictureOf(targets, own), before, why);
      const now = new Set(objectsOf(targets.repo));
      assert.deepEqual(
        objects.filter((object) => !now.has(object)),
        [],
        why,
      );
      const { body } = await running.call<Case>('GET', `/cases/${item.id}`);
      assert.notEqual(body.state, 'RESOLVED', why);
      ends.push(`${mode} ${status}`);
      await running.call('POST', `/api/cases/${item.id}/session/abort`);
    }
    t.diagnostic(ends.join(', '));
    assertRan(ends);
  });
});
