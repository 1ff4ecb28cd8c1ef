/** One session of the real daemon with a real agent, on a repository of its own, with a scripted model. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SessionMessage } from '../../../store/records/message.ts';
import type { Session } from '../../../store/records/session.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { startDaemon } from '../../helpers/daemon.ts';
import { eventually } from '../../helpers/eventually.ts';
import { alive } from '../../helpers/processes.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../../helpers/repository.ts';
import { type Rule, type ScriptedModel, startScriptedModel } from '../../helpers/scripted-model.ts';
import { newestSession } from '../../helpers/service.ts';
import type { StreamEvent } from '../../helpers/sessions.ts';
import { clientOf } from '../../helpers/stream.ts';
import { type RealAgent, realAgents } from './agents.ts';
import { AGENTS, installed } from './install.ts';
import { filesOfSetUp, writeSetUp } from './set-ups.ts';

export interface Wanted {
  agent: string;
  kind: 'acp' | 'command';
  sandbox: 'auto' | 'off';
  rules: Rule[];
  /** Instead of letting it run any command. */
  execute?: 'ask' | 'allow';
  /** Its model and effort, as the agent's entry has them. */
  chosen?: true;
  /** With its terminal interface on the PATH, too. */
  terminal?: true;
  /** With the operator's own set-up of the agent, in the home and in the repository. */
  setUp?: true;
}

export interface RealSession {
  model: ScriptedModel;
  workspace: string;
  /** Of the Work item. */
  id: string;
  session(): Promise<Session>;
  messages(): Promise<SessionMessage[]>;
  tree: string;
  /** The directory of the session's files. */
  dir: string;
  /** Resolves with the session once it has one of these; questions of the agent are answered with yes meanwhile. */
  until(...statuses: string[]): Promise<Session>;
  post(what: string, body?: object): Promise<unknown>;
  /** Of the Work item's active session. */
  control(what: 'pause' | 'resume' | 'abort'): Promise<unknown>;
  events(): Promise<StreamEvent[]>;
  /** What git sees in the worktree, one line a file. */
  status(): string;
  diff(): string[];
  /** Of the daemon, whose process gets the signal. */
  restart(signal: NodeJS.Signals): Promise<void>;
  /** Of the newest run. */
  marker(): string;
  /** Whether any process of the newest run is alive. */
  lives(): Promise<boolean>;
}

export const TITLE = 'It subtracts';
const PATIENCE_MS = 300_000;

