/** Who verified and who approved is kept with what was said, and a later edit takes a verification back. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createKey } from '../../lib/guard/api-keys/keys.ts';
import { checkWorkspace } from '../../store/check/check.ts';
import { layoutOf } from '../../store/layout.ts';
import type { Proof } from '../../store/records/proof.ts';
import { newestSession } from '../helpers/service.ts';
import { withCase } from '../helpers/sessions.ts';

const proofFile = (workspace: string, path: string, { id, type }: Proof): string =>
  join(workspace, path, 'proof', `${type}-${id.slice(0, 8)}.md`);

describe('a verification', () => {
  it('says who said it, and does not outlive an edit', async (t) => {
    const { running, at, item } = await withCase(t);
    const { call, workspace } = running;
    const made = await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'ok 1' });
    assert.equal(made.body.verified_by, null);
    const path = `${at}/proof/${made.body.id}`;
    const { body } = await call<Proof>('PUT', `${path}/verify`);
    assert.deepEqual([body.verified, body.verified_by], [true, 'operator']);
    const file = proofFile(workspace, item.path, body);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^verified_by: operator$/m);
    writeFileSync(file, text.replace('ok 1', 'ok 2'));
    const { findings } = await checkWorkspace(layoutOf(workspace), async () => []);
    assert.deepEqual(
      findings
        .filter(({ file }) => file.includes('/proof/'))
        .map(({ code, severity }) => [severity, code]),
      [['warning', 'verification_mismatch']],
    );
    const edited = (await call<Proof>('GET', path)).body;
    assert.deepEqual([edited.verified, edited.verified_by], [false, null]);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /verified_by|verified_sha256/);
    const told = running.events.filter(({ event_type }) => event_type === 'proof_updated');
    assert.deepEqual(
      told.map(({ payload }) => 'verified' in payload && payload.verified),
      [true, false],
    );
  });

  it('by hand says so', async (t) => {
    const { running, at, item } = await withCase(t);
    const made = await running.call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'ok' });
    const file = proofFile(running.workspace, item.path, made.body);
    writeFileSync(file, readFileSync(file, 'utf8').replace('verified: false', 'verified: true'));
    const { body } = await running.call<Proof>('GET', `${at}/proof/${made.body.id}`);
    assert.deepEqual([body.verified, body.verified_by], [true, 'operator (by hand)']);
  });
});

describe('an API key that is shown', () => {
  it('is named with the approval and with the verification', async (t) => {
    const it = await withCase(t, '```sh\ntrue\n```\n');
    const { call, service } = it.running;
    const { text } = await createKey(service, 'laptop');
    const headers = { authorization: `Bearer ${text}` };
    const { id } = await it.planned();
    const approved = await call<{ approved_by: string; approved_name: string }>(
      ...(['POST', `${it.at}/sessions/${id}/approve`, undefined, headers] as const),
    );
    assert.equal(approved.body.approved_by, 'operator (key laptop)');
    assert.equal(approved.body.approved_name, 'laptop');
    await it.until(id, 'completed');
    const record = readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
    assert.match(record, /^approved_by: operator \(key laptop\)$/m);
    const proof = await call<Proof>('POST', `${it.at}/proof`, { type: 'log', content: 'ok' });
    const verify = `${it.at}/proof/${proof.body.id}/verify`;
    const { body } = await call<Proof>('PUT', verify, undefined, headers);
    assert.equal(body.verified_by, 'operator (key laptop)');
  });
});
