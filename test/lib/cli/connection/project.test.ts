import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { atEnd } from '../../../helpers/at-end.ts';
import { dossierIn } from '../../../helpers/command.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';

describe('the repository of a workspace that another machine shared', () => {
  for (const [named, here] of [
    ['git@github.com:acme/app.git', 'https://github.com/Acme/app'],
    ['git@gitlab.example:group/part/app.git', 'git@gitlab.example:group/part/app'],
    ['file:///srv/git/app.git', 'file:///srv/git/app.git/'],
  ] as const)
    it(`is the project that has its remote: ${named}`, async (t) => {
      const workspace = temporaryDirectory(t);
      writeFileSync(join(workspace, 'workspace.md'), `---\nprojects: { app: "${named}" }\n---\n`);
      const { root, git } = makeRepository(t, { files: { 'a.txt': 'a\n' } });
      git('remote', 'add', 'origin', here);
      const env = { ...process.env, DOSSIER_PORT: '0' };
      const at = (...words: string[]) =>
        dossierIn(t, { cwd: root, env }, [...words, '--workspace', workspace]);
      atEnd(t, () => at('stop'));
      const { stdout, stderr } = await at('up', '--no-open');
      assert.match(stdout, /^Project app: .* \(added\)$/m, stderr);
    });

  it('becomes that project also where --repo names it, and has that name from then on', async (t) => {
    const { root, workspace, up } = cloned(t, { app: APP });
    await startHere(t, ['--workspace', workspace, '--repo', root]);
    assert.match((await up()).stdout, /^Project app: .* \(added\)$/m);
    assert.match((await up()).stdout, /^Project app: .* \(existing\)$/m);
  });

  it('is the project of its origin, not of the remote of a colleague', async (t) => {
    const { workspace, up } = cloned(t, { 'app-fork': FORK, app: APP });
    await startHere(t, ['--workspace', workspace]);
    assert.match((await up()).stdout, /^Project app: .* \(added\)$/m);
    const local = join(workspace, '.dossier/local.md');
    const before = readFileSync(local, 'utf8');
    assert.match((await up()).stdout, /^Project app: .* \(existing\)$/m);
    assert.equal(readFileSync(local, 'utf8'), before);
  });

  it('is no project of the remote of a colleague where --repo names it', async (t) => {
    const { root, workspace, up } = cloned(t, { 'app-fork': FORK });
    await startHere(t, ['--workspace', workspace, '--repo', root]);
    assert.match((await up()).stdout, /^Project default: .* \(existing\)$/m);
  });
});

const APP = 'git@github.com:acme/app.git';
const FORK = 'git@github.com:colleague/app.git';

/** A clone of APP that also fetches from FORK, and a workspace with projects of another machine. */
const cloned = (t: TestContext, projects: Readonly<Record<string, string>>) => {
  const workspace = temporaryDirectory(t);
  const settings = `---\nprojects: ${JSON.stringify(projects)}\n---\n`;
  writeFileSync(join(workspace, 'workspace.md'), settings);
  const { root, git } = makeRepository(t, { files: { 'a.txt': 'a\n' } });
  git('remote', 'add', 'colleague', FORK);
  git('remote', 'add', 'origin', APP);
  const up = () => dossierIn(t, { cwd: root }, ['up', '--no-open', '--workspace', workspace]);
  return { root, workspace, up };
};
