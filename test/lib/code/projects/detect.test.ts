import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { detect } from '../../../../lib/code/projects/detect.ts';
import { findProgram } from '../../../../lib/tools/process/find-program.ts';
import type { Detection } from '../../../../store/records/code-host.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';
import { refusal } from '../../codehost/github/fixture.ts';
import { start } from '../worktrees/fixture.ts';

type Git = (...args: string[]) => string;

/** What is detected for a repository that git was told all this about. */
const detecting = async (
  t: TestContext,
  commands: string[],
  { settings, env = {}, branch }: { settings?: string; env?: object; branch?: string } = {},
): Promise<Detection> => {
  const fixture = await start(t, settings === undefined ? {} : { settings });
  Object.assign(fixture.service.config.env, env);
  for (const command of commands) (fixture.repository.git as Git)(...command.split(' '));
  return detect(fixture.service, 'default', branch);
};

const GITHUB = 'https://github.com';
const add = (name: string, url: string): string => `remote add ${name} ${url}`;
const full = ({ host, owner, name, remote }: Omit<Detection['base'], 'url'>): string =>
  `${remote} ${host}/${owner}/${name}`;

const FORK = [
  add('origin', `${GITHUB}/me/app.git`),
  add('upstream', 'git@github.com:acme/app.git'),
];

describe('detect', () => {
  it('finds the one repository that there is, and tells no credential of it', async (t) => {
    const found = await detecting(t, [
      add('origin', 'https://me:ghp_secret@github.com/acme/app.git'),
    ]);
    const base = { host: 'github.com', owner: 'acme', name: 'app', remote: 'origin' };
    const whole = { ...base, url: `${GITHUB}/acme/app.git` };
    assert.deepEqual(found, {
      ...base,
      base: whole,
      push: whole,
      candidates: [whole],
      ambiguous: false,
    });
  });

  it('takes upstream for the base of a fork and origin for what is pushed to, and says it might be otherwise', async (t) => {
    const found = await detecting(t, FORK);
    assert.deepEqual(
      [full(found.base), full(found.push), found.ambiguous],
      ['upstream github.com/acme/app', 'origin github.com/me/app', true],
    );
  });

  it('goes by the settings first, then by what was said to gh', async (t) => {
    const said = ['config remote.origin.gh-resolved base'];
    const rows: [string | undefined, string[], string][] = [
      [undefined, said, 'origin github.com/me/app'],
      [undefined, ['config remote.origin.gh-resolved acme/app'], 'upstream github.com/acme/app'],
      ['codehost: { base_remote: upstream }', said, 'upstream github.com/acme/app'],
      ['codehost: { repository: ME/app }', [], 'origin github.com/me/app'],
      ['codehost: { repository: acme/other }', said, 'null github.com/acme/other'],
      ['codehost: { repository: a/b, host: Ghe.Example }', [], 'null ghe.example/a/b'],
    ];
    for (const [settings, commands, base] of rows) {
      const options = settings === undefined ? {} : { settings };
      const found = await detecting(t, [...FORK, ...commands], options);
      assert.deepEqual([full(found.base), found.ambiguous], [base, false]);
    }
  });

  it('pushes where the settings or git say', async (t) => {
    const rows: [string[], string | undefined, string][] = [
      [['config remote.pushDefault upstream'], undefined, 'upstream github.com/acme/app'],
      [['config branch.work/one.pushRemote upstream'], undefined, 'upstream github.com/acme/app'],
      [[], 'codehost: { push_remote: upstream }', 'upstream github.com/acme/app'],
      [[`remote set-url --push origin ${GITHUB}/you/app`], undefined, 'origin github.com/you/app'],
    ];
    for (const [commands, settings, push] of rows) {
      const options = { branch: 'work/one', ...(settings !== undefined && { settings }) };
      assert.equal(full((await detecting(t, [...FORK, ...commands], options)).push), push);
    }
  });

  it('reads the URL as it is written, and only then as git rewrites it', async (t) => {
    const local = ['config url.http://127.0.0.1:1/.insteadOf https://github.com/'];
    const written = await detecting(t, [add('origin', `${GITHUB}/acme/app`), ...local]);
    assert.equal(full(written), 'origin github.com/acme/app');
    const short = ['config url.git@github.com:.insteadOf gh:', 'config url.x:.insteadOf g'];
    const rewritten = await detecting(t, [add('origin', 'gh:acme/app'), ...short]);
    assert.equal(full(rewritten), 'origin github.com/acme/app');
  });

  it('knows what ssh means by a name', async (t) => {
    const ssh = findProgram('ssh', { PATH: process.env.PATH ?? '' });
    if (ssh === undefined) return t.skip('ssh is not installed');
    const bin = join(temporaryDirectory(t), 'bin');
    mkdirSync(bin);
    const config = join(bin, 'config');
    writeFileSync(
      config,
      'Host work\n  HostName github.com\nHost port\n  HostName ssh.github.com\n',
    );
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec '${ssh}' -F '${config}' "$@"\n`);
    chmodSync(join(bin, 'ssh'), 0o755);
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
    for (const alias of ['work', 'port']) {
      const found = await detecting(t, [add('origin', `git@${alias}:acme/app.git`)], { env });
      assert.equal(full(found), 'origin github.com/acme/app');
    }
  });

  it('takes another host only by its whole name: in the settings, or logged in to with gh', async (t) => {
    const url = [add('origin', 'https://ghe.example/acme/app')];
    const settings = 'codehost: { host: ghe.example }';
    assert.equal(full(await detecting(t, url, { settings })), 'origin ghe.example/acme/app');
    const config = temporaryDirectory(t);
    writeFileSync(join(config, 'hosts.yml'), 'ghe.example:\n    user: operator\n');
    const env = { GH_CONFIG_DIR: config };
    assert.equal(full(await detecting(t, url, { env })), 'origin ghe.example/acme/app');
    for (const evil of [
      'github.com.evil.example',
      'notgithub.com',
      'evil.example',
      'x.ghe.com.evil.example',
    ])
      assert.equal(
        (await refusal(detecting(t, [add('origin', `https://${evil}/acme/app`)]))).code,
        'codehost_no_remote',
      );
  });

  it('says of every remote why it is none', async (t) => {
    const none = await refusal(detecting(t, []));
    assert.match(none.message, /There is no remote\. .*git remote add origin/);
    const wrong = [
      add('backup', '/srv/app.git'),
      add('lab', 'https://x:glpat@gitlab.com/a/b/c.git'),
      add('other', 'https://codeberg.org/acme/app'),
    ];
    const { code, message, members } = await refusal(detecting(t, wrong));
    assert.equal(code, 'codehost_no_remote');
    assert.match(message, /backup is a path on this machine\. lab does not name an owner/);
    assert.match(message, /git remote add origin …/);
    const taken = await refusal(detecting(t, [add('origin', '/srv/app.git')]));
    assert.match(
      taken.message,
      /origin is a path on this machine\. Add one \(git remote add upstream …\)/,
    );
    assert.doesNotMatch(JSON.stringify([message, members]), /glpat/);
    assert.deepEqual(
      (members.remotes as { name: string }[]).map(({ name }) => name),
      ['backup', 'lab', 'other'],
    );
    const settings = 'codehost: { base_remote: gone }';
    const gone = await refusal(detecting(t, [add('origin', `${GITHUB}/a/b`)], { settings }));
    assert.match(gone.message, /base_remote names gone, but there is no such remote/);
  });
});
