import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { lockOn } from '../../../store/base/locks.ts';
import { answerOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { Case } from '../../../store/records/case.ts';
import type { Proof } from '../../../store/records/proof.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { proofText } from '../../helpers/many-items.ts';
import { told, type WithCase, withCase } from '../../helpers/work-item.ts';

/** A Work item whose turn somebody has, as long as the test lasts. */
const occupied = async (t: TestContext): Promise<WithCase> => {
  const work = await withCase(t);
  const { locks } = work.running.service.store;
  const held = new Promise<void>((leave) => atEnd(t, leave));
  locks.take(lockOn.item(work.item.id), () => held).catch(assert.fail);
  return work;
};

describe('a read of a Work item that others write', () => {
  it('answers what is on disk, and does not wait for them', async (t) => {
    const work = await occupied(t);
    work.write('case.md', work.read('case.md').replace('Tax is', 'By hand, it is'));
    const { status, body, headers } = await work.call<Case>('GET', work.at);
    assert.deepEqual([status, body.title], [200, 'By hand, it is off by one']);
    const again = await work.call('GET', work.at, undefined, {
      'if-none-match': String(headers.etag),
    });
    assert.equal(again.status, 304);
    assert.equal(
      itemOf(work.running.service.store, work.item.id)?.files.case.value?.matter.title,
      'Tax is off by one',
    );
  });

  it('answers what it saw before the disk has what is told of it', async (t) => {
    const work = await withCase(t);
    const { journal } = work.running.service.store;
    let goOn: () => void = () => undefined;
    const full = new Promise<void>((resolve) => (goOn = resolve));
    const { append } = journal;
    journal.append = (entry) => full.then(() => append(entry));
    work.write('case.md', work.read('case.md').replace('Tax is', 'By hand, it is'));
    const { body } = await work.call<Case>('GET', work.at);
    assert.equal(body.title, 'By hand, it is off by one');
    assert.deepEqual(told(work.events), []);
    goOn();
    await eventually(() => assert.deepEqual(told(work.events), ['case_updated']));
  });

  it('gives its proofs, but for one that has no id yet', async (t) => {
    const work = await occupied(t);
    work.write('proof/by-hand.md', proofText('by hand'));
    work.write('proof/without.md', '---\ntype: log\n---\n\nno id\n');
    const { status, body } = await work.call<Proof[]>('GET', `${work.at}/proof`);
    assert.equal(status, 200);
    assert.deepEqual(
      body.map(({ content }) => content.trim()),
      ['by hand'],
    );
  });

  it('says what is wrong with its file', async (t) => {
    const work = await occupied(t);
    work.write('case.md', '---\ntitle: [\n---\n');
    const { status, body } = await work.call<Case>('GET', work.at);
    assert.deepEqual([status, body.title], [200, 'Tax is off by one']);
    assert.equal(body.problems?.length, 1);
  });

  it('is 404 for one that is not there', async (t) => {
    const { call } = await occupied(t);
    assert.equal((await call('GET', `/cases/${randomUUID()}`)).status, 404);
  });
});

describe('the response to GET that a Work item keeps', () => {
  it('keeps no memory but its own', async (t) => {
    const { running, item } = await withCase(t);
    const kept = itemOf(running.service.store, item.id);
    assert.ok(kept !== undefined);
    const { body } = answerOf(kept);
    assert.equal(body.buffer.byteLength, body.byteLength);
    assert.equal(JSON.parse(body.toString()).id, item.id);
  });
});
