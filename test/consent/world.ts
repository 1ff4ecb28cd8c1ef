/** A workspace in every state that an operator's decisions bring about, and what an attacker would leave traces in. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { orElse } from '../../store/base/attempt.ts';
import { sha256 } from '../../store/base/sha256.ts';
import { layoutOf } from '../../store/layout.ts';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { saveKeyIn } from '../../store/workspace/api-keys.ts';
import { eventually } from '../helpers/eventually.ts';
import { openReceiver, type TestReceiver } from '../helpers/receiver.ts';
import { type TestRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { type Picture, pictureOf, putBack } from './picture.ts';

const AGENT = fileURLToPath(new URL('../helpers/acp-agent.js', import.meta.url));

export interface Answer<T> {
  status: number;
  body: T;
  text: string;
}

/** A daemon, in this process or in one of its own. `undefined`: it died before it had answered. */
export interface Host {
  call<T>(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<Answer<T> | undefined>;
  start(): Promise<void>;
  stop(): Promise<void>;
  isUp(): boolean;
  /** Compares all files with what was seen. */
  sweep(key: string): Promise<void>;
  /** No run of a session is under way. */
  isQuiet(key: string): Promise<boolean>;
  /** How it stops: by its own end, or killed in the middle of what it is asked. */
  readonly isKilled: boolean;
}

/** A Work item, with the session that it is about, if one is. */
export interface Place {
  id: string;
  dir: string;
  session?: Session;
}

const NAMES = [
  ...['planned', 'agent', 'paused', 'done', 'aborted', 'planning', 'proved', 'open'],
] as const;
export type PlaceName = (typeof NAMES)[number];

/** Where traces are looked for, and what leaves them. */
export interface Traces {
  /** A command of the attacker's that runs writes here. */
  evil: string;
  /** A command of the operator's that runs writes here. */
  fine: string;
  /** All that an agent was told. */
  prompts: string;
  /** Of the operator. */
  receiver: TestReceiver;
  /** Of the attacker. */
  attacker: TestReceiver;
}

export interface World extends Traces {
  host: Host;
  workspace: string;
  repo: string;
  /** A repository of the attacker's, whose settings run commands. */
  hostile: string;
  /** An API key of the operator's. */
  key: string;
  places: Record<PlaceName, Place>;
  /** Files that the operator's later decisions took back, as they were: path in the workspace, and text. */
  relics: ReadonlyMap<string, string>;
  /** The proof that the operator verified. */
  verified: string;
  /** The text of a key that the operator revoked, by the file of it in `relics`. */
  revoked: string;
  reset(): void;
  /** The workspace is none that this machine knows any more: what stands in its files is all that there is. */
  isForgotten(): boolean;
}

/** What the operator trusts in this world: with nothing to hold a run, so that each would leave its traces. */
const settingsFor = ({ fine, prompts }: Pick<Traces, 'fine' | 'prompts'>): string =>
  [
    '---',
    'provider: runbook',
    'sandbox: off',
    'require_key: true',
    'network: { allow: [example.com] }',
    'permissions: { execute: [git status] }',
    `worktrees: { setup: ["echo set-up >> ${fine}"] }`,
    'providers:',
    '  agent:',
    '    kind: acp',
    `    command: ${process.execPath}`,
    `    args: [${JSON.stringify(AGENT)}, sh]`,
    '    state_dirs: ["~/.test-agent"]',
    '  teller:',
    '    kind: command',
    `    plan: [sh, -c, "cat >> ${prompts}; echo The plan."]`,
    `    work: [sh, -c, "cat >> ${prompts}; echo told >> ${fine}"]`,
    '---',
    '',
  ].join('\n');

export const openTraces = async (t: TestContext): Promise<Traces> => {
  const dir = temporaryDirectory(t);
  writeFiles(dir, { evil: '', fine: '', prompts: '' });
  const [evil, fine, prompts] = ['evil', 'fine', 'prompts'].map((name) => join(dir, name));
  const [receiver, attacker] = [await openReceiver(t), await openReceiver(t)];
  return { evil, fine, prompts, receiver, attacker } as Traces;
};

interface Given {
  host: Host;
  workspace: string;
  repository: TestRepository;
  hostile: string;
  traces: Traces;
}

/** Makes the world by way of the API alone, on a host that runs; it is stopped when this resolves. */
export const makeWorld = async ({
  host,
  workspace,
  repository,
  ...rest
}: Given): Promise<World> => {
  const { traces, hostile } = rest;
  const operator = operatorOf(host, workspace);
  const key = await makeKey(workspace, 'mine');
  writeFileSync(join(workspace, 'workspace.md'), settingsFor(traces));
  await host.sweep(key);
  await operator.post('/trust', { all: true }, key);
  const relics = new Map<string, string>();
  const wise = {
    ...operator,
    post: <T>(path: string, body?: object) => operator.post<T>(path, body, key),
  };
  const made = await makePlaces(host, wise, { key, workspace, traces, relics });
  const revoked = await revokedKey(host, { key, workspace, relics });
  await eventually(async () => assert.ok(await host.isQuiet(key)));
  await host.stop();
  const state = stateOf(workspace);
  const roots = [workspace, repository.root, hostile, state];
  const picture = pictureOf(roots);
  const idFile = join(workspace, '.dossier/workspace');
  let mark = '';
  return {
    ...traces,
    ...{ host, workspace, repo: repository.root, hostile, key, relics, revoked, ...made },
    reset: () => {
      reset(roots, picture, { idFile, note: join(state, 'workspace.json') });
      mark = fileMark(idFile);
    },
    isForgotten: () => fileMark(idFile) !== mark,
  };
};

const reset = (
  roots: readonly string[],
  picture: Picture,
  { idFile, note }: { idFile: string; note: string },
): void => {
  putBack(roots, picture);
  // What stands in place of the file that was there is known again as that: this is the operator's own hand.
  const noted = JSON.parse(readFileSync(note, 'utf8')) as { inode: string; born?: string };
  const { ino, birthtimeMs } = statSync(idFile);
  noted.inode = String(ino);
  if (noted.born !== undefined) noted.born = String(birthtimeMs);
  writeFileSync(note, `${JSON.stringify(noted)}\n`);
};

const fileMark = (path: string): string => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) return '';
  // Who may not read it knows of nothing.
  const text = orElse(() => readFileSync(path, 'utf8'), '');
  return `${stats.ino} ${text}`;
};

