/** Zip files as nobody's export makes them: each is refused by its central directory and headers, before any content. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ArchiveError } from '../../../store/archive/archive.ts';
import { openZip } from '../../../store/archive/zip-file.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { type ZipPart, zipOf } from '../../helpers/zip.ts';

const open = async (t: TestContext, bytes: Buffer) => {
  const path = join(temporaryDirectory(t), 'test.zip');
  writeFileSync(path, bytes);
  const zip = await openZip(path);
  atEnd(t, () => zip.close());
  return zip;
};

const openFiles = (): string[] => readdirSync('/proc/self/fd');

/** One sentence or two, that say what is wrong, and nothing a terminal would take for an order. */
const refuses = async (t: TestContext, bytes: Buffer, pattern: RegExp): Promise<void> => {
  const before = openFiles().length;
  await assert.rejects(open(t, bytes), (error) => {
    assert.ok(error instanceof ArchiveError, String(error));
    assert.match(error.message, pattern);
    assert.match(error.message, /Nothing was imported\.|export again/);
    assert.doesNotMatch(error.message, /\p{Cc}/u);
    return true;
  });
  await eventually(() => assert.ok(openFiles().length <= before));
};

const GOOD: ZipPart = { name: 'cases/a/case.md', data: 'text' };

const NAMES: Record<string, [name: string | Buffer, pattern: RegExp]> = {
  'leads out': ['../evil.md', /"\.\.\/evil\.md" is refused: it is not a plain relative path/],
  'leads out further down': ['cases/../../evil.md', /not a plain relative path/],
  'is absolute': ['/etc/passwd', /"\/etc\/passwd" is refused/],
  'names a drive': ['C:/evil.md', /"C:\/evil\.md" is refused/],
  'has a backslash': ['cases\\evil.md', /backslash/],
  'has a NUL': ['cases/a\0.md', /"cases\/a\\u0000\.md" is refused: .*control character/],
  'would clear the screen': ['cases/\u001b[2J.md', /control character/],
  'has a line break': ['cases/a\nb.md', /control character/],
  'has an empty part': ['cases//a.md', /not a plain relative path/],
  'has a dot as a part': ['./cases/a.md', /not a plain relative path/],
  'is empty': ['', /not a plain relative path/],
  'is over-long': [`${'a/'.repeat(600)}a.md`, /more than 1024 bytes/],
  'has an over-long part': [`cases/${'a'.repeat(256)}`, /more than 255 bytes/],
  'is no UTF-8': [Buffer.from([0x61, 0xff, 0x62]), /not UTF-8/],
  'is in .dossier': ['.dossier/secrets/one', /".dossier\/secrets\/one" is refused: .*one machine/],
  'is in .git': ['.git/hooks/post-checkout', /one machine/],
  'is in .git for other file systems': ['.GIT/config', /one machine/],
  'is in .git for some file systems': ['cases/.git./config', /one machine/],
  'is in .git by its short name': ['GIT~1/config', /one machine/],
  'is in .git for a file system that ignores characters': ['.g\u200cit/config', /one machine/],
  'is that of a session lock': ['cases/a/sessions/lock.md', /a lock/],
  'is that of a lock': ['cases/a/sessions.lock/x', /a lock/],
  'is that of a temporary file': ['cases/a/case.md.tmp', /temporary file/],
};

