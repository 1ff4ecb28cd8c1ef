import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Session } from '../../store/records/session.ts';
import { eventually } from './eventually.ts';
import {
  gitIn,
  makeRepository,
  type TestRepository,
  temporaryDirectory,
  writeFiles,
} from './repository.ts';
import { type Running, startOn } from './service.ts';
import { startTraced } from './strace.ts';
import { clientOf } from './stream.ts';

const PLAN = `\`\`\`sh
echo b > b.txt; git add b.txt; git commit -qm mine; git branch aside; git update-ref refs/heads/main HEAD
echo s > staged.txt; git add staged.txt; echo u > new.txt
\`\`\`
`;

interface Scene {
  workspace: string;
  repository: TestRepository;
  caseId: string;
  sid: string;
  /** The worktree. */
  path: string;
}

/**
 * Runs a Work turn under a strace with these arguments to its end, or to that of the daemon; starts another daemon on
 * what is left, and asserts that all of the turn is taken in and nothing of it lies around. False where nobody was killed.
 */
export const killTurn = async (
  t: TestContext,
  sandbox: 'auto' | 'off',
  strace: string[],
): Promise<boolean> => {
  const repository = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const { root, git } = repository;
  for (const args of [
    ['branch', 'other'],
    ['tag', '-a', 'v1', '-m', 'v1'],
  ])
    git(...args);
  writeFiles(root, { 'a.txt': 'stashed\n' });
  git('stash', 'push', '-q');
  const workspace = temporaryDirectory(t);
  writeFileSync(join(workspace, 'workspace.md'), `---\nsandbox: ${sandbox}\n---\n`);
  const daemon = await startTraced(t, ['--workspace', workspace, '--repo', root]);
  const { post, get } = clientOf(daemon.url);
  const item = { title: 'Work', type: 'bug', description: PLAN };
  const caseId = String((await post('/cases', item)).id);
  const sessions = `/cases/${caseId}/sessions`;
  const sid = String((await post(sessions, { type: 'implementing' })).id);
  const status = async () => (await get(`${sessions}/${sid}`)).status;
  await eventually(async () => assert.equal(await status(), 'plan_ready'));
  const scene: Scene = { ...{ workspace, repository, caseId, sid }, path: worktreeIn(workspace) };
  const before = pictureOf(scene);
  await daemon.attach([...strace, '--output=/dev/null']);
  await post(`${sessions}/${sid}/approve`).catch(unlessGone);
  await eventually(async () => {
    if (daemon.alive()) assert.equal(await status().catch(unlessGone), 'completed');
  });
  const survived = await daemon.kill();
  await startAgain(scene, before);
  return !survived;
};

const unlessGone = (error: unknown): undefined => {
  if (!(error instanceof TypeError)) throw error;
};

const worktreeIn = (workspace: string): string => {
  const root = join(workspace, '.dossier/worktrees');
  const [name = ''] = readdirSync(root).filter((each) => !each.endsWith('.json'));
  return join(root, name);
};

// All of the operator's that no turn may change.
const pictureOf = ({ repository: { root, git }, path }: Scene): Record<string, string> => ({
  refs: git('for-each-ref', 'refs/heads/main', 'refs/heads/other', 'refs/tags'),
  branches: git('branch', '--format=%(refname)'),
  stash: git('stash', 'list', '--format=%H %gs'),
  status: git('status', '--porcelain', '--branch'),
  config: readFileSync(join(root, '.git/config'), 'utf8'),
  head: readFileSync(join(root, '.git/HEAD'), 'utf8'),
  link: readFileSync(join(path, '.git'), 'utf8'),
});

const startAgain = async (scene: Scene, before: Record<string, string>): Promise<void> => {
  const { workspace, repository, path } = scene;
  const had = workIn(scene);
  const life = await startOn(workspace, repository.root);
  try {
    assert.deepEqual(pictureOf(scene), before);
    await checkWork(life, scene, had);
    checkLeft(scene);
    assert.deepEqual(await diagnosticsOf(life), []);
    assert.match(readdirSync(path).toSorted().join(' '), /^\.git a\.txt( \w+\.txt)*$/);
  } finally {
    await life.stop();
  }
};

// Nobody knows what else an unsandboxed run wrote whose daemon died: what it may have written is held, and told.
const diagnosticsOf = async (life: Running): Promise<string[]> =>
  (await life.call<{ code: string }[]>('GET', '/api/diagnostics')).body
    .map(({ code }) => code)
    .filter((code) => code !== 'held');

interface Work {
  committed: boolean;
  aside: boolean;
}

// What of the work there was when the daemon died: in the turn's repository, or taken in already.
const workIn = ({ workspace, caseId, path, repository }: Scene): Work => {
  const dir = join(workspace, '.dossier/repositories', caseId, 'git');
  const git = (...args: string[]) =>
    existsSync(dir) ? gitIn(path)(`--git-dir=${dir}`, ...args) : repository.git(...args);
  const branch = gitIn(path)('rev-parse', '--abbrev-ref', 'HEAD').trim();
  return {
    committed: git('log', '-1', '--format=%s', branch, '--').trim() === 'mine',
    aside: existsSync(dir) && git('branch', '--list', 'aside') !== '',
  };
};

const checkWork = async (life: Running, scene: Scene, had: Work): Promise<void> => {
  const { path, caseId, sid, repository } = scene;
  const git = gitIn(path);
  const tip = git('log', '-1', '--format=%s').trim();
  assert.ok(tip === 'mine' || (tip === 'start' && !had.committed), `${tip} is its commit`);
  for (const line of git('status', '--short').split('\n').filter(Boolean))
    assert.match(line, /^(?:A |\?\?) (?:b|staged|new)\.txt$/);
  const { status } = (await life.call<Session>('GET', `/cases/${caseId}/sessions/${sid}`)).body;
  const headers = { accept: 'application/json' };
  const { text } = await life.call(
    'GET',
    `/cases/${caseId}/sessions/${sid}/stream`,
    undefined,
    headers,
  );
  if (status === 'completed' || had.aside) {
    assert.match(text, /refs_kept/, 'what is kept is told');
    assert.match(repository.git('for-each-ref', 'refs/dossier/undone'), /heads\/aside\n/);
  }
  if (status !== 'completed') assert.match(status, /^(?:paused|plan_ready)$/);
  assert.doesNotMatch(text, /repository_kept/);
};

const checkLeft = ({ workspace, repository }: Scene): void => {
  const dossier = join(workspace, '.dossier');
  for (const name of ['repositories', 'tmp', 'trash'])
    assert.deepEqual(
      existsSync(join(dossier, name)) ? readdirSync(join(dossier, name)) : [],
      [],
      name,
    );
  assert.equal(repository.git('for-each-ref', 'refs/dossier/pins'), '', 'no pin');
  repository.git('fsck', '--full', '--no-dangling');
};
