import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from './eventually.ts';
import { temporaryDirectory, writeFiles } from './repository.ts';
import { type Answered, type Running, startForTest } from './service.ts';

export interface StreamEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

export interface Problem {
  code: string;
  detail: string;
}

const PLAN = 'Make the file:\n\n```sh\nprintf "hello\\n" > hello.txt\n```\n';

export interface SessionTest extends Running {
  running: Running;
  item: Case;
  /** `/cases/<id>` */
  at: string;
  control: (what: 'abort' | 'resume' | 'pause') => Promise<Answered<Session & Problem>>;
  post: (path: string, body?: unknown) => Promise<Answered<Session & Problem>>;
  start: (body?: object) => Promise<Session>;
  until: (id: string, status: string) => Promise<Session>;
  /** Starts a session, and resolves once its plan is ready. */
  planned: (body?: object) => Promise<Session>;
  /** The same, approved, once its work has ended so. */
  worked: (status?: string, body?: object) => Promise<Session>;
  eventsOf: (id: string) => Promise<StreamEvent[]>;
  /** Resolves with the session's first event of that name. */
  untilEvent: (id: string, event: string) => Promise<StreamEvent>;
  state: () => Promise<string>;
}

/** The whole service with one Work item, whose description is the plan that the embedded provider proposes. */
export const withCase = async (
  t: TestContext,
  description = PLAN,
  options: Parameters<typeof startForTest>[1] = {},
): Promise<SessionTest> => {
  const running = await startForTest(t, options);
  const { body: item } = await running.call<Case>('POST', '/cases', {
    title: 'Say hello',
    type: 'feature',
    description,
  });
  const at = `/cases/${item.id}`;
  const post: SessionTest['post'] = (path, body) => running.call('POST', `${at}${path}`, body);
  const start = async (body = {}): Promise<Session> => {
    const answer = await post('/sessions', { type: 'implementing', ...body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const until = (id: string, status: string): Promise<Session> =>
    eventually(async () => {
      const { body } = await running.call<Session>('GET', `${at}/sessions/${id}`);
      assert.equal(body.status, status, body.error ?? undefined);
      return body;
    });
  const planned = async (body?: object): Promise<Session> =>
    until((await start(body)).id, 'plan_ready');
  const worked = async (status = 'completed', body?: object): Promise<Session> => {
    const { id } = await planned(body);
    const answer = await post(`/sessions/${id}/approve`);
    assert.equal(answer.status, 200, answer.text);
    return until(id, status);
  };
  const eventsOf = async (id: string): Promise<StreamEvent[]> =>
    (
      await running.call<StreamEvent[]>('GET', `${at}/sessions/${id}/stream`, undefined, {
        accept: 'application/json',
      })
    ).body;
  const untilEvent = (id: string, event: string): Promise<StreamEvent> =>
    eventually(async () => {
      const found = (await eventsOf(id)).find((each) => each.event === event);
      assert.ok(found, event);
      return found;
    });
  const state = async (): Promise<string> => (await running.call<Case>('GET', at)).body.state;
  const control: SessionTest['control'] = (what) =>
    running.call('POST', `/api/cases/${item.id}/session/${what}`);
  // Not spread: `service` is another one after a restart.
  return Object.assign(Object.create(running), {
    ...{ running, item, at, control, post, start, until, planned, worked },
    ...{ eventsOf, untilEvent, state },
  }) as SessionTest;
};

const AGENT = fileURLToPath(new URL('./acp-agent.js', import.meta.url));

/** Settings and options that make the small agent of the tests the provider, with one behaviour. */
export const withAgent = (
  t: TestContext,
  behaviour: string,
  sandbox: 'auto' | 'off' = 'off',
  /** Of a known agent: what is known of that one is believed of it. */
  name = 'agent',
): NonNullable<Parameters<typeof startForTest>[1]> => ({
  settings: [
    `provider: ${name}`,
    `sandbox: ${sandbox}`,
    'providers:',
    `  ${name}:`,
    '    kind: acp',
    `    command: ${process.execPath}`,
    `    args: [${JSON.stringify(AGENT)}, ${behaviour}]`,
    '    state_dirs: ["~/.test-agent"]',
  ].join('\n'),
  env: { HOME: temporaryDirectory(t) },
  files: { 'a.txt': 'one\n' },
});

/** The same with an agent that runs what it is given as a shell script, in Plan mode or in Work mode. */
export const withScript = (
  t: TestContext,
  scripts: { plan?: string; work?: string },
  sandbox: 'auto' | 'off' = 'off',
): NonNullable<Parameters<typeof startForTest>[1]> => {
  const options = withAgent(t, 'sh', sandbox);
  for (const [phase, script] of Object.entries(scripts))
    writeFiles(join(options.env?.HOME ?? '', '.test-agent'), { [`${phase}.sh`]: script });
  return options;
};
