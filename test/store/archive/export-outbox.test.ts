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
    const { outbox, taken, got } = connect(t);
    const bytes = Buffer.alloc(CHUNK_BYTES * 2.5);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = at % 251;
    outbox.write(bytes.subarray(0, 10));
    outbox.write(bytes.subarray(10, CHUNK_BYTES));
    outbox.write(bytes.subarray(CHUNK_BYTES));
    const ended = outbox.end();
    for (const count of [1, 2, 3]) {
      await eventually(() => assert.equal(got.length, count));
      taken();
    }
    await ended;
    assert.deepEqual(Buffer.concat(got), bytes);
  });

  it('sends no more than the other side takes, and has no room meanwhile', async (t) => {
    const { outbox, taken, got } = connect(t);
    outbox.write(Buffer.alloc(CHUNK_BYTES * (WINDOW + 1)));
    outbox.write(Buffer.alloc(1));
    const room = outbox.room();
    for (let count = 1; count <= WINDOW + 1; count += 1) {
      await eventually(() => assert.equal(got.length, count));
      assert.ok(await isPending(room));
      taken();
    }
    await room;
    assert.equal(got.length, WINDOW + 1);
  });
});
