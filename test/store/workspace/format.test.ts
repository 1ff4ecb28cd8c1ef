import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { FileProblem } from '../../../store/front-matter/problem.ts';
import { layoutOf } from '../../../store/layout.ts';
import type { Case } from '../../../store/records/case.ts';
import type { Session } from '../../../store/records/session.ts';
import { FORMAT } from '../../../store/records/settings.ts';
import { SETTINGS_TEXT } from '../../../store/settings/settings-text.ts';
import { formatOf, type Step } from '../../../store/workspace/format.ts';
import { holdWorkspace } from '../../../store/workspace/hold.ts';
import { PROJECT } from '../../examples/run.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { assertSentence, dossier } from '../../helpers/command.ts';
import { eventually } from '../../helpers/eventually.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { startForTest } from '../../helpers/service.ts';
import { STATE_DIR } from '../../helpers/state-dir.ts';
import { filesOf, openCompared } from '../../helpers/workspace.ts';

/** Workspaces as releases left them, each named after its release. Those of single commits are for upgrade.test.ts. */
const KEPT = join(PROJECT, 'test/store/kept-workspaces');
const RELEASES = readdirSync(KEPT).filter((name) => !name.startsWith('commit-'));

const keptOf = (t: TestContext, release: string): string => {
  const root = temporaryDirectory(t);
  cpSync(join(KEPT, release), root, { recursive: true });
  return root;
};

const keptNow = (t: TestContext): string => {
  const root = join(temporaryDirectory(t), 'kept');
  execFileSync(process.execPath, ['.ci/keep-workspace.mjs', root], { cwd: PROJECT });
  return root;
};

