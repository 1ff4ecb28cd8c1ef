/** Sessions without a sandbox, whose agent changes branches and tags in Plan mode while the operator works, too. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import { writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withCase, withScript } from '../helpers/sessions.ts';

const { kind, reason } = createSandbox('auto', { PATH: process.env.PATH ?? '' });
const skip = kind === 'none' && (reason ?? 'no sandbox');

interface Told {
  ref: string;
  before: string | null;
  after: string | null;
  kept_ref: string | null;
  by?: string | null;
}

interface Planned {
  test: SessionTest;
  git: (...args: string[]) => string;
  refs: () => string[];
  /** The `error` events that name refs. */
  told: (id: string) => Promise<{ code: string; refs: Told[] }[]>;
}

// The operator's commands are run by the agent's script, without the agent's name: at that moment, and no other.
const planned = async (
  t: TestContext,
  { agent = '', operator = '' },
  sandbox: 'auto' | 'off' = 'off',
): Promise<Planned> => {
  const options = withScript(t, {}, sandbox);
  const test = await withCase(t, 'Meddle.', options);
  const { git, root } = test.running.repository;
  git('branch', 'feature');
  git('tag', 'v1');
  git('commit', '-q', '--allow-empty', '-m', 'two');
  const made = await test.running.call('POST', '/api/worktrees', { case_id: test.item.id });
  assert.equal(made.status, 201, made.text);
  const own = '-u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL -u GIT_CONFIG_PARAMETERS';
  writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
    'plan.sh': `${agent}\n(cd ${root} && env ${own} sh -e "$HOME/.test-agent/operator.sh")`,
    'operator.sh': operator,
    'work.sh': 'echo done >> a.txt',
  });
  const format = '--format=%(objectname) %(refname)';
  return {
    ...{ test, git },
    refs: () =>
      git('for-each-ref', format, 'refs/heads', 'refs/tags', 'refs/stash').trim().split('\n'),
    told: async (id) =>
      (await test.eventsOf(id))
        .filter(({ event, data }) => event === 'error' && Array.isArray(data.refs))
        .map(({ data }) => data as unknown as { code: string; refs: Told[] }),
  };
};

const baselinesOf = ({ workspace }: SessionTest): string[] =>
  readdirSync(join(workspace, '.dossier/baselines'));

describe('an agent without a sandbox that changes refs in Plan mode', () => {
  it('has changed none afterwards, and its session has failed', async (t) => {
    const agent =
      'git branch sly; git tag sly; git branch -f feature HEAD; git branch -m feature renamed';
    const { test, git, refs, told } = await planned(t, { agent });
    const before = refs();
    const { id } = await test.start();
    const { error } = await test.until(id, 'failed');
    assert.match(error ?? '', /^plan_mode_violation: branches, tags .*refs\/heads\/sly/);
    assert.deepEqual(refs(), before);
    const [event, ...more] = await told(id);
    assert.deepEqual([event?.code, more], ['plan_mode_violation', []]);
    const names = ['refs/heads/renamed', 'refs/heads/sly', 'refs/tags/sly', 'refs/heads/feature'];
    assert.deepEqual(
      event?.refs.map(({ ref }) => ref),
      names,
    );
    for (const { after, kept_ref } of event?.refs.filter(({ after }) => after !== null) ?? [])
      assert.equal(git('rev-parse', kept_ref ?? '').trim(), after);
    assert.deepEqual(baselinesOf(test), []);
  });

  it('has left no stash, were it none at all, and the operator has those of before', async (t) => {
    for (const mine of [false, true]) {
      const agent = 'git update-ref refs/stash HEAD; git branch sly';
      const { test, git, refs, told } = await planned(t, { agent });
      writeFiles(test.running.repository.root, { 'a.txt': 'mine\n' });
      if (mine) git('stash', 'push', '--quiet', '-m', 'mine');
      const [before, stashes] = [refs(), git('stash', 'list')];
      const { id } = await test.start();
      assert.match((await test.until(id, 'failed')).error ?? '', /^plan_mode_violation/);
      assert.deepEqual([refs(), git('stash', 'list')], [before, stashes]);
      assert.deepEqual(
        (await told(id)).map(({ code }) => code),
        ['plan_mode_violation'],
      );
    }
  });

  it('fails with one sentence for its worktree and the refs', async (t) => {
    const { test, refs } = await planned(t, { agent: 'echo x > new.txt; git tag sly' });
    const before = refs();
    const { id } = await test.start();
    const { error } = await test.until(id, 'failed');
    assert.match(error ?? '', /^plan_mode_violation: the worktree .*new\.txt.* Also, .*tags\/sly/);
    assert.deepEqual(refs(), before);
  });
});

