import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isolationOf } from '../../lib/agents/launch.ts';
import { createSandbox, seatbelt } from '../../lib/sandbox/sandbox.ts';
import { profileString, type SeatbeltView, seatbeltProfile } from '../../lib/sandbox/seatbelt.ts';
import { HOST_NETWORK } from '../helpers/egress.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { withCase } from '../helpers/sessions.ts';

const VIEW: SeatbeltView = {
  ...{ phase: 'plan', cwd: '/w/.dossier/worktrees/a', closed: ['/Users'] },
  shown: ['/Users/me/.nvm'],
  hidden: ['/w/.dossier', '/Users/me/.nvm/secret'],
  ...{ kept: ['/repo/.git/hooks'], writable: ['/repo/.git'], state: ['/Users/me/.agent'] },
  port: 4711,
};

type Node = string | { text: string } | Node[];

/** A reader of the profile's language that knows nothing of who wrote it. */
const parse = (source: string): Node[] => {
  const stack: Node[][] = [[]];
  const tokens = source.matchAll(/\s+|#?"((?:\\[\s\S]|[^"\\])*)"|[()]|[^\s()"#]+|[\s\S]/g);
  for (const [token, text] of tokens) {
    const top = stack.at(-1) as Node[];
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const done = stack.pop() as Node[];
      assert.ok(stack.length > 0, 'one bracket too many');
      stack.at(-1)?.push(done);
    } else if (text !== undefined) top.push({ text: text.replaceAll(/\\([\s\S])/g, '$1') });
    else if (token.trim() !== '') {
      assert.match(token, /^[\w*.-]+$/);
      top.push(token);
    }
  }
  assert.equal(stack.length, 1, 'a bracket is open');
  return stack[0] as Node[];
};

/** What the last rule about a path says of an operation. */
const decides = (profile: string, operation: string, path: string): string => {
  let answer = 'deny';
  for (const rule of parse(profile)) {
    const [verb, what, filter] = rule as [string, string, [string, { text: string }] | undefined];
    if (what === undefined || !new RegExp(`^${what.replaceAll('*', '.*')}$`).test(operation))
      continue;
    const [kind, place] = filter ?? [];
    const isMeant =
      filter === undefined ||
      (kind === 'literal' && place?.text === path) ||
      (kind === 'subpath' && `${path}/`.startsWith(`${place?.text}/`));
    if (isMeant) answer = verb;
  }
  return answer;
};

const HOSTILE = [
  '/a") (allow file-write* (subpath "/',
  '/a\\") (allow default) ("',
  '/a\\',
  '/a\n(allow default)',
  "/a'#|;\t()",
  '/a#"(regex)"',
  '/ünï🦊',
];

describe('a Seatbelt profile', () => {
  it('begins with denying all, and lets the program write its own places alone', () => {
    const plan = seatbeltProfile(VIEW);
    const work = seatbeltProfile({ ...VIEW, phase: 'work' });
    assert.match(plan, /^\(version 1\)\n\(deny default\)\n/);
    const writes = (profile: string) =>
      [
        '/w/.dossier/worktrees/a/x',
        '/repo/.git/objects',
        '/repo/.git/hooks/x',
        '/Users/me/.agent/x',
        '/w/cases/x',
        '/w/.dossier/trust',
        '/Users/me/.zshrc',
        '/etc/hosts',
        '/dev/null',
      ].map((path) => decides(profile, 'file-write-data', path) === 'allow');
    assert.deepEqual(writes(plan), [false, false, false, true, false, false, false, false, true]);
    assert.deepEqual(writes(work), [true, true, false, true, false, false, false, false, true]);
  });

  it('shows of homes what is listed, and of the daemon’s own nothing but the worktree', () => {
    const profile = seatbeltProfile(VIEW);
    const reads = [
      '/usr/lib/x',
      '/Users/me/.ssh/id',
      '/Users/me/.nvm/bin',
      '/Users/me/.nvm/secret/x',
      '/w/.dossier/secrets/x',
      '/w/.dossier/worktrees/a/x',
      '/Users/me/.agent/x',
    ].map((path) => decides(profile, 'file-read-data', path));
    assert.deepEqual(reads, ['allow', 'deny', 'allow', 'deny', 'deny', 'allow', 'allow']);
  });

  it('reaches one port of loopback, or as a whole the machine’s network', () => {
    assert.match(
      seatbeltProfile(VIEW),
      /\(allow network-outbound \(remote ip "localhost:4711"\)\)/,
    );
    assert.doesNotMatch(seatbeltProfile(VIEW), /\(allow network\*\)/);
    const { port: _, ...host } = VIEW;
    assert.match(seatbeltProfile(host), /\(allow network\*\)/);
  });

  it('lets no path break out of its string, whatever it is called', () => {
    const shape = (profile: string) =>
      JSON.stringify(parse(profile), (_, node) => (node?.text === undefined ? node : 'text'));
    for (const path of HOSTILE) {
      const [one] = parse(profileString(path));
      assert.deepEqual(one, { text: path });
      const plain = { ...VIEW, state: ['/a'.padEnd(path.length, 'x')] };
      assert.equal(
        shape(seatbeltProfile({ ...VIEW, state: [path] })),
        shape(seatbeltProfile(plain)),
      );
    }
    assert.throws(() => profileString('/a\0b'), /NUL/);
  });

  it('lets none of a thousand random names do so', () => {
    const letters = ['"', '\\', '(', ')', '\n', ' ', 'a', '#', ';', '|', '\u0007', 'é', '\\"'];
    let seed = 7;
    const next = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (let round = 0; round < 1000; round += 1) {
      const path = `/${Array.from({ length: 1 + next(30) }, () => letters[next(letters.length)]).join('')}`;
      assert.deepEqual(parse(`(subpath ${profileString(path)})`), [['subpath', { text: path }]]);
    }
  });
});

describe('sandbox: seatbelt', () => {
  it('is untried on macOS, and relied upon by nothing', (t) => {
    const box = seatbelt({ HOME: '/', PATH: '/usr/bin' }, [], 'darwin');
    assert.deepEqual([box.kind, box.untried], ['none', true]);
    assert.equal(isolationOf({ sandbox: box, network: HOST_NETWORK }), 'untried');
    const cwd = temporaryDirectory(t);
    const argv = box.wrap(['git', 'status'], {
      cwd,
      phase: 'plan',
      writable: [],
      hidden: [],
      network: 'host',
    });
    assert.deepEqual(
      [argv[0], argv[1], ...argv.slice(3)],
      ['/usr/bin/sandbox-exec', '-p', '--', 'git', 'status'],
    );
    assert.match(argv[2] ?? '', /\(deny default\)/);
  });

  it('starts nothing elsewhere, and says why', {
    skip: process.platform === 'darwin',
  }, async (t) => {
    assert.match(createSandbox('seatbelt', {}).reason ?? '', /needs macOS/);
    const test = await withCase(t, undefined, { settings: 'sandbox: seatbelt' });
    const { id } = await test.planned();
    await test.post(`/sessions/${id}/approve`);
    const { error } = await test.until(id, 'paused');
    assert.match(error ?? '', /seatbelt needs macOS/);
  });
});
