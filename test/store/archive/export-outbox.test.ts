import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { CHUNK_BYTES, createOutbox, WINDOW } from '../../../store/archive/export-outbox.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';

const connect = (t: TestContext) => {
  const { port1, port2 } = new MessageChannel();
  atEnd(t, () => port1.close());
  const got: Uint8Array[] = [];
  port2.on('message', (chunk: Uint8Array) => got.push(chunk));
  return { outbox: createOutbox(port1), taken: () => port2.postMessage('taken'), got };
};

const isPending = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => false), new Promise<boolean>((r) => setImmediate(r, true))]);

describe('createOutbox', () => {
  it('sends the bytes in order, in whole pieces and a last one', async (t) => {
    const { outbox, got } = connect(t);
    const bytes = Buffer.alloc(CHUNK_BYTES * 2.5);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = at % 251;
    outbox.write(bytes.subarray(0, 10));
    outbox.write(bytes.subarray(10, CHUNK_BYTES));
    outbox.write(bytes.subarray(CHUNK_BYTES));
    await outbox.end();
    await eventually(() => assert.equal(got.length, 3));
    assert.deepEqual(Buffer.concat(got), bytes);
  });

  it('sends no more than the other side takes, and has no room meanwhile', async (t) => {
    const { outbox, taken, got } = connect(t);
    outbox.write(Buffer.alloc(CHUNK_BYTES * (WINDOW + 2)));
    outbox.write(Buffer.alloc(1));
    const room = outbox.room();
    await eventually(() => assert.equal(got.length, WINDOW));
    taken();
    await eventually(() => assert.equal(got.length, WINDOW + 1));
    assert.ok(await isPending(room));
    taken();
    await room;
    await eventually(() => assert.equal(got.length, WINDOW + 2));
  });
});
