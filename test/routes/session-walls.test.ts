/** Sessions whose agent looks around and reaches out: what it sees, what it can write, and what its traces can start. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import type { Case } from '../../store/records/case.ts';
import { eventually } from '../helpers/eventually.ts';
import { rewrite } from '../helpers/forged.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { type Answered, newestSession, type Running } from '../helpers/service.ts';
import { type SessionTest, withCase, withScript } from '../helpers/sessions.ts';
import { assertProblem } from '../helpers/work-item.ts';

const { kind, reason } = createSandbox('auto', { PATH: process.env.PATH ?? '' });
const skip = kind === 'none' && (reason ?? 'no sandbox');

// Beside /tmp, of which an agent in a sandbox has one of its own: what it does not see here is hidden for its own sake.
process.env.TMPDIR = '/var/tmp';

const worktreeOf = ({ workspace }: Running, { path }: { path: string }): string =>
  join(workspace, '.dossier/worktrees', basename(path));

const work = async (test: SessionTest): Promise<string> => {
  const { id } = await test.worked();
  return id;
};

const outputOf = async (test: SessionTest, id: string): Promise<string> =>
  (await test.eventsOf(id)).map(({ data }) => data.output ?? '').join('');

const KEYS = ['.ssh/id_ed25519', '.netrc', '.config/gh/hosts.yml', '.aws/credentials'];

describe('an agent in Work mode, in a sandbox', { skip }, () => {
  it('sees no secret, no other worktree and nothing of the daemon, and writes its own worktree alone', async (t) => {
    const options = withScript(t, {}, 'auto');
    const home = options.env?.HOME ?? '';
    writeFiles(home, Object.fromEntries(KEYS.map((name) => [name, 'the key\n'])));
    const env = {
      ...options.env,
      WEBHOOK_SECRET: 'hush',
      GH_TOKEN: 'hush',
      ANTHROPIC_API_KEY: 'hush',
    };
    const elsewhere = temporaryDirectory(t);
    const settings = `${options.settings}\nworktrees:\n  root: ${elsewhere}`;
    const test = await withCase(t, 'Look around.', { ...options, env, settings });
    const { running, item } = test;
    const { body: other } = await running.call<Case>('POST', '/cases', { title: 'B', type: 'bug' });
    const made = await running.call<{ path: string }>('POST', '/api/worktrees', {
      case_id: other.id,
    });
    assert.equal(made.status, 201, made.text);
    const secret = await running.call('POST', '/webhooks', { url: 'http://127.0.0.1:9/x' });
    assert.equal(secret.status, 201, secret.text);
    const main = running.repository.root;
    const places = [
      ...KEYS.map((name) => join(home, name)),
      join(made.body.path, 'a.txt'),
      join(running.workspace, '.dossier/secrets'),
      join(running.workspace, '.dossier/journal'),
    ];
    const record = join(running.workspace, item.path, 'case.md');
    const refused = [
      join(main, 'a.txt'),
      join(main, '.git/hooks/post-commit'),
      join(main, '.git/config'),
      join(main, '.git/config.worktree'),
      join(main, '.git/HEAD'),
      join(main, '.git/info/attributes'),
      join(main, '.git/worktrees', basename(made.body.path), 'HEAD'),
      join(made.body.path, 'a.txt'),
      join(home, 'file'),
      record,
    ];
    const script = [
      'env',
      ...places.map((path) => `cat ${path}/* ${path}; ls -A ${path}`),
      ...refused.map((path) => `echo planted >> ${path} || echo refused ${path}`),
      'git config user.name x || echo no settings',
      `cat ${record}`,
      'echo done >> a.txt; git add a.txt; git -c user.name=a -c user.email=a@b commit -qm mine && git tag mine && echo committed',
      'echo more > b.txt',
    ];
    writeFiles(join(home, '.test-agent'), { 'work.sh': script.join('\n') });
    const before = readFileSync(join(main, '.git/HEAD'), 'utf8');

    const output = await outputOf(test, await work(test));

    assert.doesNotMatch(output, /hush|the key|whsec_/);
    for (const path of refused) {
      assert.match(output, new RegExp(`refused ${path}$`, 'm'));
      if (existsSync(path)) assert.doesNotMatch(readFileSync(path, 'utf8'), /planted/);
    }
    assert.match(output, /no settings/);
    assert.match(output, /^title: Say hello$/m);
    assert.match(output, /^committed$/m);
    assert.equal(readFileSync(join(main, '.git/HEAD'), 'utf8'), before);
    assert.match(running.repository.git('log', '--format=%s', '--all'), /^mine$/m);
    const patch = readFileSync(join(newestSession(running, item), 'diff.patch'), 'utf8');
    assert.match(patch, /\+done[\s\S]*\+more/);
  });

  it('is given a place of its own by name, though such places are hidden', async (t) => {
    const options = withScript(t, { work: 'cat ~/.aws/credentials' }, 'auto');
    writeFiles(options.env?.HOME ?? '', { '.aws/credentials': 'the key\n' });
    const settings = options.settings?.replace('agent"]', 'agent", "~/.aws"]') ?? '';
    const test = await withCase(t, 'Look.', { ...options, settings });
    assert.match(await outputOf(test, await work(test)), /the key/);
  });
});

// Each file with its kind, its permissions and its content; of a directory git keeps for itself nothing.
const picture = (root: string, git = false): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => git || !/\/\.git\//.test(path))
    .filter((path) => !lstatSync(path).isDirectory())
    .map((path) => {
      const { mode } = lstatSync(path);
      const link = lstatSync(path).isSymbolicLink();
      return `${path} ${mode} ${link ? readlinkSync(path) : readFileSync(path, 'latin1')}`;
    })
    .toSorted();

const gitState = (worktree: string): string[] => [
  gitIn(worktree)('rev-parse', 'HEAD'),
  gitIn(worktree)('symbolic-ref', 'HEAD'),
  gitIn(worktree)('ls-files', '--stage'),
  gitIn(worktree)('status', '--porcelain'),
];

const MEDDLE = `
echo x >> a.txt; chmod +x run.sh; rm gone.txt; echo new > new.txt; ln -s /etc/passwd out
git add -A; git -c user.name=a -c user.email=a@b commit -qm sly; git checkout -qb elsewhere
echo staged > staged.txt; git add staged.txt; mv a.txt moved.txt; mkdir a.txt; echo x > a.txt/x
echo 'gitdir: /nowhere' > .git`;

describe('an agent in Plan mode that does all it can', () => {
  const planned = async (t: TestContext, sandbox: 'auto' | 'off', plan: string) => {
    const options = withScript(t, {}, sandbox);
    const files = { 'a.txt': 'one\n', 'run.sh': '#!/bin/sh\n', 'gone.txt': 'still here\n' };
    const test = await withCase(t, 'Meddle.', { ...options, files });
    const { running, item } = test;
    const made = await running.call('POST', '/api/worktrees', { case_id: item.id });
    assert.equal(made.status, 201, made.text);
    const main = running.repository.root;
    const script = plan.replaceAll('$main', main);
    writeFiles(join(options.env?.HOME ?? '', '.test-agent'), { 'plan.sh': script });
    return { test, main, worktree: worktreeOf(running, item) };
  };

  it('has changed nothing in its worktree afterwards, and its session has failed (checked)', async (t) => {
    const { test, worktree } = await planned(t, 'off', MEDDLE);
    const before = [picture(worktree), gitState(worktree)];
    const { id } = await test.start();
    assert.match((await test.until(id, 'failed')).error ?? '', /^plan_mode_violation/);
    assert.deepEqual([picture(worktree), gitState(worktree)], before);
    const patch = join(newestSession(test.running, test.item), 'plan-mode-violation.patch');
    assert.match(readFileSync(patch, 'utf8'), /moved\.txt[\s\S]*new\.txt/);
  });

  it('could change nothing there, nor in the repository or the main checkout (enforced)', {
    skip,
  }, async (t) => {
    const more = `
git tag sly; git branch sly; git config user.name sly; git stash
echo x >> $main/a.txt; echo x > $main/new.txt; chmod 600 $main/run.sh; rm $main/gone.txt
mkdir -p $main/.git/hooks; echo x > $main/.git/hooks/pre-commit; echo x >> $main/.git/info/exclude
rm -rf $main/.git/refs/heads; echo x > $main/.git/HEAD`;
    const { test, worktree, main } = await planned(t, 'auto', MEDDLE + more);
    const before = [picture(worktree), gitState(worktree), picture(main)];
    const refs = test.running.repository.git('show-ref');
    await test.planned();
    assert.deepEqual([picture(worktree), gitState(worktree), picture(main)], before);
    assert.equal(test.running.repository.git('show-ref'), refs);
    // What is binary has any bytes.
    const isText = (line: string): boolean => !/^\S*\/\.git\/(?:index|objects\/)/.test(line);
    const inGit = picture(join(main, '.git'), true).filter(isText).join('\n');
    assert.doesNotMatch(inGit, /sly|hooks\/pre-commit |^x$/m);
  });
});

describe('what an agent without a sandbox plants for git', () => {
  it('is not run by the daemon, whatever it does next with the worktree', async (t) => {
    const traps = temporaryDirectory(t);
    const mark = join(traps, 'ran');
    const options = withScript(t, {});
    const test = await withCase(t, 'Plant.', options);
    const { running, item, at } = test;
    const script = plant(traps, mark, join(running.repository.root, '.git'));
    writeFiles(join(options.env?.HOME ?? '', '.test-agent'), { 'work.sh': script });
    const id = await work(test);
    const worktree = worktreeOf(running, item);
    assert.match(gitIn(worktree)('config', '--includes', 'core.fsmonitor'), /trap/);
    for (const path of [
      `/api/worktrees/${item.id}/status`,
      `/api/worktrees/${item.id}/health`,
      `${at}/sessions/${id}/diff`,
    ])
      assert.equal((await running.call('GET', path)).status, 200, path);
    const again = await test.start();
    await test.until(again.id, 'plan_ready');
    assert.equal((await test.control('abort')).status, 200);
    const removed = await running.call('DELETE', `/api/cases/${item.id}/worktree?force=true`);
    assert.equal(removed.status, 204, removed.text);
    assert.equal(existsSync(mark), false, existsSync(mark) ? readFileSync(mark, 'utf8') : '');
    // It is a real one: the operator's own git falls into it.
    writeFiles(running.repository.root, { 'a.txt': 'two\n' });
    gitIn(running.repository.root)('status');
    await eventually(() => assert.equal(existsSync(mark), true));
  });
});

// Everything by which a repository names a program: in its settings, in a file that they include, as hooks.
const plant = (root: string, mark: string, common: string): string => {
  const trap = join(root, 'trap');
  mkdirSync(join(root, 'hooks'));
  return `set -e
cat > ${trap} <<'END'
#!/bin/sh
echo "$0 $*" >> ${mark}
cat
END
chmod +x ${trap}
common=${common}
mkdir -p $common/hooks
for hook in post-checkout post-index-change reference-transaction pre-commit post-commit post-rewrite; do
  cp ${trap} ${root}/hooks/$hook; cp ${trap} $common/hooks/$hook
done
cat > ${root}/more <<END
[core]
  fsmonitor = ${trap}
  hooksPath = ${root}/hooks
  pager = ${trap}
  alternateRefsCommand = ${trap}
[alias]
  status = !${trap}
  diff-tree = !${trap}
[diff "evil"]
  textconv = ${trap}
  command = ${trap}
[diff]
  external = ${trap}
[filter "evil"]
  clean = ${trap}
  smudge = ${trap}
  required = true
[merge "evil"]
  driver = ${trap}
END
git --git-dir=$common config include.path ${root}/more
echo '* filter=evil diff=evil merge=evil' > .gitattributes
echo planted >> a.txt
rm -f ${mark}
`;
};

describe('a plan that was shown with a sandbox', { skip }, () => {
  const withPlan = async (t: TestContext) => {
    const bin = temporaryDirectory(t);
    const left = join(temporaryDirectory(t), 'left');
    const PATH = `${bin}:${process.env.PATH}`;
    const plan = `Leave it:\n\n\`\`\`sh\ntouch ${left}\n\`\`\`\n`;
    const env = { HOME: temporaryDirectory(t), PATH };
    const test = await withCase(t, plan, { env, settings: 'max_sessions: 1' });
    const failing = '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n';
    return {
      ...{ test, left, plan },
      loseSandbox: async () => {
        writeFiles(bin, { bwrap: failing });
        chmodSync(join(bin, 'bwrap'), 0o755);
        await test.running.restart();
      },
      regainSandbox: async () => {
        rmSync(join(bin, 'bwrap'));
        await test.running.restart();
      },
    };
  };
  const LOST =
    /had a sandbox, .* nothing was started\. .*uid map: Permission denied\. .* restart the daemon and (?:resume|approve) .* set sandbox: off/;
  const assertRefused = (answer: Answered): void => {
    assertProblem(answer, 422, 'invalid_state');
    assert.match(answer.text, LOST);
  };

  it('runs without one only where the operator turned the sandbox off, whatever session.md says', async (t) => {
    const { test, left, loseSandbox } = await withPlan(t);
    const { id } = await test.planned();
    await loseSandbox();
    rewrite(newestSession(test.running, test.item), { sandboxed: 'false' });
    assertRefused(await test.post(`/sessions/${id}/approve`));
    await test.until(id, 'plan_ready');
    assert.ok(!existsSync(left));
    writeFiles(test.running.workspace, { 'workspace.md': '---\nsandbox: off\n---\n' });
    await test.running.restart();
    assert.equal((await test.running.call('POST', '/trust', { all: true })).status, 200);
    assert.equal((await test.post(`/sessions/${id}/approve`)).status, 200);
    await test.until(id, 'completed');
    assert.ok(existsSync(left));
  });

  it('does not run without one where session.md goes back to Plan mode, and to its approval again', async (t) => {
    const { test, left, loseSandbox } = await withPlan(t);
    const { id } = await test.planned();
    const holder = await holdSlot(test);
    await test.post(`/sessions/${id}/approve`);
    await loseSandbox();
    await holder.release();
    await test.until(id, 'paused');
    const dir = newestSession(test.running, test.item);
    const approved = readFileSync(join(dir, 'session.md'), 'utf8');
    rewrite(dir, { status: 'queued', mode: 'plan' });
    rmSync(join(dir, '../lock.md'));
    await test.running.restart();
    await test.until(id, 'paused');
    assert.equal((await test.control('resume')).status, 200);
    await test.until(id, 'plan_ready');
    writeFiles(dir, { 'session.md': approved });
    await test.running.restart();
    await test.until(id, 'paused');
    assertProblem(await test.control('resume'), 409, 'approved_elsewhere');
    assert.ok(!existsSync(left));
  });

  it('does not run without one where the plan was made without one, and approved with one', async (t) => {
    const { test, left, loseSandbox, regainSandbox } = await withPlan(t);
    await loseSandbox();
    const { id } = await test.planned();
    await regainSandbox();
    const holder = await holdSlot(test);
    await test.post(`/sessions/${id}/approve`);
    await loseSandbox();
    await holder.release();
    assertRefused(await test.control('resume'));
    assert.ok(!existsSync(left));
  });

  it('does not run without one where it was approved when the session was created', async (t) => {
    const { test, left, plan, loseSandbox } = await withPlan(t);
    const { id: first } = await test.planned();
    await test.control('abort');
    const holder = await holdSlot(test);
    const { body } = await test.post(`/sessions/${first}/messages`, { text: plan, approve: true });
    await test.until(body.id, 'queued');
    await loseSandbox();
    await holder.release();
    assert.match((await test.until(body.id, 'paused')).error ?? '', LOST);
    assert.ok(!existsSync(left));
  });
});

/** A session of another Work item that takes the only place, until it is released. */
const holdSlot = async ({ running }: SessionTest) => {
  const { body } = await running.call<Case>('POST', '/cases', { title: 'First', type: 'chore' });
  const at = `/cases/${body.id}/sessions`;
  const made = await running.call('POST', at, { type: 'implementing', provider: 'manual' });
  assert.equal(made.status, 201, made.text);
  return { release: () => running.call('POST', `/api/cases/${body.id}/session/abort`) };
};
