import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { Compile } from 'typebox/compile';
import type { Route } from '../../../lib/http/route.ts';
import { sections } from '../../../routes/index.ts';
import type { Case } from '../../../store/records/case.ts';
import type { Worktree } from '../../../store/records/worktree.ts';
import { type CodeHost, startCodeHost } from '../../codehost/code-host.ts';
import { linkTo } from '../../helpers/linked-issue.ts';
import { writeFiles } from '../../helpers/repository.ts';
import { scriptedServer } from '../../helpers/scripted-language-server.ts';
import { type Answered, type Running, startForTest } from '../../helpers/service.ts';
import { pullScene } from '../../lib/host/pull-requests/fixture.ts';

/** A row of the interface document: method and path in its notation, and what it says the call does. */
export interface Row {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  does: string;
  /** Makes the call the row is about. */
  call: () => Promise<Answered<unknown>>;
  status: number;
  /** That it did what the row says. */
  check?: (answer: Answered<never>) => void | Promise<void>;
}

export let running: Running;

export let host: CodeHost;

const endings: (() => unknown)[] = [];

export const file = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;

before(async () => {
  host = await startCodeHost(file);
  running = await startForTest(file, {
    settings: `codehost: { host: github.com, repository: acme/app }\n${scriptedServer(file).setting}`,
    env: { GITHUB_API_URL: host.url, GH_TOKEN: host.token },
  });
});

after(async () => {
  for (const end of endings) await end();
});

export const call = <T = unknown>(method: string, path: string, body?: unknown, headers = {}) =>
  running.call<T>(method, path, body, headers);

export const made = async <T>(path: string, body: object): Promise<T> => {
  const answer = await call<T>('POST', path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};

export const newCase = (): Promise<Case> =>
  made('/cases', {
    title: 'A row',
    type: 'bug',
    description: '```sh\necho done > done.txt\n```\n',
  });

export const get = async <T>(path: string): Promise<T> => (await call<T>('GET', path)).body;

/** Made once, when a row first wants it. */
export const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let value: Promise<T> | undefined;
  return () => {
    value ??= make();
    return value;
  };
};

export const item = once(newCase);

export const at = async (): Promise<string> => `/cases/${(await item()).id}`;

export const worktree = once(async () => {
  const { id } = await newCase();
  return made<Worktree>('/api/worktrees', { case_id: id });
});

/** A Work item with a worktree whose project is a clone of one on the host, and the answer that made its pull request. */
export const proposed = once(async () => {
  const scene = await pullScene(file);
  scene.work();
  const answer = await scene.post('create');
  await scene.prove();
  return { ...scene, answer };
});

export const ofPull = (
  method: 'GET' | 'POST',
  path: string,
  does: string,
  check: NonNullable<Row['check']>,
): Row => ({
  method,
  path: `/api/cases/:id/pr${path}`,
  does,
  call: async () => {
    const { item, running: there } = await proposed();
    return there.call(method, `/api/cases/${item.id}/pr${path}`);
  },
  status: 200,
  check,
});

/** A Work item that was imported from an issue of its own. */
export const imported = once(async () => {
  const { number } = await host.issues.add({ title: 'Imported' });
  const item = await made<Case>('/api/codehost/issues/import-case', { number });
  return { number, api: `/api/cases/${item.id}/github` };
});

/** A Work item that is linked to an issue, with all three planning files. */
export const planned = once(async () => {
  const { id, path } = await newCase();
  const write = (name: string, content: string) =>
    writeFiles(join(running.workspace, path), { [name]: content });
  linkTo({ write }, '### Expected\n\nA row.\n');
  const stages: Record<string, Answered<unknown>> = {};
  for (const stage of ['from-issue', 'hypotheses-file', 'generate-tasks'])
    stages[stage] = await call('POST', `/api/cases/${id}/planning/${stage}`);
  return { id, stages };
});

const inBraces = (path: string): string => path.replaceAll(/:([a-z_]+)/g, '{$1}');

const declared = ({ method, path }: Row): Route | undefined =>
  sections
    .flatMap(({ routes }) => routes)
    .find((route) => route.method === method && route.path === inBraces(path));

export interface Operation {
  summary?: string;
  parameters?: { name?: string; in?: string }[];
  responses: Record<string, { $ref?: string; content?: Record<string, object> }>;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, { content: Record<string, { schema: object }> }>;
    schemas: Record<string, unknown>;
  };
}

export const document = once(() => get<Document>('/openapi.json'));

const assertShape = (row: Row, { response, produces }: Route, answer: Answered<unknown>): void => {
  if (row.status === 204) assert.equal(answer.text, '');
  if (response === undefined) return;
  const type = produces ?? 'application/json';
  assert.ok(
    String(answer.headers['content-type']).startsWith(type),
    answer.headers['content-type'] as string,
  );
  if (type !== 'application/json') return;
  const schema = Compile(response);
  assert.ok(
    schema.Check(answer.body),
    `${answer.text}\n${JSON.stringify(schema.Errors(answer.body))}`,
  );
};

/** Each file here, and how many rows the interface has of it. */
export const SECTIONS = {
  'work-items': 6,
  sessions: 9,
  'session-control': 10,
  memory: 4,
  proof: 4,
  planning: 8,
  worktrees: 13,
  codehost: 26,
  links: 3,
  'pull-requests': 10,
  reviews: 5,
  'pr-body': 4,
  conflicts: 8,
  export: 1,
  'api-keys': 1,
  providers: 2,
  editor: 5,
  'language-servers': 3,
  webhooks: 6,
  system: 3,
  settings: 2,
};

/** Makes each call of a section: it is declared, in the OpenAPI document, answers as declared, and does what the row says. */
export const describeRows = (section: keyof typeof SECTIONS, rows: Row[]): unknown =>
  describe(`the interface, ${section}`, () => {
    it('has each row of the interface', () => {
      const calls = new Set(rows.map(({ method, path }) => `${method} ${path}`));
      assert.equal(calls.size, SECTIONS[section]);
    });

    for (const row of rows)
      it(`${row.method} ${row.path} ${row.does}`, async () => {
        const route = declared(row);
        assert.ok(route, 'it is declared');
        const operation = (await document()).paths[inBraces(row.path)]?.[row.method.toLowerCase()];
        assert.ok(operation, 'it is in the OpenAPI document');
        assert.ok(operation.responses[String(row.status)], 'with this status');
        const answer = await row.call();
        assert.equal(answer.status, row.status, answer.text);
        assertShape(row, route, answer);
        if (row.status === 201) assert.match(String(answer.headers.location), /^\//);
        await row.check?.(answer as Answered<never>);
      });
  });
