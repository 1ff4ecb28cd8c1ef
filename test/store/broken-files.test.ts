import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { reconcile } from '../../store/reconcile/reconcile.ts';
import type { Case } from '../../store/records/case.ts';
import type { ProblemRecord } from '../../store/records/problem.ts';
import type { Proof } from '../../store/records/proof.ts';
import { refreshGlobals } from '../../store/settings/globals.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import type { Answered } from '../helpers/service.ts';
import { assertProblem, type WithCase, withCase } from '../helpers/work-item.ts';

interface Expected {
  code: string;
  line?: number;
  column?: number;
}

/** One way to break a file, and how the problem is told. */
interface Breakage {
  name: string;
  code: string;
  /** Undefined where there is no place. */
  place?: (good: string) => { line: number; column?: number };
  make: (path: string, good: string, outside: string) => void;
}

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
  );

const lines = (text: string): string[] => text.split('\n');
const TOP = () => ({ line: 1, column: 1 });
const write =
  (made: (good: string) => string | Buffer): Breakage['make'] =>
  (path, good) =>
    writeFileSync(path, made(good));

/** Puts something behind the first line of the front matter. */
const afterFirst = (good: string, more: string): string => good.replace('---\n', `---\n${more}`);
const CONFLICT = '<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> theirs\n';

const BREAKAGES: Breakage[] = [
  { name: 'an empty file', code: 'empty_file', make: write(() => '') },
  {
    name: 'a NUL byte',
    code: 'nul_byte',
    place: () => ({ line: 2, column: 4 }),
    make: write((good) => afterFirst(good, 'né:\0\n')),
  },
  {
    name: 'nothing but NUL bytes',
    code: 'nul_byte',
    place: TOP,
    make: write((good) => Buffer.alloc(good.length)),
  },
  {
    name: 'bytes that are not UTF-8',
    code: 'not_utf8',
    place: () => ({ line: 3, column: 6 }),
    make: write((good) => bytes('---\n# \uFFFD is fine\n# né ', [0xe9, 0x0a], good.slice(4))),
  },
  {
    name: 'UTF-16',
    code: 'not_utf8',
    place: TOP,
    make: write((good) => bytes([0xff, 0xfe], [...Buffer.from(good, 'utf16le')])),
  },
  {
    name: 'a lone byte-order mark',
    code: 'no_front_matter',
    place: TOP,
    make: write(() => '\uFEFF'),
  },
  {
    name: 'conflict markers in the front matter',
    code: 'conflict_markers',
    place: () => ({ line: 2, column: 1 }),
    make: write((good) => afterFirst(good, CONFLICT)),
  },
  {
    name: 'conflict markers at the end',
    code: 'conflict_markers',
    place: (good) => ({ line: lines(good).length, column: 1 }),
    make: write((good) => good + CONFLICT),
  },
  {
    name: 'a file saved half',
    code: 'unclosed_front_matter',
    place: TOP,
    make: write((good) => good.slice(0, 20)),
  },
  {
    name: 'YAML that is none',
    code: 'bad_yaml',
    place: () => ({ line: 3, column: 1 }),
    make: write((good) => afterFirst(good, 'open: [1\nshut: 2\n')),
  },
  {
    name: 'a key twice',
    code: 'bad_yaml',
    place: () => ({ line: 3, column: 1 }),
    make: write((good) => afterFirst(good, 'mine: 1\nmine: 2\n')),
  },
  {
    name: 'a bomb of aliases',
    code: 'too_many_aliases',
    place: TOP,
    make: write((good) => afterFirst(good, BOMB)),
  },
  {
    name: 'code for a front matter',
    code: 'no_front_matter',
    place: TOP,
    make: write((good) => good.replace('---', '---js')),
  },
  {
    name: '100 MB',
    code: 'too_large',
    make: (path, good) => {
      writeFileSync(path, good);
      truncateSync(path, 100_000_000);
    },
  },
  { name: 'a directory', code: 'not_a_file', make: (path) => mkdirSync(path) },
  { name: 'a pipe', code: 'not_a_file', make: (path) => void execFileSync('mkfifo', [path]) },
  {
    name: 'a link out of the workspace',
    code: 'symbolic_link',
    make: (path, good, outside) => {
      writeFileSync(join(outside, 'theirs.md'), good.replace('---\n', '---\n# theirs\n'));
      symlinkSync(join(outside, 'theirs.md'), path);
    },
  },
  {
    name: 'a link to nowhere',
    code: 'symbolic_link',
    make: (path) => symlinkSync('/nowhere/at/all.md', path),
  },
];