const open = async (t: TestContext, root: string, steps?: readonly Step[]) => {
  const opened = await openCompared(root, {
    state: STATE_DIR,
    clock: () => new Date(),
    follow: () => undefined,
    report: () => undefined,
    trust: true,
    ...(steps && { steps }),
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= opened.close();
    return closed;
  };
  atEnd(t, close);
  return { ...opened, close };
};

const release = (version: string): string =>
  `---\n# mine\nformat: ${version}\nprovider: manual\n---\n\nNotes.\n`;

describe('a workspace of an older release', () => {
  it('is kept for each release', () => {
    const changes = readFileSync(join(PROJECT, 'CHANGELOG.md'), 'utf8');
    const releases = [...changes.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version);
    assert.deepEqual(RELEASES.toSorted(), releases.toSorted());
  });

  const kept = RELEASES.map((name) => [name, (t: TestContext) => keptOf(t, name)] as const);
  for (const [name, from] of [...kept, ['the one to keep of this version', keptNow] as const])
    it(`is opened, read and changed: ${name}`, async (t) => {
      const workspace = from(t);
      const before = filesOf(workspace);
      const { call } = await startForTest(t, { workspace });
      assert.deepEqual((await call('GET', '/api/diagnostics')).body, []);
      const { body: items } = await call<Case[]>('GET', '/cases');
      assert.deepEqual(
        items.map(({ title, state }) => [title, state]),
        [['Say hello', 'RESOLVED']],
      );
      const at = `/cases/${items[0]?.id}`;
      const { body: sessions } = await call<Session[]>('GET', `${at}/sessions`);
      assert.deepEqual(
        sessions.map(({ status, mode }) => [status, mode]),
        [['completed', 'work']],
      );
      const [session] = sessions;
      assert.match((await call('GET', `${at}/sessions/${session?.id}/plan`)).text, /hello/);
      assert.match((await call('GET', `${at}/sessions/${session?.id}/diff`)).text, /\+hello/);
      const { body: proofs } = await call<{ verified: boolean }[]>('GET', `${at}/proof`);
      assert.deepEqual(
        proofs.map(({ verified }) => verified),
        [true],
      );
      assert.deepEqual(filesOf(workspace), before);
      assert.equal((await call('PUT', `${at}/state`, { state: 'OPEN' })).status, 200);
    });
});

describe('format in workspace.md', () => {
  it('is 1 where it is missing, wrong, or nothing is there', (t) => {
    const root = temporaryDirectory(t);
    assert.equal(formatOf(layoutOf(root)), 1);
    for (const text of ['no front matter', '---\nprovider: manual\n---\n', release('soon')]) {
      writeFiles(root, { 'workspace.md': text });
      assert.equal(formatOf(layoutOf(root)), 1, text);
    }
    writeFiles(root, { 'workspace.md': SETTINGS_TEXT });
    assert.equal(formatOf(layoutOf(root)), FORMAT);
  });

  it('of a newer Dossier is refused with a sentence, by every command, and nothing is written', async (t) => {
    const root = temporaryDirectory(t);
    // What is YAML to that one may not be to this one.
    for (const more of ['', 'provider: a: b\n']) {
      writeFiles(root, { 'workspace.md': release(`2\n${more}`) });
      for (const command of ['serve', 'init', 'check', 'trust', 'key']) {
        const ended = await dossier(t, command, '--workspace', root);
        assert.equal(ended.code, 1, command);
        assertSentence(
          ended,
          /files of format 2, written by a newer Dossier; this one supports up to 1/,
        );
      }
      assert.match((await dossier(t, 'doctor', '--workspace', root)).stdout, /missing format/);
      await assert.rejects(open(t, root), { name: 'FormatError' });
      await assert.rejects(holdWorkspace(root), { name: 'FormatError' });
      assert.deepEqual(readdirSync(root), ['workspace.md']);
    }
  });

  it('is told when it comes while the daemon runs', async (t) => {
    const { call, workspace } = await startForTest(t, {
      settings: 'provider: manual',
      watch: true,
    });
    writeFileSync(join(workspace, 'workspace.md'), release('2'));
    await eventually(async () => {
      const { body } = await call<FileProblem[]>('GET', '/api/diagnostics');
      const told = body.map(({ code, line, message }) => [code, line, message.split(':', 1)[0]]);
      assert.deepEqual(told, [['not_a_record', 3, 'format']]);
    });
  });

  const planted = (log: number[], fail?: number): Step[] =>
    [2, 3].map((to) => ({
      to,
      upgrade: async ({ root }) => {
        if (to === fail) throw new Error('the power went');
        log.push(to);
        writeFileSync(join(root, `step-${to}.md`), 'done\n');
      },
    }));

  it('is raised by each step that there is, in order, and only once', async (t) => {
    const root = keptOf(t, '0.1.0');
    const log: number[] = [];
    const first = await open(t, root, planted(log));
    assert.deepEqual([log, formatOf(layoutOf(root))], [[2, 3], 3]);
    await first.close();
    await (await open(t, root, planted(log))).close();
    assert.deepEqual(log, [2, 3]);
    await assert.rejects(open(t, root), { name: 'FormatError' });
  });

  it('goes on where it was interrupted, and keeps what else stands there', async (t) => {
    const root = temporaryDirectory(t);
    writeFiles(root, { 'workspace.md': '---\n# mine\nprovider: manual\n---\n\nNotes.\n' });
    const log: number[] = [];
    await assert.rejects(open(t, root, planted(log, 3)), /the power went/);
    assert.equal(formatOf(layoutOf(root)), 2);
    assert.equal(existsSync(join(root, '.dossier/owner.json')), false);
    await open(t, root, planted(log));
    assert.deepEqual(log, [2, 3]);
    const text = readFileSync(join(root, 'workspace.md'), 'utf8');
    assert.match(text, /# mine\nprovider: manual\n[\s\S]*\n\nNotes\.\n$/);
  });

  it('is that of today where a workspace is made', async (t) => {
    const root = temporaryDirectory(t);
    const log: number[] = [];
    await open(t, root, planted(log));
    assert.deepEqual(log, []);
  });
});
