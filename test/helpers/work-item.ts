import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import { type Answered, type Running, startForTest } from './service.ts';

export interface WithCase {
  running: Running;
  call: Running['call'];
  events: Running['events'];
  item: Case;
  /** Its path in the API. */
  at: string;
  /** Its directory. */
  dir: string;
  /** A file of the Work item, as it is on disk. */
  read(name: string): string;
  /** Writes a file of the Work item as an editor that saves in place does. */
  write(name: string, text: string): void;
}

/** The whole service with one Work item in it. */
export const withCase = async (
  t: TestContext,
  given: { title?: string; type?: string; description?: string } = {},
  options: Parameters<typeof startForTest>[1] = {},
): Promise<WithCase> => {
  const running = await startForTest(t, options);
  const made = await running.call<Case>('POST', '/cases', {
    title: 'Tax is off by one',
    type: 'bug',
    ...given,
  });
  assert.equal(made.status, 201, made.text);
  const { call, events, workspace } = running;
  const dir = join(workspace, made.body.path);
  return {
    running,
    call,
    events,
    item: made.body,
    at: `/cases/${made.body.id}`,
    dir,
    read: (name) => readFileSync(join(dir, name), 'utf8'),
    write: (name, text) => {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), text);
    },
  };
};

/** What was told, short: the type, and for a change of state from where to where. */
export const told = (events: Running['events']): string[] =>
  events.map(({ event_type, payload }) => {
    if (event_type === 'case_state_changed')
      return `${event_type} ${payload.old_state} ${payload.new_state}`;
    if (event_type === 'proof_updated') return `${event_type} ${payload.verified}`;
    return event_type;
  });

interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: { path: string; message: string }[];
}

/** Asserts an RFC 9457 problem with this status and code, whose `errors`, if paths are named, name exactly these. */
export const assertProblem = (
  answer: Answered<unknown>,
  status: number,
  code: string,
  ...paths: string[]
): ProblemBody => {
  const body = answer.body as ProblemBody;
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  assert.deepEqual({ code: body.code, status: body.status }, { code, status });
  assert.ok(body.detail.length > 10 && body.title.length > 3, answer.text);
  assert.ok(!/ at .*\.(js|ts):\d+/.test(answer.text), 'a stack left the process');
  if (paths.length > 0)
    assert.deepEqual(
      body.errors?.map(({ path }) => path),
      paths,
    );
  return body;
};

/** Every file of a workspace with its hash and mtime, every directory too; not the daemon's own. */
export const fingerprint = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !relative(root, path).startsWith('.dossier'))
      .toSorted()
      .map((path) => [relative(root, path), fileMark(path)]),
  );

const fileMark = (path: string): string => {
  const stats = lstatSync(path);
  if (!stats.isFile()) return 'not a file';
  return `${createHash('sha256').update(readFileSync(path)).digest('hex')} ${stats.mtimeMs}`;
};

export const sha256 = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex');

/** The entity tag as a header says it. */
export const tagFor = (text: string): string => `"${sha256(text).slice(0, 32)}"`;