/** The part of the state directory that is of this workspace. */
export const stateOf = (workspace: string): string => {
  const dir = join(STATE_DIR, 'workspaces');
  const found = readdirSync(dir).find((id) => {
    const note = readFileSync(join(dir, id, 'workspace.json'), 'utf8');
    return (JSON.parse(note) as { path: string }).path === workspace;
  });
  assert.ok(found, 'no state is kept of the workspace');
  return join(dir, found);
};

const operatorOf = (host: Host, workspace: string) => {
  const post = async <T>(path: string, body?: object, key?: string): Promise<T> => {
    const answer = await host.call<T>('POST', path, body, key);
    assert.ok(answer && answer.status < 300, `POST ${path}: ${answer?.status} ${answer?.text}`);
    return answer.body;
  };
  const item = async (title: string, description = '', key?: string): Promise<Place> => {
    const made = await post<Case>('/cases', { title, type: 'feature', description }, key);
    return { id: made.id, dir: join(workspace, made.path) };
  };
  return { post, item };
};
type Operator = ReturnType<typeof operatorOf>;

/** As `dossier key` makes one. */
const makeKey = async (workspace: string, name: string): Promise<string> => {
  const text = `dossier_${randomBytes(32).toString('base64url')}`;
  const made = { id: randomUUID(), name, created_at: new Date().toISOString() };
  await saveKeyIn(layoutOf(workspace, STATE_DIR), {
    ...{ ...made, sha256: sha256(text), last_used_at: null },
  });
  return text;
};

interface Making {
  key: string;
  workspace: string;
  traces: Traces;
  relics: Map<string, string>;
}

const until = (host: Host, key: string, { id, session }: Place, status: string): Promise<Session> =>
  eventually(async () => {
    const path = `/cases/${id}/sessions/${session?.id}`;
    const answer = await host.call<Session>('GET', path, undefined, key);
    assert.equal(answer?.body.status, status, answer?.text);
    return answer?.body as Session;
  });

