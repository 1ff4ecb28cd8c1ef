/** MCP at the way out of a run: for this run alone, whatever way it is asked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serveRun } from '../../lib/mcp/serve.ts';
import type { AnswerMcp } from '../../lib/sandbox/egress/mcp-door.ts';
import { openMcpPort } from '../../lib/sandbox/egress/run-doors.ts';
import { RELAY_PORT } from '../../lib/sandbox/egress/run-network.ts';
import { atEnd } from '../helpers/at-end.ts';
import { CONNECT, openEgress } from '../helpers/egress.ts';
import { withAgent, withCase } from '../helpers/sessions.ts';

const BODY = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'read_work_item', arguments: {} },
});

const post = (target: string, token: string | undefined, host = 'x'): string =>
  [
    `POST ${target} HTTP/1.1`,
    `host: ${host}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    'content-type: application/json',
    `content-length: ${BODY.length}`,
    'connection: close',
    '',
    BODY,
  ].join('\r\n');

/** The same message, asked in each way that agents ask. */
const ways = (token?: string): string[] => {
  const own = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${RELAY_PORT}`);
  return [
    post('/mcp', token),
    ...own.map((authority) => post(`http://${authority}/mcp`, token, authority)),
    ...own.map((authority) => CONNECT(authority) + post('/mcp', token, authority)),
  ];
};

const statusOf = (answer: string): string =>
  answer
    .replace(/^HTTP\/1\.1 200 Connection established\r\n\r\n/, '')
    .split(' ', 2)
    .join(' ');

describe('the MCP door of a run', () => {
  it('answers its own token, by CONNECT, in absolute form and directly, and no other run', async (t) => {
    const one = await withCase(t, 'Change a.txt.', withAgent(t, 'hang'));
    const two = await withCase(t, 'Not yours.', withAgent(t, 'hang'));
    const door = async (it: typeof one): Promise<{ mcp: AnswerMcp; token: string }> => {
      const { id } = await it.start();
      await it.untilEvent(id, 'message');
      const token = it.running.service.engine.live.get(id)?.token ?? '';
      return { mcp: serveRun(it.running.service, token), token };
    };
    const [mine, theirs] = [await door(one), await door(two)];
    const egress = openEgress(t, mine);
    for (const way of ways(mine.token)) {
      const answer = await egress.say(way);
      assert.equal(statusOf(answer), 'HTTP/1.1 200', way);
      assert.match(answer, new RegExp(one.item.id), way);
    }
    for (const token of [undefined, 'x', '', theirs.token, `${mine.token}x`])
      for (const way of ways(token))
        assert.equal(statusOf(await egress.say(way)), 'HTTP/1.1 401', `${token} ${way}`);
    assert.deepEqual(egress.told, []);

    const { port, close } = await openMcpPort(mine.token, mine.mcp);
    atEnd(t, close);
    const call = (token: string, more: Record<string, string> = {}, path = 'mcp') =>
      fetch(`http://127.0.0.1:${port}/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
        body: BODY,
      }).then(({ status }) => status);
    assert.deepEqual(
      [
        await call(mine.token),
        await call(theirs.token),
        await call(mine.token, { origin: 'http://evil.example' }),
        await call(mine.token, {}, 'cases'),
      ],
      [200, 401, 403, 404],
    );
    assert.equal((await fetch(`http://127.0.0.1:${port}/mcp`)).status, 405);

    await one.control('abort');
    assert.equal(statusOf(await egress.say(post('/mcp', mine.token))), 'HTTP/1.1 401');
    await two.control('abort');
  });

  it('serves nothing of the API, and nobody without a session', async (t) => {
    const egress = openEgress(t);
    const target = `http://127.0.0.1:${RELAY_PORT}`;
    for (const path of ['/cases', '/health', '/version', '/', '/mcp/', '//mcp'])
      for (const way of [post(path, 'x'), post(`${target}${path}`, 'x')])
        assert.equal(statusOf(await egress.say(way)), 'HTTP/1.1 404', way);
    assert.equal(statusOf(await egress.say(post('/mcp', 'x'))), 'HTTP/1.1 401');
  });
});
