/** Files of a worktree after a write failed, or was interrupted: whatever a client does next works. */
import assert from 'node:assert/strict';
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { EditorFile } from '../../store/records/editor.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { inject } from '../helpers/faults.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { assertProblem, type WithCase, withCase } from '../helpers/work-item.ts';

interface Editing extends WithCase {
  root: string;
}

const BEFORE = '# Sample\n';
const PATH = 'docs/README.md';

const start = async (t: TestContext): Promise<Editing> => {
  const work = await withCase(t, {}, { files: { [PATH]: BEFORE } });
  const { body } = await work.call<Worktree>('POST', '/api/worktrees', { case_id: work.item.id });
  return { ...work, root: body.path };
};

const fileAt = ({ at }: WithCase, path: string): string => `${at}/editor/files?path=${path}`;

const undoOf = ({ running }: WithCase): string => join(running.workspace, '.dossier/undo');

const keptIn = (work: WithCase): string[] =>
  readdirSync(undoOf(work), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));

/** Reads, writes, lists, renames, deletes and makes the same file: what it holds is one of these texts. */
const useIt = async (work: Editing, path: string, ...texts: string[]): Promise<void> => {
  const { call, at } = work;
  const read = await call<EditorFile>('GET', fileAt(work, path));
  assert.equal(read.status, 200, read.text);
  assert.ok(texts.includes(read.body.content), read.body.content);
  const headers = { 'if-match': String(read.headers.etag) };
  const put = await call('PUT', fileAt(work, path), { content: 'next\n' }, headers);
  assert.equal(put.status, 200, put.text);
  const listed = await call('GET', `${at}/editor/directories?path=docs`);
  assert.match(listed.text, new RegExp(`"path":"${path}","kind":"file"`));
  const moved = await call('POST', `${at}/editor/rename`, { from: path, to: 'docs/moved.md' });
  assert.equal(moved.status, 200, moved.text);
  assert.equal((await call('DELETE', fileAt(work, 'docs/moved.md'))).status, 204);
  const again = await call('POST', `${at}/editor/files`, { path, content: 'again\n' });
  assert.equal(again.status, 201, again.text);
  assert.equal(readFileSync(join(work.root, path), 'utf8'), 'again\n');
};

describe('a file of the editor whose write failed', () => {
  const FAULTS: readonly (readonly string[])[] = [
    ['rename:error=EIO'],
    ['rename:error=EROFS', 'unlink:error=EROFS'],
    ['fsync:error=EIO'],
    ['link:error=EIO'],
  ];
  for (const faults of FAULTS)
    it(`is as it was or as it was to be, and can be used (${faults.join(' ')})`, async (t) => {
      const work = await start(t);
      const failing = await inject(t, process.pid, ...faults);
      if (failing === undefined) return;
      const answer = await work.call('PUT', fileAt(work, PATH), { content: 'new\n' });
      const read = await work.call('GET', fileAt(work, PATH));
      await failing.end();
      assert.equal(answer.status, 503, answer.text);
      assert.equal(read.status, 200, 'it can be read while the disk fails, too');
      await useIt(work, PATH, BEFORE, 'new\n');
    });

  it('leaves no second name of it in .dossier/undo', async (t) => {
    const work = await start(t);
    const failing = await inject(t, process.pid, 'rename:error=EIO');
    if (failing === undefined) return;
    await work.call('PUT', fileAt(work, PATH), { content: 'new\n' });
    await failing.end();
    assert.equal(lstatSync(join(work.root, PATH)).nlink, 1);
    assert.deepEqual(keptIn(work), []);
  });

  it('can be used where making it failed', async (t) => {
    const work = await start(t);
    const failing = await inject(t, process.pid, 'unlink:error=EIO');
    if (failing === undefined) return;
    const body = { path: 'docs/new.md', content: 'new\n' };
    const answer = await work.call('POST', `${work.at}/editor/files`, body);
    await failing.end();
    assert.equal(answer.status, 503, answer.text);
    assert.equal(lstatSync(join(work.root, 'docs/new.md')).nlink, 2, 'its temporary name is left');
    await useIt(work, 'docs/new.md', 'new\n');
  });
});

describe('a hard link', () => {
  /** What a power cut between the link and the rename leaves, and what earlier versions left. */
  const interrupted = (work: Editing, name = '1795000000000-0a1b2c3d-README.md'): void => {
    const day = join(undoOf(work), '2026-11-21');
    mkdirSync(day, { recursive: true });
    linkSync(join(work.root, PATH), join(day, name));
  };

  it('that an interrupted write left is no obstacle, also after two, and after a rename', async (t) => {
    const work = await start(t);
    interrupted(work);
    interrupted(work, '1795000000001-0a1b2c3d-README.md');
    const body = { from: PATH, to: 'docs/other.md' };
    const moved = await work.call('POST', `${work.at}/editor/rename`, body);
    assert.equal(moved.status, 200, moved.text);
    await useIt(work, 'docs/other.md', BEFORE);
  });

  it('that somebody else made is refused beside one of ours', async (t) => {
    const work = await start(t);
    interrupted(work);
    linkSync(join(work.root, PATH), join(temporaryDirectory(t), 'elsewhere'));
    for (const answer of [
      await work.call('GET', fileAt(work, PATH)),
      await work.call('PUT', fileAt(work, PATH), { content: 'x' }),
    ])
      assert.match(assertProblem(answer, 400, 'bad_request').detail, /has other hard links/);
    assert.equal(readFileSync(join(work.root, PATH), 'utf8'), BEFORE);
  });

  it('is refused where only its names look like ours', async (t) => {
    const work = await start(t);
    const outside = temporaryDirectory(t);
    writeFiles(outside, { secret: 'SECRET' });
    const place = join(work.root, 'docs');
    linkSync(join(outside, 'secret'), join(place, 'planted.md'));
    const hidden = '.dossier-01234567-89ab-4cde-8f01-23456789abcd.tmp';
    linkSync(join(outside, 'secret'), join(place, hidden));
    const secret = join(work.running.workspace, '.dossier/secrets/planted');
    writeFiles(join(work.running.workspace, '.dossier/secrets'), { planted: 'SECRET' });
    linkSync(secret, join(place, 'other.md'));
    for (const name of ['planted.md', 'other.md']) {
      const answer = await work.call('GET', fileAt(work, `docs/${name}`));
      assertProblem(answer, 400, 'bad_request');
      assert.doesNotMatch(answer.text, /SECRET/);
    }
  });
});