const makePlaces = async (
  host: Host,
  { post, ...operator }: Operator,
  { key, workspace, traces, relics }: Making,
): Promise<Pick<World, 'places' | 'verified'>> => {
  const plan = `\`\`\`sh\necho ran >> ${traces.fine}\n\`\`\`\n`;
  const item = (title: string, text = plan) => operator.item(title, text, key);
  const start = async (place: Place, body: object = {}): Promise<Place> => {
    const session = await post<Session>(`/cases/${place.id}/sessions`, {
      type: 'implementing',
      ...body,
    });
    return { ...place, session: await until(host, key, { ...place, session }, 'plan_ready') };
  };
  const at = ({ id, session }: Place, what: string): string =>
    `/cases/${id}/sessions/${session?.id}/${what}`;
  const planned = await start(await item('Planned'));
  await post(`/cases/${planned.id}/sessions`, {
    type: 'testing',
    provider: 'teller',
    comment: 'Be brief.',
  });
  const agent = await start(await item('An agent'), { provider: 'agent' });
  const done = await start(await item('Done'));
  await post(at(done, 'approve'));
  await until(host, key, done, 'completed');
  const waits = `\`\`\`sh\necho begun >> ${traces.fine}; test -e ${traces.evil}.go || sleep 300\n\`\`\`\n`;
  const paused = await start(await item('Paused', waits));
  await post(at(paused, 'approve'));
  await eventually(() => assert.match(readFileSync(traces.fine, 'utf8'), /begun/));
  await post(`/api/cases/${paused.id}/session/pause`);
  writeFileSync(`${traces.evil}.go`, '');
  const aborted = await start(await item('Aborted'));
  keep(relics, workspace, join(workspace, aborted.session?.path ?? '', 'session.md'));
  await post(`/api/cases/${aborted.id}/session/abort`);
  const planning = await item('Planning');
  await ask(host, key, `PUT /api/cases/${planning.id}/planning-artifacts/tasks.md`, 'One.\n');
  await post(`/api/cases/${planning.id}/planning/approve`);
  const { proved, verified } = await prove(
    host,
    { key, workspace, relics },
    await item('Proved'),
    post,
  );
  const open = await item('Open');
  await post('/webhooks', { url: traces.receiver.url });
  await post(`/cases/${open.id}/webhooks`, { url: traces.receiver.url });
  return { verified, places: { planned, agent, paused, done, aborted, planning, proved, open } };
};

/** A request as `METHOD /path`, which has to do. */
const ask = async (host: Host, key: string, what: string, body?: unknown): Promise<void> => {
  const [method = '', path = ''] = what.split(' ');
  const answer = await host.call(method, path, body, key);
  assert.ok(answer && answer.status < 300, `${what}: ${answer?.text}`);
};

/** A proof that is verified, and one whose verification was taken back. */
const prove = async (
  host: Host,
  { key, workspace, relics }: Omit<Making, 'traces'>,
  proved: Place,
  post: Operator['post'],
): Promise<{ proved: Place; verified: string }> => {
  const at = `/cases/${proved.id}/proof`;
  const ids: string[] = [];
  for (const [type, verified] of [
    ['log', true],
    ['test', false],
  ] as const) {
    const { id } = await post<{ id: string }>(at, { type, content: `A ${type}.` });
    ids.push(id);
    await ask(host, key, `PUT ${at}/${id}/verify`);
    if (verified) continue;
    for (const name of readdirSync(join(proved.dir, 'proof')))
      if (name.startsWith(type)) keep(relics, workspace, join(proved.dir, 'proof', name));
    await ask(host, key, `DELETE ${at}/${id}/verify`);
  }
  return { proved, verified: ids[0] ?? '' };
};

const keep = (relics: Map<string, string>, workspace: string, path: string): void => {
  relics.set(path.slice(workspace.length + 1), readFileSync(path, 'utf8'));
};

const revokedKey = async (
  host: Host,
  { key, workspace, relics }: Omit<Making, 'traces'>,
): Promise<string> => {
  const text = await makeKey(workspace, 'former');
  const dir = join(workspace, '.dossier/api-keys');
  const files = readdirSync(dir).map((name) => join(dir, name));
  const file = files.find((path) => readFileSync(path, 'utf8').includes('"former"')) ?? '';
  keep(relics, workspace, file);
  const { id } = JSON.parse(readFileSync(file, 'utf8')) as { id: string };
  await ask(host, key, `DELETE /api-keys/${id}`);
  return text;
};
