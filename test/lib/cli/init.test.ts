import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { init } from '../../../lib/cli/init.ts';
import { layoutOf } from '../../../store/layout.ts';
import { FORMAT, Settings } from '../../../store/records/settings.ts';
import { readSettings } from '../../../store/settings/globals.ts';
import { SETTINGS_TEXT } from '../../../store/settings/settings-text.ts';
import { callOf } from '../../helpers/call-of.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const IDENTITY = '[user]\n\tname = Operator\n\temail = operator@example.com\n';

/** Runs init as a user whose git settings are these, and answers what it said. */
const run = async (t: TestContext, workspace: string, settings = IDENTITY): Promise<string> => {
  const home = temporaryDirectory(t);
  writeFileSync(join(home, '.gitconfig'), settings);
  const call = callOf(['init', '--workspace', workspace], {
    HOME: home,
    PATH: process.env.PATH,
  });
  const said: string[] = [];
  assert.equal(await init(call, (line) => said.push(line)), 0);
  return said.join('\n');
};

describe('init', () => {
  it('makes settings, .gitignore, .gitattributes and a repository with them in its first commit', async (t) => {
    const workspace = join(temporaryDirectory(t), 'new/space');
    const said = await run(t, workspace);
    assert.match(
      said,
      /Created workspace.md\nCreated .gitignore\nCreated .gitattributes\nCreated a git repository\nCommitted/,
    );
    const git = gitIn(workspace);
    assert.equal(git('ls-files'), '.gitattributes\n.gitignore\nworkspace.md\n');
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('log', '--format=%an'), 'Operator\n');
  });

  it('keeps git from all that is only for this machine', async (t) => {
    const workspace = temporaryDirectory(t);
    await run(t, workspace);
    for (const name of [
      '.dossier/secrets/one',
      'cases/2026-01/a-12345678/sessions/lock.md',
      'cases/2026-01/a-12345678/sessions.lock/x',
      'cases/2026-01/a-12345678/case.md.tmp',
    ]) {
      mkdirSync(join(workspace, name, '..'), { recursive: true });
      writeFileSync(join(workspace, name), 'x');
    }
    gitIn(workspace)('add', '--all');
    assert.equal(gitIn(workspace)('ls-files'), '.gitattributes\n.gitignore\nworkspace.md\n');
  });

  it('changes nothing when it is run again, nor what the operator had', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, '.gitignore'), 'mine\n');
    await run(t, workspace);
    writeFileSync(join(workspace, 'workspace.md'), '---\nprovider: manual\n---\n');
    const said = await run(t, workspace);
    assert.match(said, /workspace.md exists; unchanged/);
    assert.match(said, /The git repository exists; unchanged/);
    assert.equal(readFileSync(join(workspace, '.gitignore'), 'utf8'), 'mine\n');
    assert.equal(
      readFileSync(join(workspace, 'workspace.md'), 'utf8'),
      '---\nprovider: manual\n---\n',
    );
    assert.equal(gitIn(workspace)('log', '--format=%s'), 'workspace: created\n');
  });

  it('keeps secrets out of git even where the .gitignore is not its own', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, '.gitignore'), 'mine\n');
    await run(t, workspace);
    mkdirSync(join(workspace, '.dossier/secrets'), { recursive: true });
    writeFileSync(join(workspace, '.dossier/secrets/one'), 'x');
    gitIn(workspace)('add', '--all');
    assert.equal(gitIn(workspace)('ls-files'), '.gitattributes\n.gitignore\nworkspace.md\n');
  });

  it('commits as Dossier where git does not know who its user is', async (t) => {
    const workspace = temporaryDirectory(t);
    assert.match(await run(t, workspace, ''), /Committed workspace.md, .gitignore, .gitattributes/);
    assert.equal(gitIn(workspace)('log', '--format=%an %cn'), 'Dossier Dossier\n');
  });

  it('leaves the commits of a repository that was there to the operator', async (t) => {
    const { root, git } = makeRepository(t);
    assert.match(await run(t, join(root, 'space')), /in the git repository .*commit it yourself/);
    assert.equal(existsSync(join(root, 'space/.git')), false);
    assert.equal(git('log', '--format=%s'), 'start\n');
  });
});

describe('the settings of a new workspace', () => {
  it('are read without a problem, and change nothing', (t) => {
    const root = temporaryDirectory(t);
    writeFileSync(join(root, 'workspace.md'), SETTINGS_TEXT);
    const settings = readSettings(layoutOf(root));
    assert.equal(settings?.problem, undefined);
    assert.deepEqual(settings?.value, { format: FORMAT, provider: 'runbook' });
  });

  it('show every setting there is, and each can be switched on as it stands', (t) => {
    const root = temporaryDirectory(t);
    writeFileSync(join(root, 'workspace.md'), SETTINGS_TEXT.replaceAll(/^#(?! \S|$)/gm, ''));
    const settings = readSettings(layoutOf(root));
    assert.equal(settings?.problem, undefined);
    assert.deepEqual(
      Object.keys(settings?.value ?? {}).toSorted(),
      Object.keys(Settings.properties).toSorted(),
    );
  });
});