describe('refs that changed in Plan mode, and not in the name of the agent', () => {
  it('stay as they are and are told, and the session goes on', async (t) => {
    const operator = `git commit -q --allow-empty -m mine; git branch mine; git branch -D feature
git tag -d v1; git update-ref refs/remotes/origin/main main`;
    const { test, git, refs, told } = await planned(t, { operator });
    const [feature, main] = git('rev-parse', 'feature', 'main').trim().split('\n');
    const { id } = await test.planned();
    const after = refs();
    assert.equal(git('log', '-1', '--format=%s', 'mine', '--').trim(), 'mine');
    const [event, ...more] = await told(id);
    assert.deepEqual([event?.code, more], ['refs_changed', []]);
    const mine = git('rev-parse', 'mine').trim();
    const by = 'Test Operator <operator@example.com>';
    const kept_ref = null;
    const told_refs = event?.refs.toSorted((a, b) => a.ref.localeCompare(b.ref)) ?? [];
    const [gone, ...noted] = told_refs;
    const tag = noted.pop();
    assert.deepEqual(noted, [
      { ref: 'refs/heads/main', before: main, after: mine, kept_ref, by },
      { ref: 'refs/heads/mine', before: null, after: mine, kept_ref, by },
    ]);
    for (const [told, ref] of [
      [gone, 'refs/heads/feature'],
      [tag, 'refs/tags/v1'],
    ] as const) {
      const { kept_ref, ...rest } = told ?? { kept_ref: null };
      assert.deepEqual(rest, { ref, before: feature, after: null, by: null });
      assert.equal(git('rev-parse', kept_ref ?? '').trim(), feature);
    }

    assert.equal((await test.post(`/sessions/${id}/approve`)).status, 200);
    await test.until(id, 'completed');
    // Its own branch has its work.
    const others = (all: string[]) => all.filter((ref) => !ref.includes('refs/heads/work/'));
    assert.deepEqual(others(refs()), others(after));
    const summary = readFileSync(
      join(newestSession(test.running, test.item), 'session.md'),
      'utf8',
    );
    const back = summary.match(/^git update-ref .*$/gm) ?? [];
    assert.equal(back.length, 2, summary);
    for (const command of back) git(...command.split(' ').slice(1));
    assert.equal(git('rev-parse', 'feature', 'v1').trim(), `${feature}\n${feature}`);
    assert.match(summary, /^# refs\/heads\/main: .*, by Test Operator/m);
  });

  it('are told apart from those of the agent, which are undone', async (t) => {
    const agent = 'git branch sly; git branch -f feature HEAD';
    const operator = 'git commit -q --allow-empty -m mine; git tag mine';
    const { test, git, refs, told } = await planned(t, { agent, operator });
    const before = refs();
    const { id } = await test.start();
    assert.match((await test.until(id, 'failed')).error ?? '', /feature, refs\/heads\/sly\)/);
    const now = refs();
    const isMine = (line: string): boolean => /heads\/main|tags\/mine/.test(line);
    assert.deepEqual(
      now.filter((line) => !isMine(line)),
      before.filter((line) => !isMine(line)),
    );
    assert.equal(git('log', '-1', '--format=%s', 'mine', '--').trim(), 'mine');
    const codes = (await told(id)).map(({ code, refs }) => [code, refs.map(({ ref }) => ref)]);
    assert.deepEqual(codes, [
      ['plan_mode_violation', ['refs/heads/feature', 'refs/heads/sly']],
      ['refs_changed', ['refs/heads/main', 'refs/tags/mine']],
    ]);
  });
});

describe('refs that nobody has changed', () => {
  it('are not spoken of', async (t) => {
    const { test, told, refs } = await planned(t, {});
    const before = refs();
    const { id } = await test.planned();
    assert.deepEqual([await told(id), refs(), baselinesOf(test)], [[], before, []]);
  });

  it('are not even listed where the sandbox holds the agent', { skip }, async (t) => {
    const script = 'ls "$PWD/../../baselines"; env | grep GIT_COMMITTER; git tag sly';
    const { test, told } = await planned(t, { agent: script }, 'auto');
    const { id } = await test.start();
    const baseline = join(test.workspace, '.dossier/baselines', `${test.item.id}.refs`);
    await test.until(id, 'plan_ready');
    const output = (await test.eventsOf(id)).map(({ data }) => data.output ?? '').join('');
    assert.doesNotMatch(output, /GIT_COMMITTER|\.refs/);
    assert.deepEqual([await told(id), existsSync(baseline)], [[], false]);
  });
});
