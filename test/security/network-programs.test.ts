/** Ordinary programs find their way out of the sandbox by the proxy's variables. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { NO_MCP } from '../../lib/sandbox/egress/mcp-door.ts';
import { createNetworkAccess } from '../../lib/sandbox/egress/networks.ts';
import { createDoorsHere } from '../../lib/sandbox/egress/run-doors.ts';
import type { Environment } from '../../lib/tools/process/environment.ts';
import { atEnd } from '../helpers/at-end.ts';
import { onPort, worldWith } from '../helpers/egress.ts';
import { missing, sandbox } from '../helpers/inside.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

const SUBJECT = ['-subj', '/CN=far.example', '-addext', 'subjectAltName=DNS:far.example'];

/** A machine far away, which has a web page and a repository of git; a shell inside that reaches nothing else. */
const far = async (t: TestContext) => {
  const cwd = temporaryDirectory(t);
  const { root, git } = makeRepository(t);
  git('update-server-info');
  const [key, cert] = [join(cwd, 'key.pem'), join(cwd, 'cert.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...made, '-days', '2', ...SUBJECT], { stdio: 'ignore' });
  const seen: string[] = [];
  const answer: Parameters<typeof createServer>[1] = (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    seen.push(path);
    if (path === '/package') {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ name: 'package', versions: {}, 'dist-tags': {} }));
    }
    try {
      if (path.startsWith('/repo/'))
        return response.end(readFileSync(join(root, '.git', path.slice('/repo/'.length))));
    } catch {
      response.statusCode = 404;
    }
    return response.end('from far away\n');
  };
  const tls = { key: readFileSync(key), cert: readFileSync(cert) };
  const plain = await onPort(t, createServer(answer));
  const secure = await onPort(t, createSecure(tls, answer));
  const world = worldWith({ 'far.example': ['127.0.0.1'] }, { here: (a) => a === '127.0.0.1' });
  const told: string[] = [];
  const network = createNetworkAccess({
    ...{ sandboxed: true, rules: {}, env: {}, doors: createDoorsHere(world), mcp: () => NO_MCP },
  }).open({
    ...{ given: {}, token: undefined },
    tell: ({ host, port, allowed }) => told.push(`${host}:${port} ${allowed}`),
  });
  atEnd(t, network.close);
  const run = async (script: string, more: Environment = {}): Promise<string> => {
    const view = { cwd, phase: 'work', writable: [], hidden: [], network: network.view } as const;
    const [file = '', ...args] = sandbox.wrap(['/bin/sh', '-c', script], view);
    const { PATH = '' } = process.env;
    const env = network.environment({ PATH, HOME: cwd, npm_config_cache: '/tmp/npm', ...more });
    const { stdout } = await promisify(execFile)(file, args, { env, timeout: 60_000 });
    return stdout;
  };
  return { run, told, seen, plain, secure, cert, head: git('rev-parse', 'HEAD').trim() };
};

describe('a program in the sandbox', { skip: missing }, () => {
  it('has the certificates of Node, which its relay does not read', async (t) => {
    const { run, cert } = await far(t);
    const script = `cat /proc/$PPID/cmdline; cat /proc/$PPID/environ; echo; env | grep CA_CERTS`;
    const [relay = '', ...own] = (await run(script, { NODE_EXTRA_CA_CERTS: cert })).split('\n');
    assert.match(relay, /relay\.mjs/);
    assert.doesNotMatch(relay, /NODE_EXTRA_CA_CERTS/);
    assert.deepEqual(own, [`NODE_EXTRA_CA_CERTS=${cert}`, '']);
    assert.equal(await run('env | grep CA_CERTS || echo none'), 'none\n');
  });

  it('fetches by the proxy: curl, git, npm and node', { timeout: 180_000 }, async (t) => {
    const { run, told, seen, plain, secure, cert, head } = await far(t);
    const [http, https] = [`http://far.example:${plain}`, `https://far.example:${secure}`];
    assert.equal(await run(`curl -sS ${http}/`), 'from far away\n');
    assert.equal(await run(`curl -sS --cacert ${cert} ${https}/`), 'from far away\n');
    for (const url of [http, https])
      assert.match(
        await run(`git -c http.sslCAInfo=${cert} ls-remote ${url}/repo`),
        new RegExp(head),
      );
    await run(`npm --cafile ${cert} --registry ${https} view package name`);
    assert.ok(seen.includes('/package'));
    const script = `
      const url = new URL(process.env.http_proxy);
      require('node:http').get({ host: url.hostname, port: url.port, path: '${http}/' }, (a) => a.pipe(process.stdout));
    `;
    assert.equal(await run(`${process.execPath} -e "${script}"`), 'from far away\n');
    assert.deepEqual(
      [...new Set(told)].toSorted(),
      [`far.example:${plain} true`, `far.example:${secure} true`].toSorted(),
    );
  });

  const grouped = process.platform === 'linux' && existsSync('/proc/self/autogroup');
  it('comes after what the operator does, with its whole session', {
    skip: !grouped,
  }, async (t) => {
    const { run } = await far(t);
    // The kernel takes ten changes a second, of all programs.
    const lower = 'until grep -q "nice 10$" /proc/self/autogroup; do sleep 0.1; done; nice';
    assert.equal((await run(lower)).trim(), '10');
  });

  it('has nothing but the proxy: no name is looked up, and no address is reached past it', async (t) => {
    const { run, plain, told } = await far(t);
    const direct = `curl -sS --noproxy '*' -m 5 http://far.example:${plain}/ http://1.1.1.1/ 2>&1; true`;
    assert.match(
      await run(direct),
      /Could not resolve[\s\S]*(?:Failed|Couldn't|Could not) connect/i,
    );
    assert.deepEqual(told, []);
  });
});