const BOMB = `a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c]\n`;

interface Kind {
  name: string;
  /** Relative to the workspace. */
  path: (work: WithCase, proof: Proof, hook: string) => string;
  /** What is written there, unless it is made by the API. */
  text?: (work: WithCase) => string;
  /** Values that are wrong for this kind of record. */
  wrong: [text: (good: string) => string, expected: Expected][];
  /** A write that has to be refused while the file cannot be read. */
  refused?: (work: WithCase, proof: Proof) => Promise<Answered>;
}

const OTHER_ID = '11111111-2222-4333-8444-555555555555';
const SESSION_ID = '3a3a3a3a-2222-4333-8444-555555555555';
const TIME = '2026-01-01T00:00:00.000Z';
const SESSION = `---\nid: ${SESSION_ID}\ntype: implementing\nmode: plan\nstatus: completed\nprovider: manual\ncreated_at: ${TIME}\n---\n`;
const hookText = (id: string): string =>
  `---\nid: ${id}\nurl: http://127.0.0.1:9/\ncreated_at: ${TIME}\n---\n`;

const KINDS: Kind[] = [
  {
    name: 'case.md',
    path: ({ item }) => `${item.path}/case.md`,
    wrong: [
      [
        (good) => good.replace('state: OPEN', 'state: DOING'),
        { code: 'not_a_record', line: 5, column: 1 },
      ],
      [
        (good) => good.replace(/^id: .*$/m, `id: ${OTHER_ID}`),
        { code: 'wrong_id', line: 2, column: 1 },
      ],
    ],
    refused: ({ call, at }) => call('PUT', at, { title: 'x' }),
  },
  {
    name: 'a proof',
    path: ({ item }, proof) => `${item.path}/proof/log-${proof.id.slice(0, 8)}.md`,
    wrong: [
      [
        (good) => good.replace('type: log', 'type: 7'),
        { code: 'not_a_record', line: 3, column: 1 },
      ],
    ],
    refused: ({ call, at }, proof) => call('PUT', `${at}/proof/${proof.id}/verify`),
  },
  {
    name: 'proof/checklist.md',
    path: ({ item }) => `${item.path}/proof/checklist.md`,
    text: () => '---\nitems:\n  - description: Tests pass\n    type: log\n---\n',
    wrong: [
      [
        (good) => good.replace('type: log', 'typ: log'),
        { code: 'not_a_record', line: 3, column: 5 },
      ],
    ],
    refused: ({ call, at }) =>
      call('POST', `${at}/proof/checklist`, { description: 'More', type: 'log', required: true }),
  },
  {
    name: "a Work item's webhook",
    path: ({ item }) => `${item.path}/webhooks/mine.md`,
    text: () => hookText('22222222-2222-4333-8444-555555555555'),
    wrong: [
      [(good) => good.replace('http:', 'file:'), { code: 'not_a_record', line: 3, column: 1 }],
    ],
  },
  {
    name: 'a global webhook',
    path: () => 'webhooks/mine.md',
    text: () => hookText('33333333-2222-4333-8444-555555555555'),
    wrong: [
      [(good) => good.replace(/^id: .*$/m, 'id: me'), { code: 'not_a_record', line: 2, column: 1 }],
    ],
  },
  {
    name: 'workspace.md',
    path: () => 'workspace.md',
    text: () => '---\n# the settings\nmax_sessions: 3\n---\n',
    wrong: [[(good) => good.replace('3', 'many'), { code: 'not_a_record', line: 3, column: 1 }]],
  },
  {
    name: 'session.md',
    path: ({ item }) => `${item.path}/sessions/2026-01-01T00-00-00Z-3a3a3a3a/session.md`,
    text: () => SESSION,
    wrong: [
      [(good) => good.replace('completed', 'over'), { code: 'not_a_record', line: 5, column: 1 }],
    ],
  },
  {
    name: 'sessions/lock.md',
    path: ({ item }) => `${item.path}/sessions/lock.md`,
    text: () => `---\nkind: operator\nname: me and nobody else\nacquired_at: ${TIME}\n---\n`,
    wrong: [
      [(good) => good.replace('operator', 'nobody'), { code: 'not_a_record', line: 2, column: 1 }],
    ],
  },
];

