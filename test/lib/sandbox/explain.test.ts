import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitsIn } from '../../../lib/sandbox/explain.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';

const OWN = { dir: '/net', relay: [] };

/** What programs write when they meet a limit, and the setting or way that has to be named. */
const SAID: readonly (readonly [program: string, text: string, wanted: RegExp])[] = [
  ['node', 'Error: connect ECONNREFUSED 127.0.0.1:5432', /allow_local: \["localhost:5432"\]/],
  ['node by IPv6', 'Error: connect ECONNREFUSED ::1:6379', /"localhost:6379"/],
  [
    'psql',
    'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
    /"localhost:5432"/,
  ],
  [
    'curl',
    "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
    /"localhost:8080"/,
  ],
  ['redis-cli', 'Could not connect to Redis at 127.0.0.1:6379: Connection refused', /:6379"/],
  ['mysql', "ERROR 2003 (HY000): Can't connect to MySQL server on '127.0.0.1:3306' (111)", /:3306/],
  [
    'requests',
    "HTTPConnectionPool(host='localhost', port=8000): Max retries exceeded: [Errno 111] Connection refused",
    /"localhost:8000"/,
  ],
  [
    'psql by socket',
    'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or directory',
    /sockets of this machine are hidden, such as \/var\/run\/postgresql/,
  ],
  [
    'docker',
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    /such as \/var\/run\/docker.sock/,
  ],
  [
    'ssh',
    'ssh: Could not resolve hostname github.com: Temporary failure in name resolution',
    /https/,
  ],
  ['fetch', 'cause: Error: getaddrinfo EAI_AGAIN registry.npmjs.org', /HTTPS_PROXY.*Node 24/],
  ['curl --noproxy', 'curl: (6) Could not resolve host: example.com', /HTTPS_PROXY/],
  ['turbo', "Error: EROFS: read-only file system, mkdir '/home/me/.turbo'", /state_dirs/],
  ['touch', "touch: cannot touch '/home/me/x': Read-only file system", /state_dirs/],
  [
    'git submodule',
    "fatal: clone of '/srv/lib.git' into submodule path '/w/vendor/lib' failed",
    /submodule \/w\/vendor\/lib .*https/,
  ],
  ['npm', 'npm error code E401', /env: \{ NPM_TOKEN: \{ inherit: true \} \}/],
  ['gh', 'To get started with GitHub CLI, please run:  gh auth login', /GH_TOKEN/],
];

describe('what a failed command met in the sandbox', () => {
  for (const [program, text, wanted] of SAID)
    it(`is told from the words of ${program}`, () => {
      const place = { cwd: '/none', phase: 'work', network: OWN } as const;
      const [found = '', ...others] = limitsIn(`before\n${text}\nafter`, place);
      assert.match(found, wanted);
      // A failed look-up is one of ssh and of the resolver.
      assert.ok(others.length <= Number(program === 'ssh'), others.join('\n'));
    });

  it('is node_modules where there is a package.json without them', (t) => {
    const cwd = temporaryDirectory(t);
    const place = { cwd, phase: 'work', network: OWN } as const;
    const text = "Error: Cannot find module 'vitest'\nsh: 1: vitest: not found";
    assert.deepEqual(limitsIn(text, place), []);
    writeFiles(cwd, { 'package.json': '{}' });
    assert.match(limitsIn(text, place).join('\n'), /^this worktree has no node_modules[^\n]*$/);
    writeFiles(cwd, { 'node_modules/a/index.js': '' });
    assert.deepEqual(limitsIn(text, place), []);
  });

  it("is no network where the run has the machine's own, and is another in Plan mode", () => {
    const host = { cwd: '/none', phase: 'work', network: 'host' } as const;
    assert.deepEqual(limitsIn('connect ECONNREFUSED 127.0.0.1:5432\nEAI_AGAIN', host), []);
    const plan = { cwd: '/none', phase: 'plan', network: OWN } as const;
    assert.match(limitsIn('EROFS', plan).join(), /in Plan mode/);
  });

  it('is nothing for a refusal of another machine, and few for a long output', () => {
    const place = { cwd: '/none', phase: 'work', network: OWN } as const;
    assert.deepEqual(limitsIn('connect ECONNREFUSED 203.0.113.7:443', place), []);
    const many = Array.from({ length: 9000 }, (_, n) => `ECONNREFUSED 127.0.0.1:${1000 + n}`);
    assert.equal(limitsIn(many.join('\n'), place).length, 8);
  });
});
