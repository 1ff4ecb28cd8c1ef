/** A real agent, Qwen Code, uses the daemon's own MCP server, with the token that it was given for its run. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Session } from '../../store/records/session.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { processesNaming } from '../helpers/processes.ts';
import { PATIENCE_MS, QWEN } from '../helpers/qwen.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { type Part, type Rule, startScriptedModel } from '../helpers/scripted-model.ts';
import type { StreamEvent } from '../helpers/sessions.ts';
import { clientOf } from '../helpers/stream.ts';

// It offers such a tool once it was searched for, so each is asked for twice.
const twice = (mcp: string, given: Record<string, unknown> = {}): Part[][] => [
  [{ mcp, given }],
  [{ mcp, given }],
];

const RULES: Rule[] = [
  { when: 'You are in Plan mode', steps: [...twice('read_work_item'), [{ text: 'The plan.' }]] },
  {
    when: 'operator has approved',
    steps: [
      ...twice('read_work_item'),
      ...twice('tick_task', { number: 2 }),
      ...twice('attach_proof', { type: 'test-log', content: 'all green' }),
      [{ text: 'Done.' }],
    ],
  },
];

const tokensIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/Bearer ([\w-]+)/g)].map(([, token = '']) => token)),
];

/** The permission requests of a session so far, with the option that allows each once. */
const asked = async (stream: string): Promise<[request: string, option: string][]> => {
  const answer = await fetch(stream, { headers: { accept: 'application/json' } });
  const requests = ((await answer.json()) as StreamEvent[]).filter(
    ({ event }) => event === 'permission_request',
  );
  return requests.map(({ data }) => {
    const options = data.options as { option_id: string; kind: string }[];
    const allow = options.find(({ kind }) => kind === 'allow_once');
    return [String(data.request_id), allow?.option_id ?? ''];
  });
};

describe('a real agent with the MCP server', () => {
  it('reads its Work item, ticks a task and attaches proof, and its token is seen nowhere', async (t) => {
    const [workspace, home] = [temporaryDirectory(t), temporaryDirectory(t)];
    mkdirSync(join(home, '.qwen'));
    const model = await startScriptedModel(t, RULES);
    // What the agent is sent goes through a file, which is where this test has the token from.
    const sent = join(temporaryDirectory(t), 'sent');
    const args = ['-c', `tee -a '${sent}' | "$0" "$@"`, process.execPath, QWEN, '--acp'];
    const env = { OPENAI_API_KEY: 'none', OPENAI_MODEL: 'scripted', OPENAI_BASE_URL: model.url };
    const qwen = { kind: 'acp', command: '/bin/sh', args, env };
    writeFileSync(
      join(workspace, 'workspace.md'),
      `---\nprovider: qwen\nsandbox: off\nproviders: ${JSON.stringify({ qwen })}\n---\n`,
    );
    const { root } = makeRepository(t);
    const daemon = await startDaemon(t, ['--workspace', workspace, '--repo', root], {
      ...{ HOME: home, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    });
    const api = clientOf(daemon.url);
    const item = await api.post('/cases', { title: 'It subtracts', type: 'bug' });
    const folder = join(workspace, String(item.path));
    model.root = join(workspace, '.dossier/worktrees', basename(folder));
    mkdirSync(join(folder, 'memory'), { recursive: true });
    writeFileSync(join(folder, 'memory/tasks.md'), '- [ ] one\n- [ ] two\n');
    const { id } = await api.post(`/cases/${item.id}/sessions`, { type: 'implementing' });
    const at = `/cases/${item.id}/sessions/${id}`;
    const tokens = (): string[] => tokensIn(readFileSync(sent, 'utf8'));
    const answered = new Set<string>();
    const answerAll = async (): Promise<void> => {
      for (const [request, option_id] of await asked(`${daemon.url}${at}/stream`)) {
        if (answered.has(request)) continue;
        answered.add(request);
        // The agent is alive and waits: nothing that names the token can be seen by others.
        assert.deepEqual(tokens().flatMap(processesNaming), []);
        await api.post(`${at}/permissions/${request}`, { option_id });
      }
    };
    const until = (status: string): Promise<void> =>
      eventually(async () => {
        const session = (await api.get(at)) as unknown as Session;
        await answerAll();
        assert.equal(session.status, status, session.error ?? undefined);
      }, PATIENCE_MS);

    await until('plan_ready');
    await api.post(`/api/cases/${item.id}/planning/approve`);
    await api.post(`${at}/approve`);
    await until('completed');

    const results = model.requests.flatMap((request) => request.results);
    assert.ok(results.some((text) => text.includes('It subtracts') && text.includes('proof_gate')));
    assert.equal(readFileSync(join(folder, 'memory/tasks.md'), 'utf8'), '- [ ] one\n- [x] two\n');
    const proofs = readdirSync(join(folder, 'proof')).filter((name) => /^test-log-/.test(name));
    assert.equal(proofs.length, 1);
    assert.match(readFileSync(join(folder, 'proof', proofs[0] ?? ''), 'utf8'), /verified: false/);
    assert.equal((await api.get(`/cases/${item.id}`)).state, 'VERIFYING');
    assert.equal(tokens().length, 2);
    const files = [workspace, home].flatMap((where) =>
      readdirSync(where, { recursive: true, withFileTypes: true }),
    );
    const texts = files
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
    for (const token of tokens())
      assert.ok(![daemon.errors(), ...texts].some((text) => text.includes(token)));
  });
});
