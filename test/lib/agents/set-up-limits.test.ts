import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createProviders } from '../../../lib/agents/providers.ts';
import type { KnownAgent } from '../../../store/records/applied.ts';
import { missing } from '../../helpers/inside.ts';
import { writeFiles } from '../../helpers/repository.ts';
import { depsFor, makePlace, type Place, specFor, watch } from './fixture.ts';

const HIDDEN = 'tools/server.mjs';
const SEEN = '.local/bin/server.mjs';
const OTHER = 'projects/other';

/** What a turn tells of a set-up, with the home directory as `~`. */
const told = async (
  t: TestContext,
  agent: KnownAgent,
  filesOf: (place: Place) => Record<string, string>,
  phase: 'plan' | 'work' = 'plan',
): Promise<string[]> => {
  const place = makePlace(t);
  const { home } = place;
  writeFiles(home, { [HIDDEN]: '', [SEEN]: '', [`${OTHER}/a.txt`]: '', ...filesOf(place) });
  const command = { kind: 'command' as const, output: 'text' as const, plan: ['echo', 'a plan'] };
  const providers = { [agent]: { ...command, work: ['true'] } };
  const provider = createProviders({ providers }, depsFor(place, 'auto')).get(agent);
  assert.ok(provider);
  const { run, of } = watch(t, (tell) => provider.start(specFor(place, phase), tell));
  assert.equal((await run.done).outcome, 'completed');
  return of('sandbox_limit').map(({ message }) => message.replaceAll(home, '~'));
};

const limit = (path: string, ...hidden: string[]): string =>
  `${path} leads to what the sandbox hides, so the agent runs without it: ${hidden.join(', ')}. To show it, add it to sandbox_readable in workspace.md.`;

const servers = (home: string) => ({
  one: { command: 'node', args: [join(home, HIDDEN)] },
  two: { command: join(home, SEEN) },
});
const json = (settings: object): string => JSON.stringify(settings);

describe("what the operator's own set-up names and the sandbox hides", { skip: missing }, () => {
  it('is told of the servers of each agent, and of no project that it knows', async (t) => {
    const projects = (home: string) => ({ [join(home, OTHER)]: { history: [join(home, OTHER)] } });
    const claude = await told(t, 'claude', ({ home }) => ({
      '.claude.json': json({ mcpServers: servers(home), projects: projects(home) }),
    }));
    assert.deepEqual(claude, [limit('~/.claude.json', `~/${HIDDEN}`)]);
    const codex = await told(t, 'codex', ({ home }) => ({
      '.codex/config.toml': `[projects."${home}/${OTHER}"]\ntrust_level = "trusted"\n[mcp_servers.one]\ncommand = "node"\nargs = ["${home}/${HIDDEN}", "${home}/${SEEN}"]\n`,
    }));
    assert.deepEqual(codex, [limit('~/.codex/config.toml', `~/${HIDDEN}`)]);
    const opencode = await told(t, 'opencode', ({ home }) => ({
      '.config/opencode/opencode.jsonc': `{ // mine\n "mcp": {"one": {"command": ["${home}/${HIDDEN}"]}} }`,
    }));
    assert.deepEqual(opencode, [limit('~/.config/opencode/opencode.jsonc', `~/${HIDDEN}`)]);
    for (const agent of ['gemini', 'qwen'] as const)
      assert.deepEqual(
        await told(t, agent, ({ home }) => ({
          [`.${agent}/settings.json`]: json({ mcpServers: servers(home) }),
        })),
        [limit(`~/.${agent}/settings.json`, `~/${HIDDEN}`)],
      );
  });

  it('is told of hooks, and of links', async (t) => {
    const found = await told(t, 'claude', ({ home }) => {
      mkdirSync(join(home, '.claude/skills'), { recursive: true });
      symlinkSync('../../projects/other', join(home, '.claude/skills/other'));
      symlinkSync(join(home, SEEN), join(home, '.claude/seen'));
      const hooks = { SessionStart: [{ hooks: [{ command: `sh "~/${HIDDEN}"` }] }] };
      return { '.claude/settings.json': json({ hooks }) };
    });
    assert.deepEqual(found, [
      limit('~/.claude/settings.json', `~/${HIDDEN}`),
      limit('~/.claude', `~/${OTHER}`),
    ]);
  });

  it('is told in Plan mode alone, and not of what does not exist', async (t) => {
    const settings = ({ home }: Place) => ({
      '.claude.json': json({ mcpServers: servers(home) }),
    });
    assert.deepEqual(await told(t, 'claude', settings, 'work'), []);
    const gone = () => ({ '.claude.json': json({ mcpServers: { one: { command: '~/gone/x' } } }) });
    assert.deepEqual(await told(t, 'claude', gone), []);
  });
});
