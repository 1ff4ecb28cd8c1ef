/** A hostile program in a sandboxed Plan turn reaches no daemon of the machine, as root and as another user. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { ATTACK } from '../helpers/attack.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { echo, listen } from '../helpers/egress.ts';
import { eventually } from '../helpers/eventually.ts';
import { missing } from '../helpers/inside.ts';
import { OTHER } from '../helpers/inside-as.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import type { StreamEvent } from '../helpers/sessions.ts';
import { clientOf } from '../helpers/stream.ts';

const me = process.getuid?.() ?? 0;
const USERS = me === 0 ? [0, OTHER] : [me];
const LIMIT = { timeout: 180_000 };

const place = async (t: TestContext, uid: number) => {
  const [workspace, home, agents] = [1, 2, 3].map(() => temporaryDirectory(t)) as [
    string,
    string,
    string,
  ];
  const { root } = makeRepository(t);
  execFileSync('chown', ['-R', `${uid}:${uid}`, workspace, home, agents, root]);
  const args = ['--workspace', workspace, '--repo', root, '--dev'];
  const daemon = await startDaemon(t, args, { HOME: home }, uid);
  const settle = (settings: object): void => {
    const file = join(workspace, 'workspace.md');
    writeFileSync(file, `---\n${JSON.stringify(settings)}\n---\n`);
    chownSync(file, uid, uid);
  };
  /** Has a program plan, and answers its plan and its events. */
  const plan = async (script: string, settings: object = {}, env: Record<string, string> = {}) => {
    const file = join(agents, 'agent.mjs');
    writeFileSync(file, script);
    const argv = [process.execPath, file];
    const agent = { kind: 'command', plan: argv, work: argv, env };
    settle({ provider: 'agent', providers: { agent }, ...settings });
    const api = clientOf(daemon.url);
    await eventually(async () => {
      const known = (await api.get('/providers')) as unknown as { id: string }[];
      assert.ok(known.some(({ id }) => id === 'agent'));
    });
    const item = await api.post('/cases', { title: 'Attack', type: 'chore' });
    const session = await api.post(`/cases/${item.id}/sessions`, { type: 'implementing' });
    const at = `/cases/${item.id}/sessions/${session.id}`;
    const { status, error } = await eventually(async () => {
      const session = await api.get(at);
      assert.ok(['plan_ready', 'failed'].includes(String(session.status)));
      return session;
    }, 60_000);
    assert.equal(status, 'plan_ready', String(error));
    const text = await (await fetch(`${daemon.url}${at}/plan`)).text();
    const stream = await fetch(`${daemon.url}${at}/stream`, {
      headers: { accept: 'application/json' },
    });
    const dir = newestSession({ workspace } as never, item as { path: string });
    return { text, events: (await stream.json()) as StreamEvent[], at, api, dir, item };
  };
  return { daemon, plan, port: Number(new URL(daemon.url).port) };
};

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.startsWith('fe80'));

