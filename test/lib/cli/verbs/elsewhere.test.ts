import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { assertSentence, dossier } from '../../../helpers/command.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { withPlan } from '../../../helpers/with-plan.ts';

/** A Work item whose plan waits on another machine, as after a pull. */
const pulled = async (t: TestContext) => {
  const { at, fileOf, workspace, dossier: api } = await withPlan(t);
  const file = await fileOf('session.md');
  const record = readFileSync(file, 'utf8');
  writeFileSync(file, record.replace(/^machine: .*$/m, `machine: ${randomUUID()}`));
  await eventually(async () =>
    assert.equal((await api.call('GET /cases/{id}/sessions/{sid}', at)).elsewhere, true),
  );
  const id8 = at.id.slice(0, 8);
  const said = (verb: string, ...more: string[]) =>
    dossier(t, verb, id8, '--workspace', workspace, ...more);
  return { id8, sid8: at.sid.slice(0, 8), said };
};

describe('a session of another machine', () => {
  it('is marked by show and wait, and its plan is shown without what this machine would do', async (t) => {
    const { sid8, said } = await pulled(t);
    assert.match((await said('show')).stdout, /\tplan_ready \(on another machine\)\t/);
    const waited = await said('wait', '--for', 'plan');
    assert.equal(waited.stdout, `Session ${sid8} is plan_ready (on another machine)\n`);
    const { stdout, stderr } = await said('plan');
    assert.match(stdout, /echo one > one\.txt/);
    assert.equal(stderr, '');
  });

  it('is neither approved nor controlled, and no error names a command that is refused here', async (t) => {
    const { id8, sid8, said } = await pulled(t);
    const approved = await said('approve', '--hash', '0'.repeat(64));
    assertSentence(
      approved,
      new RegExp(
        `session ${sid8} is plan_ready \\(on another machine\\)\\. See dossier show ${id8}`,
      ),
    );
    for (const verb of ['pause', 'resume', 'abort']) {
      const refused = await said(verb);
      assertSentence(refused, /started on another machine and can continue only there/);
      const where = `in cases/\\S+-${sid8}/session\\.md\\. See dossier show ${id8}`;
      assert.match(refused.stderr, new RegExp(where));
    }
    for (const verb of ['rm', 'close'])
      assertSentence(
        await said(verb),
        new RegExp(`set \`status: aborted\` in cases/\\S+-${sid8}/session\\.md first`),
      );
    const { stdout } = await said('comment', 'No.');
    assert.equal(stdout, 'Saved. The machine where the session started can send it\n');
  });
});
