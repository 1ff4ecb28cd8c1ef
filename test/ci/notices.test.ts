import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryDirectory } from '../helpers/repository.ts';

interface Notice {
  name: string;
  license: string;
  text: string;
}

const { bundledIn, noticeOf } = (await import(pathToFileURL(resolve('.ci/notices.mjs')).href)) as {
  bundledIn(metafiles: object[]): string[];
  noticeOf(folder: string): Notice;
};

const dist = (name: string): string => readFileSync(join('dist', name), 'utf8');

describe('the licences and the list of what the package carries', () => {
  it('are of all that a byte was taken from, wherever it was installed', () => {
    const inputs = {
      'lib/main.ts': { bytesInOutput: 9 },
      'node_modules/one/a.js': { bytesInOutput: 9 },
      'node_modules/one/b.js': { bytesInOutput: 9 },
      'node_modules/@of/two/node_modules/one/a.js': { bytesInOutput: 9 },
      'node_modules/left-out/a.js': { bytesInOutput: 0 },
    };
    const empty = { outputs: { other: { inputs: {} } } };
    assert.deepEqual(bundledIn([empty, { outputs: { 'a.js': { inputs } } }]), [
      'node_modules/@of/two/node_modules/one',
      'node_modules/one',
    ]);
  });

  it('have the text of the licence, or of the one that is named, and none without', (t) => {
    const place = temporaryDirectory(t);
    const made = (name: string, members: object, files: Record<string, string> = {}): string => {
      const folder = join(place, name);
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'package.json'),
        JSON.stringify({ name, version: '1.0.0', ...members }),
      );
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
      return folder;
    };
    const own = made('own', { license: 'MIT' }, { 'license.md': 'Mine.\n', NOTICE: 'Note.' });
    assert.equal(noticeOf(own).text, 'Note.\n\nMine.');
    const { text } = noticeOf(made('bare', { license: 'MIT', author: { name: 'Ada' } }));
    assert.match(text, /^Copyright \(c\) Ada\n\nPermission is hereby granted/);
    assert.throws(
      () => noticeOf(made('unknown', { license: 'SSPL-1.0' })),
      /no text of its licence/,
    );
    assert.throws(() => noticeOf(made('silent', {})), /names no licence/);
  });

  it('name every package that a room of the product may import, and are of the same packages', () => {
    const { doors } = JSON.parse(readFileSync('.ci/rooms.json', 'utf8')) as { doors: object };
    const used = Object.keys(doors).filter((name) => !name.startsWith('node:'));
    const { components } = JSON.parse(dist('sbom.cdx.json')) as {
      components: { name: string; version: string; hashes?: object[] }[];
    };
    const names = components.map(({ name }) => name);
    const missing = [...new Set(used)].filter((name) => !names.includes(packageOf(name)));
    assert.deepEqual(missing, ONLY_TYPES);
    const licences = dist('licenses.txt');
    for (const { name, version, hashes } of components) {
      assert.ok(licences.includes(`\n${name} ${version} (`), name);
      assert.equal(hashes?.length, 1, name);
    }
    assert.equal(licences.match(/^\S+ \d\S* \(.*\)$/gm)?.length, components.length);
  });
});

// `yaml/util` is of yaml.
const packageOf = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;

/** Nothing of them is left in what runs. */
const ONLY_TYPES = ['@octokit/plugin-paginate-rest'];
