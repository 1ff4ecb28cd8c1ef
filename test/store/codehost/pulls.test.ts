import assert from 'node:assert/strict';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  changePull,
  readPull,
  readPullDraft,
  savePull,
  savePullDraft,
} from '../../../store/codehost/pulls.ts';
import {
  appendTimeline,
  type NewTransition,
  readTimeline,
} from '../../../store/codehost/timeline.ts';
import type { PullMatter } from '../../../store/records/pull-request.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { withCase } from '../../helpers/work-item.ts';

const MATTER: PullMatter = {
  host: 'github.com',
  repository: 'acme/app',
  number: 7,
  title: 'Round half up',
  state: 'draft',
  head_ref: 'work/tax',
  base_ref: 'main',
  labels: ['bug'],
  head_in_sync: true,
};

const BODY = 'Tax was off.\r\n\r\n---\r\nstate: merged\r\n';

const withStore = async (t: TestContext) => {
  const work = await withCase(t);
  const { store } = work.running.service;
  return { ...work, store, id: work.item.id };
};

describe('savePull', () => {
  it('keeps the body byte for byte, and what an operator added', async (t) => {
    const { store, id, read, write } = await withStore(t);
    const made = await savePull(store, id, { matter: MATTER, body: BODY });
    assert.deepEqual([made?.matter, made?.body], [MATTER, BODY]);
    write('pr/pr.md', read('pr/pr.md').replace('number: 7', 'number: 7 # ours\nmood: good'));
    await savePull(store, id, { matter: { ...MATTER, state: 'open' }, body: 'Other\n' });
    const text = read('pr/pr.md');
    assert.match(text, /^number: 7 # ours\nmood: good$/m);
    assert.match(text, /^state: open$/m);
    assert.equal(readPull(store, id)?.body, 'Other\n');
  });

  it('keeps the record of another pull request apart', async (t) => {
    const { store, id, dir, read } = await withStore(t);
    await savePull(store, id, { matter: { ...MATTER, notes: 'mine' }, body: BODY });
    const before = read('pr/pr.md');
    await savePull(store, id, { matter: { ...MATTER, number: 8 }, body: '' });
    assert.deepEqual(readPull(store, id)?.matter, { ...MATTER, number: 8 });
    const [name = ''] = readdirSync(join(dir, 'pr/former'));
    assert.match(name, /^7-/);
    assert.equal(read(`pr/former/${name}`), before);
  });

  it('writes nothing into a record that cannot be read, nor through a link', async (t) => {
    const { store, id, read, write } = await withStore(t);
    write('pr/pr.md', '---\nnumber: seven\n---\n');
    await assert.rejects(savePull(store, id, { matter: MATTER, body: '' }), {
      code: 'unreadable_record',
      message: /pr\/pr\.md:\d+:\d+: .*Fix it in an editor/,
    });
    assert.equal(read('pr/pr.md'), '---\nnumber: seven\n---\n');
    const other = await withStore(t);
    const outside = temporaryDirectory(t);
    symlinkSync(outside, join(other.dir, 'pr'));
    await assert.rejects(savePull(other.store, other.id, { matter: MATTER, body: '' }), {
      code: 'unsafe_path',
    });
    assert.deepEqual(readdirSync(outside), []);
  });
});

describe('changePull', () => {
  it('refuses a change to what somebody edited since, and changes nothing then', async (t) => {
    const { store, id, read, write } = await withStore(t);
    const made = await savePull(store, id, { matter: MATTER, body: BODY });
    write('pr/pr.md', read('pr/pr.md').replace('Round half up', 'By hand'));
    const change = { changes: { title: 'By the API' } };
    await assert.rejects(changePull(store, id, change, made?.etag), {
      code: 'precondition_failed',
    });
    assert.equal(readPull(store, id)?.matter.title, 'By hand');
    assert.equal((await changePull(store, id, change))?.matter.title, 'By the API');
  });

  it('answers undefined where there is no record', async (t) => {
    const { store, id } = await withStore(t);
    assert.equal(await changePull(store, id, { changes: { title: 'x' } }), undefined);
  });
});

describe('savePullDraft', () => {
  it('writes the draft and writes it anew', async (t) => {
    const { store, id } = await withStore(t);
    assert.equal(readPullDraft(store, id), undefined);
    await savePullDraft(store, id, { matter: { title: 'One', labels: [] }, body: 'first\n' });
    await savePullDraft(store, id, { matter: { title: 'Two' }, body: 'second' });
    const kept = readPullDraft(store, id);
    assert.deepEqual([kept?.matter.title, kept?.body], ['Two', 'second']);
  });
});

const transition = (over: Partial<NewTransition> = {}): NewTransition => ({
  number: 7,
  event: 'opened',
  from: 'none',
  to: 'draft',
  occurred_at: '2026-01-01T00:00:00.000Z',
  observed_at: '2026-01-01T00:00:01.000Z',
  source: 'service',
  actor: 'me',
  head_sha: null,
  host_event_id: 'opened:7',
  ...over,
});

const READY = { event: 'ready', from: 'draft', to: 'open', host_event_id: 'R_1' } as const;

describe('appendTimeline', () => {
  it('adds each event of the host once, whoever tells it', async (t) => {
    const { store, id } = await withStore(t);
    await appendTimeline(store, id, () => [transition()]);
    const twice = [transition({ source: 'sync' }), transition(READY), transition(READY)];
    const added = await Promise.all([
      appendTimeline(store, id, () => twice),
      appendTimeline(store, id, () => [transition({ ...READY, source: 'webhook' })]),
    ]);
    assert.deepEqual(added.map((each) => each?.length).toSorted(), [0, 1]);
    assert.deepEqual(
      readTimeline(store, id).map(({ seq, event }) => `${seq} ${event}`),
      ['1 opened', '2 ready'],
    );
  });

  it('mends a last line that was torn, and leaves a broken one where it is', async (t) => {
    const { store, id, read, write } = await withStore(t);
    await appendTimeline(store, id, () => [transition()]);
    const whole = read('pr/timeline.ndjson');
    write('pr/timeline.ndjson', `${whole}by hand\n${whole.slice(0, 20)}`);
    await appendTimeline(store, id, () => [transition(READY)]);
    const lines = read('pr/timeline.ndjson').split('\n');
    assert.deepEqual(lines.slice(0, 2), [whole.trimEnd(), 'by hand']);
    assert.deepEqual(
      readTimeline(store, id).map(({ seq }) => seq),
      [1, 2],
    );
    assert.equal(lines.length, 4);
  });

  it('gives a last line its end back', async (t) => {
    const { store, id, read, write } = await withStore(t);
    await appendTimeline(store, id, () => [transition()]);
    write('pr/timeline.ndjson', read('pr/timeline.ndjson').trimEnd());
    await appendTimeline(store, id, () => [transition(READY)]);
    assert.equal(readTimeline(store, id).length, 2);
  });

  it('writes nothing when there is nothing new', async (t) => {
    const { store, id, dir } = await withStore(t);
    assert.deepEqual(await appendTimeline(store, id, () => []), []);
    assert.deepEqual(
      readdirSync(dir).filter((name) => name === 'pr'),
      [],
    );
  });
});

describe('GET /api/diagnostics', () => {
  it('names each file of pr/ that cannot be read, with its place', async (t) => {
    const { call, write, item } = await withStore(t);
    write('pr/pr.md', '---\nnumber: 1\n---\n');
    write('pr/draft.md', 'no front matter');
    write('pr/timeline.ndjson', 'not a line\n');
    type Told = { file: string; code: string; line: number }[];
    const told = await call<Told>('GET', '/api/diagnostics');
    assert.deepEqual(
      told.body.map(({ file, code, line }) => [file, code, line]),
      [
        [`${item.path}/pr/draft.md`, 'no_front_matter', 1],
        [`${item.path}/pr/pr.md`, 'not_a_record', 2],
        [`${item.path}/pr/timeline.ndjson`, 'bad_line', 1],
      ],
    );
  });
});
