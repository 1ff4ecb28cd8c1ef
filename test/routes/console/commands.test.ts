import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

/** The commands of `dossier` on every page that shows one. */
const commandsIn = async (t: TestContext, workspace: string, env: Record<string, string> = {}) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root], env);
  const { id } = await connect({ url }).call('POST /cases', { body: { title: 'A', type: 'bug' } });
  const pages = ['login', 'settings/export', 'settings/diagnostics', `cases/${id}/pr`];
  const shown = await Promise.all(
    pages.map(async (page) => {
      const html = await (await fetch(`${url}/dashboard/${page}`)).text();
      return [...html.matchAll(/<code>(dossier .*?)<\/code>/g)].map(([, command]) => command);
    }),
  );
  return { shown: shown.flat(), id8: id.slice(0, 8) };
};

describe('the commands that the console shows', () => {
  it('name the workspace, quoted for a shell', async (t) => {
    const workspace = join(temporaryDirectory(t), "it's mine");
    const { shown, id8 } = await commandsIn(t, workspace);
    const where = `--workspace '${workspace.replace("'", "'\\''")}'`;
    assert.deepEqual(shown, [
      `dossier key NAME ${where}`,
      `dossier import export.zip ${where}`,
      `dossier check ${where}`,
      `dossier logs ${where}`,
      `dossier merge ${id8} ${where}`,
    ]);
  });

  it('name no workspace where it is the default one', async (t) => {
    const home = temporaryDirectory(t);
    const env = { HOME: home, DOSSIER_WORKSPACE: '' };
    const { shown, id8 } = await commandsIn(t, join(home, 'dossier'), env);
    assert.deepEqual(shown, [
      'dossier key NAME',
      'dossier import export.zip',
      'dossier check',
      'dossier logs',
      `dossier merge ${id8}`,
    ]);
  });
});