/** Starts the daemon and a session in Plan mode. All of it is gone after the test. */
export const startSession = async (t: TestContext, wanted: Wanted): Promise<RealSession> => {
  const model = await startScriptedModel(t, wanted.rules);
  const agent = realAgents(model.origin).find(({ id }) => id === wanted.agent);
  assert.ok(agent);
  const PATH = wanted.terminal
    ? `${installed(agent.acp)}:${installed(agent.command)}`
    : installed(agent[wanted.kind]);
  const home = homeFor(t, agent, model.origin);
  if (wanted.setUp) writeSetUp(agent.id, home);
  const workspace = temporaryDirectory(t);
  writeFileSync(join(workspace, 'workspace.md'), settingsFor(agent, wanted, model.origin));
  const repository = makeRepository(t, {
    files: {
      'math.ts': 'export const add = (a: number, b: number) => a - b;\n',
      ...(wanted.setUp && filesOfSetUp(agent.id)),
    },
  });
  const start = () =>
    startDaemon(t, ['--workspace', workspace, '--repo', repository.root], {
      ...{ HOME: home, PATH, XDG_CONFIG_HOME: join(home, '.config') },
      ...agent.env,
    });
  let daemon = await start();
  let api = clientOf(daemon.url);
  const item = await api.post('/cases', {
    ...{ title: TITLE, type: 'bug', description: 'add() subtracts.' },
  });
  const tree = join(workspace, '.dossier/worktrees', basename(String(item.path)));
  model.root = tree;
  const { model: named, effort } = agent.choice[wanted.kind];
  const choice = wanted.chosen ? { model: named, ...(effort && { effort }) } : {};
  const { id } = await api.post(`/cases/${item.id}/sessions`, { type: 'implementing', ...choice });
  const at = `/cases/${item.id}/sessions/${id}`;
  const session = async () => (await api.get(at)) as unknown as Session;
  const events = async (): Promise<StreamEvent[]> => {
    const answer = await fetch(`${daemon.url}${at}/stream`, {
      headers: { accept: 'application/json' },
    });
    return (await answer.json()) as StreamEvent[];
  };
  const dir = newestSession({ workspace } as never, item as { path: string });
  atEnd(t, () => {
    const events = readFileSync(join(dir, 'events.ndjson'), 'utf8').split('\n');
    keepLog(t.name, wanted, { requests: model.requests, events });
  });
  const marker = (): string => /^run_marker: (\S+)$/m.exec(recordIn(dir))?.[1] ?? 'none';
  return {
    ...{ model, workspace, tree, dir, id: String(item.id), session, events },
    messages: async () => (await api.get(`${at}/messages`)) as unknown as SessionMessage[],
    until: async (...statuses) => {
      const reached = await eventually(async () => {
        await sayYes(await events(), (request_id, option_id) =>
          api.post(`${at}/permissions/${request_id}`, { option_id }),
        );
        const now = await session();
        assert.ok([...statuses, ...ENDED].includes(now.status), now.status);
        return now;
      }, PATIENCE_MS);
      assert.ok(statuses.includes(reached.status), `${reached.status}: ${reached.error}`);
      return reached;
    },
    post: (what, body) => api.post(`${at}/${what}`, body),
    control: (what) => api.post(`/api/cases/${item.id}/session/${what}`),
    status: () => gitIn(tree)('status', '--porcelain'),
    diff: () => changes(readFileSync(join(dir, 'diff.patch'), 'utf8')),
    restart: async (signal) => {
      await daemon.end(signal);
      daemon = await start();
      api = clientOf(daemon.url);
    },
    ...{ marker, lives: () => alive(marker()) },
  };
};

// What the agent asked and told, to look at when a check fails.
const keepLog = (name: string, { agent, kind }: Wanted, log: object): void => {
  const logs = join(AGENTS, 'logs');
  mkdirSync(logs, { recursive: true });
  writeFileSync(join(logs, `${agent}-${kind} ${name}.json`), JSON.stringify(log, null, 2));
};

const ENDED = ['completed', 'failed', 'aborted'];

const recordIn = (dir: string): string => readFileSync(join(dir, 'session.md'), 'utf8');

// Not in the system's temporary directory: Codex does not work with a home there.
const homeFor = (t: TestContext, agent: RealAgent, model: string): string => {
  const home = mkdtempSync(join(AGENTS, 'home-'));
  atEnd(t, () => rmSync(home, { recursive: true, force: true }));
  agent.configure?.(home, model);
  return home;
};

// Codex has the address of its model in a file of its own, where nobody looks for it.
const settingsFor = (
  { id, settings }: RealAgent,
  { kind, sandbox, execute = 'allow' }: Wanted,
  model: string,
): string => {
  const providers = { [id]: { kind, env: settings, allow_local: [new URL(model).host] } };
  return `---\nprovider: ${id}\nsandbox: ${sandbox}\npermissions: { execute: ${execute} }\nproviders: ${JSON.stringify(providers)}\n---\n`;
};

const sayYes = async (
  events: StreamEvent[],
  answer: (request_id: string, option_id: string) => Promise<unknown>,
): Promise<void> => {
  const resolved = events.filter(({ event }) => event === 'permission_resolved');
  const answered = new Set(resolved.map(({ data }) => data.request_id));
  for (const { event, data } of events) {
    if (event !== 'permission_request' || answered.has(data.request_id)) continue;
    const options = data.options as { option_id: string; kind: string }[];
    const yes = options.find(({ kind }) => kind === 'allow_once');
    // It may have been taken back meanwhile.
    await answer(String(data.request_id), yes?.option_id ?? '').catch(() => undefined);
  }
};

const changes = (patch: string): string[] =>
  patch.split('\n').filter((line) => /^[-+](?![-+])/.test(line));
