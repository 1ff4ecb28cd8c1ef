/** What README.md shows is run here, or compared with what it speaks of. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { HELP } from '../../lib/cli/help.ts';
import { findProgram } from '../../lib/tools/find-program.ts';
import { Settings } from '../../store/records/settings.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { PROJECT } from './run.ts';

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');

/** The one fenced block of this language that begins so. */
const block = (language: string, beginning: string): string => {
  const blocks = [...README.matchAll(/^(`{3,})(\w*)\n([\s\S]*?)^\1$/gm)];
  const found = blocks.filter(
    ([, , lang, text]) => lang === language && text?.startsWith(beginning),
  );
  assert.equal(found.length, 1, `one ${language} block that begins with ${beginning}`);
  return found[0]?.[3] ?? '';
};

const noCurl =
  process.env.CI !== 'true' && findProgram('curl', { PATH: process.env.PATH ?? '' }) === undefined
    ? 'curl is not installed: install the package curl'
    : false;

describe('README.md', () => {
  it('has a flow in curl that ends with a resolved Work item', { skip: noCurl }, async (t) => {
    const repository = await makeRepository(t);
    const args = ['--workspace', temporaryDirectory(t), '--repo', repository.root];
    const { url } = await startDaemon(t, args);
    const flow = block('sh', 'api=').replace('http://127.0.0.1:4870', url);
    const { stdout, stderr } = await promisify(execFile)('sh', ['-eu', '-c', flow], {
      timeout: 60_000,
    });
    assert.equal(stderr, '');
    assert.match(stdout, /# Plan: Leave a note/);
    assert.match(stdout, /^event: complete$/m);
    assert.match(stdout, /^\+Reviewed\.$/m);
    assert.match(stdout, /RESOLVED\n$/);
  });

  it('shows the receiver as the example has it', () => {
    const path = join(PROJECT, 'examples/receive-webhook.ts');
    assert.equal(block('ts', 'import { createHmac'), readFileSync(path, 'utf8'));
  });

  it('names every flag, every variable and every setting that does something', () => {
    const later = ['ttl_hours', 'setup', 'copy_files'];
    const { worktrees, permissions, ...plain } = Settings.properties;
    const settings = [
      ...Object.keys(plain),
      ...Object.keys(worktrees.properties).map((name) => `worktrees.${name}`),
      ...Object.keys(permissions.properties).map((name) => `permissions.${name}`),
    ].filter((name) => !later.includes(name.split('.').at(-1) ?? ''));
    for (const name of settings) assert.ok(README.includes(`\`${name}\``), name);
    const told = HELP.match(/(--(?!help|version)[a-z-]+(?= [A-Z]|\s)|DOSSIER_[A-Z_]+)/g) ?? [];
    assert.ok(told.length > 10);
    for (const name of told) assert.ok(README.includes(name), name);
  });

  it('links to files that are there', () => {
    for (const name of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'examples/README.md']) {
      const text = readFileSync(join(PROJECT, name), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g))
        assert.ok(existsSync(join(PROJECT, name, '..', target)), `${name}: ${target}`);
    }
  });
});
