import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { importInto } from '../../../../lib/cli/import.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Manifest } from '../../../../store/records/manifest.ts';
import { callOf } from '../../../helpers/call-of.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { readExport } from '../../../helpers/exported.ts';
import { temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { type Running, startForTest } from '../../../helpers/service.ts';
import { withCase } from '../../../helpers/work-item.ts';

const importFrom = async (workspace: string, source: string): Promise<string> => {
  const call = callOf(['import', source, '--workspace', workspace], {});
  const said: string[] = [];
  assert.equal(await importInto(call, (line) => said.push(line)), 0);
  return said.join('\n');
};

const exported = async ({ call }: Running): Promise<{ bytes: Buffer; manifest: Manifest }> => {
  const { bytes, status } = await call('GET', '/api/export');
  assert.equal(status, 200);
  return { bytes, manifest: (await readExport(bytes)).manifest };
};

/** A service whose workspace has nothing in it, as a new machine has none. */
const emptied = async (t: TestContext): Promise<Running> => {
  const running = await startForTest(t);
  await running.stop();
  return running;
};

describe('an export that is imported', () => {
  it('is exported again with the same manifest, and goes on as it was', async (t) => {
    const { running, call, at } = await withCase(t, {
      title: 'Zwölf Äpfel',
      description: 'ü\n\n```sh\ntrue\n```',
    });
    await call('PUT', `${at}/memory/notes.md`, 'Notes');
    await call('POST', `${at}/proof`, { type: 'log', content: 'ok' });
    await call('POST', '/webhooks', { url: 'http://127.0.0.1:9/' });
    await call('POST', `${at}/sessions`, { type: 'implementing' });
    await eventually(async () => {
      const { body } = await call<{ status: string }[]>('GET', `${at}/sessions`);
      assert.equal(body[0]?.status, 'plan_ready');
    });
    writeFiles(running.workspace, {
      'memory/日本 語.md': 'by hand',
      'cases/2026-01/notes.txt': 'of no Work item',
      'cases/empty/case.md': '',
    });
    const first = await exported(running);
    const before = await call<Case>('GET', at);

    const other = await emptied(t);
    const source = join(temporaryDirectory(t), 'export.zip');
    writeFileSync(source, first.bytes);
    assert.match(
      await importFrom(other.workspace, source),
      /Imported 2 Work items and \d+ other files/,
    );
    await other.restart();
    const second = await exported(other);
    assert.deepEqual(
      { ...second.manifest, generated_at: '' },
      { ...first.manifest, generated_at: '' },
    );

    const after = await other.call<Case>('GET', at);
    const { updated_at: _, ...same } = before.body;
    assert.deepEqual({ ...after.body, updated_at: undefined }, { ...same, updated_at: undefined });
    // As exactly as a zip file tells a time.
    const apart = Date.parse(before.body.updated_at) - Date.parse(after.body.updated_at);
    assert.ok(apart >= 0 && apart < 2000, String(apart));
    assert.deepEqual(other.events, []);
  });
});
