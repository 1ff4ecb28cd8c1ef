import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dossier } from '../../../helpers/command.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { withPlannedAgent } from '../../../helpers/planned-agent.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

const LISTED = 'Will run without asking (dossier approve --ask COMMAND removes one):\n';

const told = ({ stderr }: { stderr: string }): string => stderr.replaceAll('dossier: ', '');

describe('the commands of a plan that run without asking', () => {
  it('are listed by plan and approve, taken out by --ask, and approved by one hash', async (t) => {
    const { api, workspace, session, boundary, until, isSandboxed } = await withPlannedAgent(t);
    if (!isSandboxed) return t.skip('no bubblewrap');
    const words = ['release', '--workspace', workspace];
    const said = (verb: string, ...more: string[]) => dossier(t, verb, ...words, ...more);
    const { plan_sha256, approval_sha256 } = (await boundary()).unasked ?? {};
    const all = await said('plan');
    const list = (commands: string[], hash = '') =>
      `${LISTED}${commands.map((command) => `  ${command}\n`).join('')}Hash: ${hash}\n`;
    const commands = list(['npm ci', 'npm test', 'npm publish'], approval_sha256);
    assert.ok(told(all).endsWith(commands), told(all));
    assert.match(told(all), /^Sandbox +bubblewrap$/m);
    assert.match(told(all), /^Network +open, except this machine$/m);
    const ask = ['--ask', 'npm publish'];
    const json = JSON.parse((await said('plan', ...ask, '--json')).stdout);
    const { approval_sha256: hash } = json;
    assert.deepEqual(json.unasked, ['npm ci', 'npm test']);
    assert.notEqual(hash, approval_sha256);
    assert.equal(json.plan_sha256, plan_sha256);
    assert.ok(told(await said('plan', ...ask)).endsWith(list(json.unasked, hash)));
    const unknown = await said('plan', '--ask', 'npm');
    assert.equal(unknown.code, 1);
    assert.match(
      unknown.stderr,
      /no command "npm" that would run without asking\. List them: dossier plan [0-9a-f]{8} --workspace \/\S+[^.]$/m,
    );
    const unheard = await said('approve', ...ask);
    assert.equal(unheard.code, 2);
    assert.ok(unheard.stderr.includes(`--ask 'npm publish' --hash ${hash}`), unheard.stderr);
    // The hash is of the list without it.
    assert.equal((await said('approve', '--hash', hash)).code, 1);
    const ofText = await said('approve', ...ask, '--hash', plan_sha256 ?? '');
    assert.equal(ofText.code, 2);
    assert.match(ofText.stderr, /is the hash of the text alone/);
    assert.equal((await session()).status, 'plan_ready');
    assert.equal((await said('approve', ...ask, '--hash', hash)).code, 0);
    assert.deepEqual((await session()).unasked, json.unasked);
    await eventually(async () =>
      assert.ok((await api.call('GET /attention')).some(({ kind }) => kind === 'permission')),
    );
    const open = await said('answer');
    assert.match(open.stderr, /--option yes or no or allow_prefix or allow_project/);
    assert.equal((await said('answer', '--option', 'allow_project')).code, 0);
    await until('complete');
    const trusted = await api.call('GET /trusted');
    assert.match(JSON.stringify(trusted), /"prefix":"npm publish"/);
  });

  it('are shown at a terminal, where the first letters of that hash approve them', {
    skip: noTerminal,
  }, async (t) => {
    const { workspace, session, boundary, isSandboxed } = await withPlannedAgent(t);
    if (!isSandboxed) return t.skip('no bubblewrap');
    const hash = (await boundary()).unasked?.approval_sha256 ?? '';
    const args = ['approve', 'release', '--workspace', workspace];
    const shown = await atTerminal(t, args, [
      [/4 characters of the hash: /, `${hash.slice(0, 4)}\n`],
    ]);
    const text = shown.text.replaceAll('\r', '');
    assert.ok(text.includes(`${LISTED}  npm ci\n  npm test\n  npm publish\n`), text);
    assert.deepEqual((await session()).unasked, ['npm ci', 'npm test', 'npm publish']);
  });
});