/** Reads again what the daemon reads, as any request or hint does. */
const diagnostics = async ({ call, item, running }: WithCase): Promise<ProblemRecord[]> => {
  const { store } = running.service;
  await refreshGlobals(store);
  await reconcile(store, item.id);
  return (await call<ProblemRecord[]>('GET', '/api/diagnostics')).body;
};

const placeOf = ({ code, line, column }: ProblemRecord): Expected => ({
  code,
  ...(line !== undefined && { line }),
  ...(column !== undefined && { column }),
});

/** What stands at a path, so that a change of it shows. */
const picture = (path: string): string => {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (!stats.isFile()) return `mode ${stats.mode} ino ${stats.ino}`;
  return stats.size > 2_000_000 ? `large ${stats.mtimeMs}` : readFileSync(path).toString('hex');
};

const assertOthersWork = async ({ call }: WithCase, other: Case): Promise<void> => {
  const answer = await call<Case>('PUT', `/cases/${other.id}`, { description: `${Math.random()}` });
  assert.equal(answer.status, 200, answer.text);
  const { body } = await call<Case[]>('GET', '/cases');
  assert.equal(body.length, 2);
};

const prepared = async (t: TestContext, kind: Kind) => {
  const work = await withCase(t);
  const { call, at, running } = work;
  const other = (await call<Case>('POST', '/cases', { title: 'The other', type: 'bug' })).body;
  const proof = (await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'ok' })).body;
  const file = kind.path(work, proof, '');
  const path = join(running.workspace, file);
  if (kind.text !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, kind.text(work));
  }
  assert.deepEqual(await diagnostics(work), []);
  return { work, other, proof, file, path, good: readFileSync(path, 'utf8') };
};

for (const kind of KINDS)
  describe(`${kind.name} that cannot be read`, () => {
    it('is told with its place, touched by nobody, in the way of nothing, and good again once mended', async (t) => {
      const { work, other, proof, file, path, good } = await prepared(t, kind);
      const outside = temporaryDirectory(t);
      const cells: Breakage[] = [
        ...BREAKAGES,
        ...kind.wrong.map(([text, { code, line = 1, column }], at) => ({
          name: `wrong value ${at}`,
          code,
          place: () => ({ line, ...(column !== undefined && { column }) }),
          make: write(text),
        })),
      ];
      for (const { name, code, place, make } of cells) {
        rmSync(path, { recursive: true, force: true });
        make(path, good, outside);
        const before = picture(path);
        const problems = await diagnostics(work);
        assert.deepEqual(
          problems.map(placeOf),
          [{ code, ...place?.(good) }],
          `${kind.name}: ${name}`,
        );
        assert.equal(problems[0]?.file, file, name);
        assert.match(problems[0]?.message ?? '', /\w{4}/);
        const refused = await kind.refused?.(work, proof);
        if (refused !== undefined) {
          const { detail } = assertProblem(refused, 409, 'unreadable_record');
          const at = place?.(good);
          if (at !== undefined)
            assert.ok(detail.includes(`${file}:${at.line}:`), `${name}: ${detail}`);
        }
        await assertOthersWork(work, other);
        assert.equal(picture(path), before, `${kind.name}: ${name} was touched`);
        rmSync(path, { recursive: true, force: true });
        writeFileSync(path, good);
        assert.deepEqual(await diagnostics(work), [], `${kind.name}: ${name}, mended`);
      }
      writeFileSync(path, good.replaceAll('\n', '\r\n'));
      assert.deepEqual(await diagnostics(work), [], 'other line ends are no fault');
    });
  });
