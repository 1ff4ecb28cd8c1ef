/** What a session leaves that runs later: each file of it is named before the diff, wherever the diff is shown. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DiffFile } from '../../store/records/diff-file.ts';
import { gitScene, type Scene, skipOf } from '../helpers/git-scene.ts';

const FILES = {
  'package.json': `${JSON.stringify({ name: 'x', scripts: { a: '1', b: '2', c: '3', d: '4', test: 'x' }, version: '1' }, null, 2)}\n`,
  Makefile: 'all:\n',
  '.gitattributes': '*.sh text\n',
  'shared.conf': '[user]\n',
  'scripts/clean.sh': 'cat\n',
  'tools/commit-msg': 'true\n',
  'gone/.envrc': 'layout node\n',
};

const filesOf = async ({ test }: Scene, query = ''): Promise<DiffFile[]> => {
  const { running, item } = test;
  const all = await running.call<{ id: string }[]>('GET', `/cases/${item.id}/sessions`);
  const at = `/cases/${item.id}/sessions/${all.body.at(-1)?.id}`;
  const { body, text, status } = await running.call<DiffFile[]>('GET', `${at}/diff/files${query}`);
  assert.equal(status, 200, text);
  return body;
};

for (const sandbox of ['auto', 'off'] as const)
  describe(`what runs later (sandbox: ${sandbox})`, { skip: skipOf(sandbox) }, () => {
    it('is listed first, and told when it runs', async (t) => {
      const on = await gitScene(t, sandbox, undefined, FILES);
      on.main('config', 'core.hooksPath', 'tools');
      on.main('config', 'include.path', '../worktree/none');
      on.main('config', '--add', 'include.path', `${on.path}/shared.conf`);
      on.main('config', 'filter.tidy.clean', 'sh ./scripts/clean.sh %f');
      await on.work(`sed -i 's/"d": "4"/"d": "evil"/' package.json; echo x >> Makefile; echo '*.bin filter=lfs' >> .gitattributes
echo 'exec=1' >> shared.conf; echo evil >> scripts/clean.sh; echo evil >> tools/commit-msg; rm gone/.envrc; echo evil > .envrc; mkdir -p .vscode .github/workflows; echo '{}' > .vscode/tasks.json; echo x > .github/workflows/ci.yml; echo x >> a.txt; echo x > zz.txt`);
      const files = await filesOf(on);
      assert.deepEqual(
        files.filter(({ runs }) => runs.length > 0).map(({ path, runs }) => [path, ...runs]),
        [
          ['.envrc', 'runs when you enter the directory with direnv'],
          ['.gitattributes', 'runs the filters, diff and merge drivers of your git settings'],
          ['.github/workflows/ci.yml', 'runs in CI when you push'],
          ['.vscode/tasks.json', 'runs when you open the folder in VS Code'],
          ['Makefile', 'runs when you run `make`'],
          ['package.json', 'runs when you run `npm run d`'],
          ['scripts/clean.sh', 'runs when your git uses `filter.tidy.clean`'],
          ['shared.conf', 'runs when your git includes it by `include.path`'],
          ['tools/commit-msg', 'runs when you commit, push or check out: a git hook'],
        ],
      );
      assert.deepEqual(
        files.slice(9).map(({ path, kind }) => [path, kind]),
        [
          ['a.txt', 'changed'],
          ['gone/.envrc', 'deleted'],
          ['zz.txt', 'new'],
        ],
      );
      const summary = on.summary().split('## What changed')[1] ?? '';
      assert.match(
        summary,
        /^\s+Files that run something later, outside the sandbox:\s+```text\n\.envrc: runs when you enter/,
      );
      const { running, item } = on.test;
      const all = await running.call<{ id: string }[]>('GET', `/cases/${item.id}/sessions`);
      const page = await running.call(
        'GET',
        `/dashboard/cases/${item.id}/sessions/${all.body.at(-1)?.id}/diff`,
      );
      const shown = page.text.indexOf('<code>.envrc</code> runs when you enter the directory');
      const patch = page.text.indexOf('aria-label="Patch"');
      assert.ok(shown > 0 && shown < patch, `${shown} ${patch}`);
    });

    it('is told more of, not less, once the worktree is gone', async (t) => {
      const on = await gitScene(t, sandbox, undefined, FILES);
      await on.work(`sed -i 's/"d": "4"/"d": "evil"/' package.json`);
      const runs = async () => (await filesOf(on))[0]?.runs;
      assert.deepEqual(await runs(), ['runs when you run `npm run d`']);
      const { running, item } = on.test;
      await running.call('DELETE', `/api/cases/${item.id}/worktree?force=true`);
      assert.deepEqual(await runs(), ['runs when you run `npm install`']);
    });
  });
