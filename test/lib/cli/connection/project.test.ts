import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
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

  it('becomes that project also where --repo names it, and once', async (t) => {
    const workspace = temporaryDirectory(t);
    const remote = 'git@github.com:acme/app.git';
    writeFileSync(join(workspace, 'workspace.md'), `---\nprojects: { app: "${remote}" }\n---\n`);
    const { root, git } = makeRepository(t, { files: { 'a.txt': 'a\n' } });
    git('remote', 'add', 'origin', remote);
    await startHere(t, ['--workspace', workspace, '--repo', root]);
    const up = () => dossierIn(t, { cwd: root }, ['up', '--no-open', '--workspace', workspace]);
    assert.match((await up()).stdout, /^Project app: .* \(added\)$/m);
    assert.match((await up()).stdout, /^Project default: .* \(existing\)$/m);
    const started = await dossierIn(t, { cwd: root }, [
      'new',
      'It',
      '--project',
      'app',
      '--workspace',
      workspace,
    ]);
    assert.equal(started.code, 0, started.stderr);
  });
});
