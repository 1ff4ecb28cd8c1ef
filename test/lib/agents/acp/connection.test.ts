import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { connectAgent } from '../../../../lib/agents/acp/connection.ts';
import { eventually } from '../../../helpers/eventually.ts';

const SENT = 2000;

/** The turns of the event loop that other work gets while an agent sends these messages at once. */
const turnsWhile = async (message: (at: number) => object) => {
  const [stdin, stdout] = [new PassThrough().resume(), new PassThrough()];
  const heard: string[] = [];
  const never = () => new Promise(() => undefined);
  connectAgent(
    { stdin, stdout },
    {
      onNotification: (method) => heard.push(method),
      onPermission: never,
      onQuestion: never,
      onUnknownRequest: (method) => heard.push(method),
    },
  );
  let turns = 0;
  const count = () => {
    turns += 1;
    if (heard.length < SENT) setImmediate(count);
  };
  setImmediate(count);
  const lines = Array.from({ length: SENT }, (_, at) => `${JSON.stringify(message(at))}\n`);
  stdout.write(lines.join(''));
  await eventually(() => assert.equal(heard.length, SENT));
  return { heard, turns };
};

describe('connectAgent', () => {
  for (const [kind, more] of [
    ['notifications', () => ({})],
    ['requests', (id: number) => ({ id })],
  ] as const)
    it(`lets other work go on while an agent floods it with ${kind}, and keeps their order`, async () => {
      const { heard, turns } = await turnsWhile((at) => ({
        ...{ jsonrpc: '2.0', method: `m/${at}`, params: {} },
        ...more(at),
      }));
      assert.deepEqual(
        heard,
        Array.from({ length: SENT }, (_, at) => `m/${at}`),
      );
      assert.ok(turns >= 30, String(turns));
    });

  it('reads no more than it has handled, so that a flood fills no memory', async () => {
    const [stdin, stdout] = [new PassThrough().resume(), new PassThrough()];
    let heard = 0;
    const never = () => new Promise(() => undefined);
    const onNotification = () => {
      heard += 1;
    };
    connectAgent(
      { stdin, stdout },
      { onNotification, onPermission: never, onQuestion: never, onUnknownRequest: never },
    );
    const message = `${JSON.stringify({ jsonrpc: '2.0', method: 'm', params: {} })}\n`;
    const written = 200 * 1024;
    for (let sent = 0; sent < written; sent += message.length) stdout.write(message);
    await eventually(() => assert.ok(heard > 0));
    // What is not read yet stays with the agent, and what is read was handled.
    const read = written - stdout.readableLength - stdout.writableLength;
    assert.ok(read - heard * message.length < 100 * 1024, `${read} bytes for ${heard}`);
  });
});
