/** Bytes of an export changed anywhere, or its end cut off: it comes in as it was, or not at all. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { importInto } from '../../../../lib/cli/import.ts';
import { callOf } from '../../../helpers/call-of.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';
import { filesOf } from '../../../helpers/workspace.ts';
import { exportOf } from '../../../helpers/zip.ts';

const FILES = {
  'cases/2026-11/one/case.md': '---\nid: 11111111-1111-4111-8111-111111111111\ntitle: One\n---\n',
  'memory/global.md': 'A note\n'.repeat(30),
};
const WHOLE = exportOf(FILES);

const damage = fc.record({
  flips: fc.array(fc.tuple(fc.nat(WHOLE.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
  // Most damage leaves the length.
  length: fc.oneof({ weight: 9, arbitrary: fc.constant(WHOLE.length) }, fc.nat(WHOLE.length)),
});

describe('a damaged export', () => {
  it('comes in as it was, or not at all', async (t) => {
    const root = temporaryDirectory(t);
    await fc.assert(
      fc.asyncProperty(damage, async ({ flips, length }) => {
        const dir = mkdtempSync(join(root, 'x'));
        const [source, workspace] = [join(dir, 'export.zip'), join(dir, 'workspace')];
        const bytes = Buffer.from(WHOLE);
        for (const [at, byte] of flips) bytes[at] = byte;
        writeFileSync(source, bytes.subarray(0, length));
        const call = callOf(['import', source, '--workspace', workspace], {});
        const failed = await importInto(call, () => undefined).catch((error: Error) => error);
        const found = existsSync(workspace) ? Object.fromEntries(filesOf(workspace)) : {};
        if (failed === 0) return assert.deepEqual(found, FILES);
        assert.ok(failed instanceof Error && failed.name === 'Refusal', String(failed));
        assert.doesNotMatch(failed.message, /\p{Cc}/u);
        assert.deepEqual(found, {});
      }),
      { numRuns: 150 },
    );
  });
});
