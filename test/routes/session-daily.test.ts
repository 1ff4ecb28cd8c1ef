/** What commands of a session need of the operator's machine every day: variables, caches, registries, a hint where it is hidden. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createSandbox } from '../../lib/sandbox/sandbox.ts';
import type { Proof } from '../../store/records/proof.ts';
import { eventually } from '../helpers/eventually.ts';
import { writeFiles } from '../helpers/repository.ts';
import { type SessionTest, withCase, withScript } from '../helpers/sessions.ts';

const { kind, reason } = createSandbox('auto', { PATH: process.env.PATH ?? '' });
const skip = kind === 'none' && (reason ?? 'no sandbox');

// Beside /tmp, which is private in a sandbox.
process.env.TMPDIR = '/var/tmp';

const work = async (test: SessionTest, status = 'completed'): Promise<string> => {
  const { id } = await test.worked(status);
  return id;
};

const outputOf = async (test: SessionTest, id: string): Promise<string> =>
  (await test.eventsOf(id)).map(({ data }) => data.output ?? '').join('');

const block = (...lines: string[]): string => ['```sh', ...lines, '```', ''].join('\n');

describe('a command of a session, in a sandbox', { skip }, () => {
  it('has the variables of env, and those of the daemon that env names, no others', async (t) => {
    const options = withScript(t, {}, 'auto');
    const settings = `sandbox: auto\nenv:\n  STAGE: test\n  GIVEN_TOKEN: { inherit: true }\n  CI: ''\n  NOT_THERE: { inherit: true }`;
    const env = { ...options.env, GIVEN_TOKEN: 'of the daemon', OTHER_TOKEN: 'hush' };
    // biome-ignore lint/suspicious/noTemplateCurlyInString: The shell reads them.
    const look = 'echo "$STAGE, $GIVEN_TOKEN, CI=$CI, ${NOT_THERE-none}, ${OTHER_TOKEN-none}"';
    const test = await withCase(t, block(look), { ...options, env, settings });
    const output = await outputOf(test, await work(test));
    assert.equal(output, 'test, of the daemon, CI=, none, none\n');
  });

  it('keeps what it caches for the next session of the repository, and for no check', async (t) => {
    const options = withScript(t, {}, 'auto');
    const home = options.env?.HOME ?? '';
    writeFiles(home, { '.cache/of-operator': 'x', '.cache/ms-playwright/chromium-1/chrome': 'y' });
    const script = block(
      'ls -A ~/.cache ~/.cache/ms-playwright',
      'npm config get cache',
      'touch ~/.cache/mine',
    );
    const settings = 'sandbox: auto';
    const test = await withCase(t, script, { ...options, settings });
    const first = await outputOf(test, await work(test));
    assert.doesNotMatch(first, /mine|of-operator/);
    assert.match(first, /^chromium-1$/m);
    assert.match(first, new RegExp(`^${home}/.cache/npm$`, 'm'));
    assert.match(await outputOf(test, await work(test)), /^mine$/m);
    assert.deepEqual(readdirSync(join(home, '.cache')).sort(), ['ms-playwright', 'of-operator']);

    const check = { command: 'test ! -e ~/.cache/mine && touch ~/.cache/yours' };
    const begun = await test.call<Proof>('POST', `${test.at}/proof/run`, check);
    await eventually(async () => {
      const { body } = await test.call<Proof>('GET', `${test.at}/proof/${begun.body.id}`);
      assert.equal(body.run?.status, 'passed', body.content);
    });

    const caches = join(test.workspace, '.dossier/caches');
    const [name = ''] = readdirSync(caches);
    assert.ok(existsSync(join(caches, name, 'mine')));
    assert.ok(!existsSync(join(caches, name, 'yours')));
    const longAgo = new Date(Date.now() - 31 * 24 * 3_600_000);
    utimesSync(join(caches, name), longAgo, longAgo);
    await test.restart();
    assert.deepEqual(readdirSync(caches), []);
  });

  for (const HOME of ['/', '/no/such/home'])
    it(`runs with the home directory ${HOME}, too`, async (t) => {
      const script = block('npm config get cache', 'touch new.txt');
      const test = await withCase(t, script, { settings: 'sandbox: auto', env: { HOME } });
      assert.equal(await outputOf(test, await work(test)), '/tmp/npm\n');
    });

  it('has a cache where the whole home directory is shown, too', async (t) => {
    const options = withScript(t, {}, 'auto');
    const settings = 'sandbox: auto\nsandbox_readable: ["~"]';
    const script = block('touch ~/.cache/mine');
    const test = await withCase(t, script, { ...options, settings });
    await work(test);
    assert.deepEqual(readdirSync(join(options.env?.HOME ?? '', '.cache')), []);
  });

  it('says which limit of the sandbox it met, and the setting that changes it', async (t) => {
    const options = withScript(t, {}, 'auto');
    writeFiles(options.env?.HOME ?? '', { '.hidden/data.csv': '1\n' });
    const script = block(
      'cat ~/.hidden/data.csv || true',
      'touch ~/.new || true',
      `node -e "require('net').connect(5432, '127.0.0.1')"`,
    );
    const test = await withCase(t, script, { ...options, settings: 'sandbox: auto' });
    const id = await work(test, 'failed');
    const limits = (await test.eventsOf(id)).filter(({ event }) => event === 'sandbox_limit');
    const messages = limits.map(({ data }) => String(data.message));
    assert.equal(messages.length, 3, messages.join('\n'));
    assert.match(
      messages[0] ?? '',
      /^Hidden by the sandbox: .*data\.csv; add it to sandbox_readable/,
    );
    assert.match(messages.join('\n'), /allow_local: \["localhost:5432"\]/);
    assert.match(messages.join('\n'), /state_dirs/);
  });
});
