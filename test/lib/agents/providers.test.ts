import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ProviderInfo } from '../../../lib/agents/provider.ts';
import { createProviders, type ProvidersConfig } from '../../../lib/agents/providers.ts';
import { createSandbox } from '../../../lib/sandbox/sandbox.ts';
import { depsFor, makePlace, specFor, watch } from './fixture.ts';

const providersOn = (t: TestContext, settings: ProvidersConfig) => {
  const place = makePlace(t);
  const deps = depsFor(place);
  // No agent of the machine that runs the tests is found.
  return {
    place,
    ...createProviders(settings, { ...deps, env: { ...deps.env, PATH: place.home } }),
  };
};

const infoOf = async (t: TestContext, entry: unknown, id = 'mine'): Promise<ProviderInfo> => {
  const settings = { providers: { [id]: entry } } as ProvidersConfig;
  const provider = providersOn(t, settings).get(id);
  assert.ok(provider);
  return provider.probe();
};

describe('createProviders', () => {
  it('chooses the runbook unless the settings name another', (t) => {
    assert.equal(providersOn(t, {}).chosen, 'runbook');
    assert.equal(providersOn(t, { provider: 'qwen' }).chosen, 'qwen');
  });

  it('lists the built-in ones as available and each agent that is missing with what to install', async (t) => {
    const infos = await providersOn(t, {}).list();

    assert.deepEqual(
      infos.map(({ id, available, isolation }) => [id, available, isolation]),
      [
        ['runbook', true, 'enforced'],
        ['manual', true, 'operator'],
        ['claude', false, 'checked'],
        ['codex', false, 'checked'],
        ['gemini', false, 'checked'],
        ['opencode', false, 'checked'],
        ['qwen', false, 'checked'],
      ],
    );
    for (const { available, reason } of infos) {
      if (!available) assert.match(reason ?? '', /^\S+ is not installed\. Install the npm package/);
    }
  });

  it('lists an agent whose sandbox cannot be prepared with the reason, beside the others', async (t) => {
    const place = makePlace(t);
    const bwrap = '#!/bin/sh\ncase "$*" in *--chdir*) echo "no space" >&2; exit 1;; esac\n';
    for (const [name, text] of Object.entries({ bwrap, 'claude-agent-acp': '#!/bin/sh\n' }))
      writeFileSync(join(place.home, name), text, { mode: 0o755 });
    const env = { PATH: `${place.home}:${process.env.PATH}`, HOME: place.home };
    const deps = { ...depsFor(place), env, sandbox: createSandbox('auto', env) };
    const infos = await createProviders({}, deps).list();
    const claude = infos.find(({ id }) => id === 'claude');
    assert.equal(claude?.available, false);
    assert.match(claude?.reason ?? '', /^The sandbox could not be prepared: no space\./);
    assert.equal(infos.find(({ id }) => id === 'manual')?.available, true);
  });

  it('names no package for a command of the settings that is none of the known programs', async (t) => {
    const { reason } = await infoOf(t, { kind: 'acp', preset: 'claude', command: 'own' });
    assert.equal(
      reason,
      'own is not installed. Install it, or correct its command in workspace.md.',
    );
  });

  it('says whether an agent is logged in, by its files and keys, as they are now', async (t) => {
    const { get, place } = providersOn(t, {});
    const login = async (id: string) => (await get(id)?.probe())?.login;
    assert.deepEqual(
      [await login('claude'), await login('codex'), await login('gemini'), await login('runbook')],
      ['no', 'unknown', 'no', undefined],
    );
    mkdirSync(join(place.home, '.claude'));
    writeFileSync(join(place.home, '.claude/.credentials.json'), '');
    assert.equal(await login('claude'), 'no', 'an empty file is no login');
    writeFileSync(join(place.home, '.claude/.credentials.json'), '{}');
    assert.equal(await login('claude'), 'yes');
    const elsewhere = join(place.root, 'codex');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'auth.json'), '{}');
    const entry = (preset: string, env: object) => ({ kind: 'acp', preset, env });
    const infos = [
      entry('codex', { CODEX_HOME: elsewhere, PATH: place.home }),
      entry('qwen', { OPENAI_API_KEY: 'x' }),
      { kind: 'acp', command: 'own' },
    ];
    assert.deepEqual(await Promise.all(infos.map(async (each) => (await infoOf(t, each)).login)), [
      'yes',
      'yes',
      'unknown',
    ]);
  });

  it('knows no provider that nobody named, and none by the names of objects', (t) => {
    const { get } = providersOn(t, {});

    assert.equal(get('other'), undefined);
    assert.equal(get('constructor'), undefined);
  });

  const WRONG: [claim: string, entry: unknown, id: string, kind: string, reason: RegExp][] = [
    ['a command that cannot work', { kind: 'command' }, 'mine', 'command', /Set work to a program/],
    ['an unknown kind', { kind: 'magic' }, 'mine', 'acp', /kind magic is not supported/],
    ['no command', { kind: 'acp' }, 'mine', 'acp', /Set command, or the preset/],
    [
      'an unknown preset',
      { kind: 'acp', preset: 'hal' },
      'mine',
      'acp',
      /no preset hal\. Use one of claude, /,
    ],
    [
      'a preset by the name of an object',
      { kind: 'acp', preset: 'toString' },
      'mine',
      'acp',
      /no preset toString/,
    ],
    [
      'a command below the worktree',
      { kind: 'acp', command: './agent' },
      'mine',
      'acp',
      /absolute path/,
    ],
    [
      'a program that is not there',
      { kind: 'acp', command: '/nonexistent/agent' },
      'mine',
      'acp',
      /does not exist, or is not executable/,
    ],
    ['the name of a built-in', { kind: 'acp', command: 'x' }, 'manual', 'manual', /built-in/],
  ];

  for (const [claim, entry, id, kind, reason] of WRONG) {
    it(`says plainly why ${claim} cannot be used`, async (t) => {
      const info = await infoOf(t, entry, id);

      assert.equal(info.available, false);
      assert.equal(info.kind, kind);
      assert.match(info.reason ?? '', reason);
    });
  }

  it('fails a run of what is not available with the same reason', async (t) => {
    const { place, get } = providersOn(t, { providers: { mine: { kind: 'command' } } });
    for (const [name, reason] of [
      ['mine', /Set work to a program/],
      ['qwen', /qwen is not installed/],
    ] as const) {
      const { run } = watch(t, (tell) => {
        const provider = get(name);
        assert.ok(provider);
        return provider.start(specFor(place, 'plan'), tell);
      });

      const { outcome, error } = await run.done;

      assert.equal(outcome, 'failed');
      assert.match(error ?? '', reason);
    }
  });
});
