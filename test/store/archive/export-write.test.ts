import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outbox } from '../../../store/archive/export-outbox.ts';
import { createZip } from '../../../store/archive/export-write.ts';
import { bytesOf, entriesIn } from '../../helpers/exported.ts';

const DATE = new Date('2026-03-04T05:06:08.000Z');

/** Takes everything at once. */
const collector = () => {
  const parts: Buffer[] = [];
  const outbox: Outbox = {
    write: (bytes) => parts.push(Buffer.from(bytes)),
    room: async () => undefined,
    end: async () => undefined,
  };
  return { outbox, bytes: () => Buffer.concat(parts) };
};

const zipOf = async (count: number): Promise<Buffer> => {
  const { outbox, bytes } = collector();
  const zip = createZip(outbox);
  for (let index = 0; index < count; index += 1)
    await zip.add({ path: `${index}`, mode: 0o644, date: DATE }, Buffer.from(`${index}`));
  await zip.finish();
  return bytes();
};

describe('createZip', () => {
  it('keeps name, mode, time and bytes, from memory and from pieces', async () => {
    const { outbox, bytes } = collector();
    const zip = createZip(outbox);
    const pieces = [Buffer.from('long '.repeat(1000)), Buffer.from('end')];
    await zip.add({ path: 'ä/日本.md', mode: 0o600, date: DATE }, Buffer.from('short'));
    await zip.add({ path: 'empty', mode: 0o755, date: DATE }, Buffer.alloc(0));
    await zip.add({ path: 'long', mode: 0o644, date: DATE }, pieces);
    await zip.finish();
    const { file, entries } = await entriesIn(bytes());
    const told = entries.map((entry) => [
      entry.fileName,
      ((entry.externalFileAttributes >>> 16) & 0o777777).toString(8),
      entry.compressionMethod,
      entry.getLastModDate({ timezone: 'UTC' }).toISOString(),
    ]);
    assert.deepEqual(told, [
      ['ä/日本.md', '100600', 0, DATE.toISOString()],
      ['empty', '100755', 0, DATE.toISOString()],
      ['long', '100644', 8, DATE.toISOString()],
    ]);
    const [short, empty, long] = await Promise.all(entries.map((one) => bytesOf(file, one)));
    assert.equal(`${short}`, 'short');
    assert.equal(empty?.length, 0);
    assert.deepEqual(long, Buffer.concat(pieces));
  });

  it('makes nothing so dense that a reader would take it for a trap', async () => {
    const { outbox, bytes } = collector();
    const zip = createZip(outbox);
    const zeros = Buffer.alloc(4_194_304);
    await zip.add({ path: 'zeros', mode: 0o644, date: DATE }, [zeros]);
    await zip.finish();
    assert.ok(bytes().length * 9 > zeros.length);
  });

  it('can be read again with more entries than the plain format can count', async () => {
    const { file, entries } = await entriesIn(await zipOf(66_000));
    assert.equal(entries.length, 66_000);
    for (const at of [0, 65_534, 65_535, 65_999])
      assert.equal(`${await bytesOf(file, entries[at]!)}`, `${at}`);
  });

  it('can be read again with the number of entries that stands for more in the plain format', async () => {
    const { entries } = await entriesIn(await zipOf(65_535));
    assert.equal(entries.length, 65_535);
    assert.equal(entries.at(-1)?.fileName, '65534');
  });
});