for (const uid of USERS) {
  describe(`a sandboxed agent of user ${uid}`, { skip: missing }, () => {
    it('reaches neither its own daemon nor another, by no way', LIMIT, async (t) => {
      const { plan, port, daemon } = await place(t, uid);
      const other = await place(t, uid);
      const api = clientOf(daemon.url);
      const victim = await api.post('/cases', {
        ...{ title: 'Victim', type: 'chore', description: '```sh\ntouch evil\n```' },
      });
      const session = await api.post(`/cases/${victim.id}/sessions`, { type: 'implementing' });
      const at = `/cases/${victim.id}/sessions/${session.id}`;
      await eventually(async () => assert.equal((await api.get(at)).status, 'plan_ready'));

      const abstract = `dossier-test-${process.pid}-${uid}`;
      const hidden = createServer((socket) => socket.end('HTTP/1.1 200 reached'));
      hidden.listen(`\0${abstract}`);
      const x11 = mkdtempSync('/tmp/.X11-test-');
      atEnd(t, () => rmSync(x11, { recursive: true, force: true }));
      chownSync(x11, uid, uid);
      const display = createServer((socket) => socket.end('HTTP/1.1 200 reached'));
      display.listen(join(x11, 'X99'));
      await Promise.all([once(hidden, 'listening'), once(display, 'listening')]);
      atEnd(t, () => [hidden.close(), display.close()]);

      const goals = {
        ports: [port, other.port],
        hosts: ['127.0.0.1', 'localhost', '::1', '0.0.0.0', '2130706433', ...ownAddresses()],
        ...{ approve: `${at}/approve`, abstract, paths: [join(x11, 'X99')] },
      };
      // The second variable is one that the agent is let through to, were it not a daemon.
      const env = { ATTACK: JSON.stringify(goals), BAIT_URL: `http://127.0.0.1:${port}/v1` };
      const { text, events } = await plan(ATTACK, {}, env);
      const tries: Record<string, string> = JSON.parse(text);
      assert.ok(Object.keys(tries).length > 20);
      for (const [name, came] of Object.entries(tries)) {
        assert.doesNotMatch(came, /reached|200|silent/, `${name}: ${came}`);
        if (/^(?:absolute|CONNECT)/.test(name)) assert.match(came, /^HTTP\/1\.1 403/, name);
      }
      assert.equal((await api.get(at)).status, 'plan_ready');
      const told = events.filter(({ event }) => event === 'network').map(({ data }) => data);
      assert.ok(told.length > 4 && told.every(({ allowed }) => allowed === false));
      const keys = told.map(({ host, port: at }) => `${host} ${at}`);
      assert.equal(new Set(keys).size, keys.length);
    });

    it('reaches what allow_local lists, and it is in the summary', LIMIT, async (t) => {
      const { plan } = await place(t, uid);
      const port = await listen(t, echo);
      const script = `
        import { connect } from 'node:net';
        const socket = connect(${port}, '127.0.0.1', () => socket.end('plain TCP'));
        socket.pipe(process.stdout);
      `;
      const { text, at, api, dir, item } = await plan(script, {
        allow_local: [`localhost:${port}`],
      });
      assert.equal(text, 'plain TCP');
      await api.post(`/api/cases/${item.id}/session/abort`);
      await eventually(async () => assert.equal((await api.get(at)).status, 'aborted'));
      await eventually(() =>
        assert.match(
          readFileSync(join(dir, 'session.md'), 'utf8'),
          new RegExp(`## Network\\n\\n\`\`\`text\\nReached: localhost:${port}\\.\\n`),
        ),
      );
    });

    it('ends as it ends inside: with its code, its signal and its output', LIMIT, async (t) => {
      const { plan } = await place(t, uid);
      for (const [script, words] of [
        ['process.stdout.write("x".repeat(300_000)); process.exitCode = 7;', /code 7/],
        ['process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000);', /SIGTERM|143/],
      ] as const)
        await assert.rejects(plan(script), words);
    });

    it('has MCP inside of its own network, and the machine has no such port', LIMIT, async (t) => {
      const { plan } = await place(t, uid);
      const script = `
        const answer = await fetch('http://127.0.0.1:14870/mcp', { method: 'POST', body: '{}' });
        console.log(answer.status, Object.keys(process.env).filter((n) => /proxy/i.test(n)).length);
      `;
      assert.equal((await plan(script)).text, '401 9');
    });
  });
}

describe('a provider with network: host', { skip: missing }, () => {
  it('has the machine’s loopback, and its isolation is reported as checked', LIMIT, async (t) => {
    const { plan, daemon } = await place(t, me);
    const port = await listen(t, echo);
    const script = `
      import { connect } from 'node:net';
      const socket = connect(${port}, '127.0.0.1', () => socket.end('on the machine'));
      socket.pipe(process.stdout);
    `;
    assert.equal((await plan(script, { network: 'host' })).text, 'on the machine');
    const known = (await clientOf(daemon.url).get('/providers')) as unknown as {
      id: string;
      isolation: string;
    }[];
    assert.equal(known.find(({ id }) => id === 'agent')?.isolation, 'checked');
  });
});