describe('openZip', () => {
  it('tells the files, their sizes, modes and times', async (t) => {
    const part = {
      ...GOOD,
      mode: 0o100600,
      date: ((2026 - 1980) << 9) | (11 << 5) | 21,
      time: (8 << 11) | (30 << 5) | 15,
    };
    const zip = await open(
      t,
      zipOf([part, { name: 'cases/b/', mode: 0o040755 }, { name: 'x', stored: true }]),
    );
    assert.equal(zip.manifest, undefined);
    assert.deepEqual(
      zip.entries.map(({ path, size, mode, mtime }) => [path, size, mode, mtime.toISOString()]),
      [
        ['cases/a/case.md', 4, 0o600, '2026-11-21T08:30:30.000Z'],
        ['x', 0, 0o644, '2026-01-01T00:00:00.000Z'],
      ],
    );
    const chunks = [];
    for await (const chunk of zip.read(zip.entries[0]!)) chunks.push(chunk);
    assert.equal(Buffer.concat(chunks).toString(), 'text');
  });

  for (const [what, [name, pattern]] of Object.entries(NAMES))
    it(`refuses a name that ${what}`, (t) =>
      refuses(t, zipOf([GOOD, { name, data: 'x' }]), pattern));

  it('refuses a directory entry that leads out', (t) =>
    refuses(
      t,
      zipOf([{ name: '../out/', mode: 0o040755, stored: true }]),
      /not a plain relative path/,
    ));

  it('refuses a directory entry with a content', (t) =>
    refuses(t, zipOf([{ name: 'cases/', data: 'x', mode: 0 }]), /directory with content/));

  it('refuses another name in the header before the bytes', (t) =>
    refuses(
      t,
      zipOf([{ ...GOOD, localName: '../x/y/z/case.md' }]),
      /local header has another name/,
    ));

  it('refuses links and devices', async (t) => {
    await refuses(
      t,
      zipOf([{ name: 'cases/a/link', data: '/etc', mode: 0o120777 }]),
      /a link or a device/,
    );
    await refuses(t, zipOf([{ name: 'pipe', mode: 0o010644 }]), /a link or a device/);
    await refuses(
      t,
      zipOf([{ name: 'cases/', stored: true, mode: 0o120777 }]),
      /a link or a device/,
    );
  });

  it('refuses special modes', (t) =>
    refuses(t, zipOf([{ ...GOOD, mode: 0o104755 }]), /special mode 4755/));

  it('refuses encrypted entries', async (t) => {
    await refuses(t, zipOf([{ ...GOOD, flags: 0x1 }]), /"cases\/a\/case\.md" .*encrypted/);
    await refuses(t, zipOf([{ ...GOOD, flags: 0x2000 }]), /encrypted/);
    await refuses(t, zipOf([{ ...GOOD, flags: 0x41 }]), /encrypt/);
  });

  it('refuses an unknown compression', (t) =>
    refuses(t, zipOf([{ ...GOOD, method: 12 }]), /"cases\/a\/case\.md" .*method 12/));

  it('refuses an entry that is there twice', async (t) => {
    await refuses(t, zipOf([GOOD, GOOD]), /"cases\/a\/case\.md" is in the archive twice/);
    const manifest = { name: 'manifest.json', data: '{}' };
    await refuses(t, zipOf([manifest, manifest]), /"manifest\.json" .*twice/);
  });

  it('refuses names that differ only in case or Unicode form, and says both', async (t) => {
    const twins = (a: string, b: string) => zipOf([{ name: a }, { name: b }]);
    await refuses(
      t,
      twins('cases/A/case.md', 'cases/a/case.md'),
      /"cases\/A\/case\.md" and "cases\/a\/case\.md"/,
    );
    await refuses(t, twins('notes/\u00e9.md', 'notes/e\u0301.md'), /case or Unicode form/);
    await refuses(t, twins('notes/straße', 'notes/STRASSE'), /case or Unicode form/);
    await refuses(t, twins('notes', 'Notes/a.md'), /is a file, and "Notes\/a\.md" is below it/);
  });

  it('refuses entries that overlap', (t) => {
    const inner = zipOf([{ name: 'b', data: 'x' }]);
    const bytes = zipOf([
      { name: 'a', data: inner, stored: true },
      { name: 'b', data: 'x', placeOf: 0 },
    ]);
    // The second entry is told to begin inside the bytes of the first one.
    const central = bytes.lastIndexOf('PK\x01\x02');
    bytes.writeUInt32LE(31, central + 42);
    return refuses(t, bytes, /shares its bytes/);
  });

  it('refuses an entry that goes on after the end of the file', (t) =>
    refuses(
      t,
      zipOf([{ name: 'a', data: 'x', stored: true, size: 5000, compressed: 5000 }]),
      /is damaged: .*overflows/,
    ));

  it('refuses bombs by what they tell of themselves', async (t) => {
    await refuses(
      t,
      zipOf([{ ...GOOD, size: 0xfffffffe }]),
      /unpacks to 4294967294 bytes from \d+/,
    );
    const many = Array.from({ length: 20 }, (_, at) => ({
      name: `x${at}`,
      data: 'x',
      size: 90 * 1_048_576,
    }));
    await refuses(t, zipOf(many), /The archive unpacks to \d+ bytes/);
  });

  it('ends an entry at the first byte over the size that it told', async (t) => {
    const data = Buffer.alloc(50 * 1_048_576);
    const zip = await open(t, zipOf([{ name: 'bomb', data, size: 1000 }]));
    let read = 0;
    await assert.rejects(async () => {
      for await (const chunk of zip.read(zip.entries[0]!)) read += chunk.length;
    }, /"bomb" cannot be unpacked \(too many bytes/);
    assert.ok(read <= 1000, String(read));
  });

  it('ends an entry that is shorter than it told, or cannot be inflated', async (t) => {
    const bytes = zipOf([
      { name: 'short', data: 'text', size: 5 },
      { name: 'broken', data: 'x'.repeat(99) },
    ]);
    bytes.fill(0xff, bytes.indexOf('broken') + 6, bytes.indexOf('broken') + 9);
    const zip = await open(t, bytes);
    for (const entry of zip.entries)
      await assert.rejects(async () => {
        for await (const _ of zip.read(entry));
      }, /cannot be unpacked/);
  });

  it('refuses a file that was cut off, anywhere', async (t) => {
    const whole = zipOf([GOOD, { name: 'b', data: 'x'.repeat(500), stored: true }]);
    for (const size of [0, 1, 21, 60, whole.length - 30, whole.length - 1])
      await refuses(t, whole.subarray(0, size), /not a complete zip file|damaged/);
  });

  it('refuses bytes cut out of the middle', (t) => {
    const whole = zipOf([GOOD, { name: 'b', data: 'x'.repeat(500), stored: true }]);
    return refuses(
      t,
      Buffer.concat([whole.subarray(0, 100), whole.subarray(400)]),
      /damaged|not a complete zip file|another name/,
    );
  });

  it('refuses what is no zip file', (t) =>
    refuses(t, Buffer.from('# Dossier\n'.repeat(50)), /is not a complete zip file/));
});
