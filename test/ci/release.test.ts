import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { PROJECT } from '../examples/run.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const COMPONENT = { metadata: { component: { version: '1.2.3' } } };

const FILES = {
  'package.json': JSON.stringify({
    ...{ name: 'released-nowhere', version: '1.2.3', files: ['dist', 'CHANGELOG.md'] },
    scripts: { prepare: 'true' },
  }),
  'CHANGELOG.md': '# Changelog\n\n## 1.2.3\n\n- **One** thing.\n',
  'test/store/kept-workspaces/1.2.3/workspace.md': '---\nformat: 1\n---\n',
  'dist/dossier.js': '',
  'dist/licenses.txt': 'MIT\n',
  'dist/sbom.cdx.json': JSON.stringify(COMPONENT),
  ...{ LICENSE: 'MIT\n', 'README.md': '# One\n' },
};

/** A project that may be released, but for what is said. */
const project = async (t: TestContext, files: Record<string, string> = {}) => {
  const { root, git } = await makeRepository(t);
  writeFiles(root, { ...FILES, ...files });
  mkdirSync(join(root, '.ci'));
  copyFileSync(join(PROJECT, '.ci/release'), join(root, '.ci/release'));
  git('add', '-fA');
  git('commit', '-qm', 'Ready');
  const head = git('rev-parse', 'HEAD');
  writeFileSync(join(root, '.git/ci-passed'), head);
  const run = (...words: string[]) => {
    const env = {
      ...{ PATH: process.env.PATH, HOME: temporaryDirectory(t), GIT_CONFIG_NOSYSTEM: '1' },
      // Nobody answers there.
      npm_config_registry: 'http://127.0.0.1:9/',
    };
    const { status, stdout, stderr } = spawnSync('bash', ['.ci/release', ...words], {
      ...{ cwd: root, env, encoding: 'utf8' },
    });
    return { status, said: stdout + stderr };
  };
  return { root, git, run };
};

describe('.ci/release', () => {
  it('packs with --dry-run, says what it would do and what that lacks, and does none of it', async (t) => {
    const { git, run } = await project(t);
    const { status, said } = run('--dry-run');
    assert.equal(status, 0, said);
    assert.match(
      said,
      /^released-nowhere 1\.2\.3 of [0-9a-f]{40}: \d+ bytes, sha256 [0-9a-f]{64}$/m,
    );
    assert.match(said, /^lacks: package\.json names no repository/m);
    assert.match(said, /^lacks: The registry cannot be asked/m);
    assert.match(said, /^lacks: git has no user\.signingkey/m);
    assert.match(said, /^lacks: npm states provenance in a CI alone/m);
    assert.match(said, /^would: git tag -s v1\.2\.3 -m released-nowhere 1\.2\.3$/m);
    assert.match(said, /^would: npm publish \.\/released-nowhere-1\.2\.3\.tgz --provenance/m);
    assert.equal(git('tag'), '');
  });

  it('refuses to release without what it lacks', async (t) => {
    const { git, run } = await project(t);
    const { status, said } = run();
    assert.equal(status, 1);
    assert.match(said, /Nothing was tagged, and nothing published\./);
    assert.equal(git('tag'), '');
  });

  it('tells all that is wrong at once', async (t) => {
    const { root, git, run } = await project(t, {
      'CHANGELOG.md': '# Changelog\n\n## 1.2.3\n\n## 1.2.2\n\n- Old.\n',
      'dist/sbom.cdx.json': JSON.stringify({ metadata: { component: { version: '1.2.2' } } }),
    });
    git('tag', 'v1.2.3');
    git('rm', '-rq', 'dist/licenses.txt', 'test');
    git('commit', '-qm', 'Less');
    writeFiles(root, { 'new.txt': 'new' });
    const { status, said } = run('--dry-run');
    assert.equal(status, 1);
    for (const wrong of [
      'The tree has changes',
      'CI did not pass for this commit',
      'CHANGELOG.md says nothing of 1.2.3',
      'No workspace of 1.2.3 is kept',
      'There is a tag v1.2.3 already',
      'The package lacks dist/licenses.txt',
      'The list of what the package carries is of 1.2.2, not of 1.2.3',
    ])
      assert.ok(said.includes(`wrong: ${wrong}`), `${wrong}: ${said}`);
  });

  it('takes no other word', async (t) => {
    const { run } = await project(t);
    assert.equal(run('--now').status, 2);
  });
});
