import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../../store/check/check.ts';
import { allLinks, linkedTo } from '../../../store/codehost/link-index.ts';
import { changeLink, createLink, readLink } from '../../../store/codehost/links.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type Running, startForTest } from '../../helpers/service.ts';

interface Scene {
  running: Running;
  make(title: string): Promise<{ id: string; dir: string }>;
  write(dir: string, name: string, text: string): void;
  linked(repository?: string, number?: number): Promise<string[]>;
}

const scene = async (t: TestContext, watch = true): Promise<Scene> => {
  const running = await startForTest(t, { watch });
  return {
    running,
    make: async (title) => {
      const { body } = await running.call<{ id: string; path: string }>('POST', '/cases', {
        title,
        type: 'bug',
      });
      return { id: body.id, dir: body.path };
    },
    write: (dir, name, text) => {
      const path = join(running.workspace, dir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    linked: (repository = 'acme/app', number = 7) =>
      linkedTo(running.service.store, { host: 'github.com', repository, number }),
  };
};

const BY_HAND = '---\n# mine\nissue: {repository: Acme/App, number: 7} # see there\n---\nNotes\n';

const problems = async ({ running }: Scene): Promise<string[]> => {
  const { body } = await running.call<{ file: string; code: string }[]>('GET', '/api/diagnostics');
  const all = Array.isArray(body) ? body : (body as { problems: { code: string }[] }).problems;
  return all.map(({ code }) => code);
};

describe('linkedTo', () => {
  it('finds a link made by hand, moved with its Work item, edited and removed', async (t) => {
    const here = await scene(t);
    const { id, dir } = await here.make('One');
    assert.deepEqual(await here.linked(), []);
    here.write(dir, 'link.md', BY_HAND);
    await eventually(async () => assert.deepEqual(await here.linked(), [id]));
    mkdirSync(join(here.running.workspace, 'cases/elsewhere'), { recursive: true });
    renameSync(
      join(here.running.workspace, dir),
      join(here.running.workspace, 'cases/elsewhere/moved'),
    );
    here.write('cases/elsewhere/moved', 'link.md', BY_HAND.replace('7', '8'));
    await eventually(async () => assert.deepEqual(await here.linked('acme/app', 8), [id]));
    assert.deepEqual(await here.linked(), []);
    rmSync(join(here.running.workspace, 'cases/elsewhere/moved/link.md'));
    await eventually(async () => assert.deepEqual(await here.linked('acme/app', 8), []));
  });

  it('knows after a start what was linked while no daemon ran', async (t) => {
    const here = await scene(t, false);
    const { id, dir } = await here.make('One');
    here.write(dir, 'link.md', BY_HAND);
    await here.running.restart();
    assert.deepEqual(await here.linked(), [id]);
    assert.deepEqual([...(await allLinks(here.running.service.store)).keys()], [id]);
  });

  it('serves both of two that are linked to one issue, oldest first, and tells the second', async (t) => {
    const here = await scene(t);
    const [first, second] = [await here.make('One'), await here.make('Two')];
    here.write(second.dir, 'link.md', BY_HAND);
    here.write(first.dir, 'link.md', BY_HAND.replace('Acme/App', 'acme/app'));
    await eventually(async () =>
      assert.deepEqual([...(await here.linked())].toSorted(), [first.id, second.id].toSorted()),
    );
    const [, other] = await here.linked();
    assert.deepEqual(await problems(here), ['duplicate_link']);
    const { findings } = await checkWorkspace(here.running.service.store.layout, async () => []);
    const twin = findings.filter(({ code }) => code === 'duplicate_link');
    const dir = other === first.id ? first.dir : second.dir;
    assert.deepEqual(
      twin.map(({ file, severity }) => [file, severity]),
      [[`${dir}/link.md`, 'warning']],
    );
    rmSync(join(here.running.workspace, dir, 'link.md'));
    await eventually(async () => assert.deepEqual(await problems(here), []));
  });
});

describe('changeLink', () => {
  it('writes what it must and leaves every other byte', async (t) => {
    const here = await scene(t, false);
    const { store } = here.running.service;
    const { id, dir } = await here.make('One');
    const text = `---\r\n# mine\r\nissue:\r\n  number: 7 # seven\r\n  repository: acme/app\r\n  mine: 1\r\n---\r\nNotes`;
    here.write(dir, 'link.md', text);
    const line = 'went\nstale';
    assert.equal(await changeLink(store, id, () => ({ changes: { status: 'stale' }, line })), true);
    const after = readLink(store, id);
    assert.equal(after?.issue?.status, 'stale');
    const now = readFileSync(join(here.running.workspace, dir, 'link.md'), 'utf8');
    assert.match(
      now,
      /^---\r\n# mine\r\nissue:\r\n {2}number: 7 # seven\r\n {2}repository: acme\/app\r\n {2}mine: 1\r\n {2}status: stale\r\n---\r\nNotes\r\n- \S+ went stale\r\n$/,
    );
  });

  it('changes nothing where there is no link, and refuses one that cannot be read', async (t) => {
    const here = await scene(t, false);
    const { store } = here.running.service;
    const { id, dir } = await here.make('One');
    const change = () => changeLink(store, id, () => ({ changes: { status: 'stale' } }));
    assert.equal(await change(), false);
    here.write(dir, 'link.md', '---\nissue: {repository: acme, number: 7}\n---\n');
    await assert.rejects(change(), { code: 'unreadable_record' });
    assert.throws(() => readLink(store, id), { code: 'unreadable_record' });
    assert.deepEqual(await problems(here), ['not_a_record']);
    here.write(dir, 'issue.md', '---\ntitle: no more\n---\n');
    here.write(dir, 'syncs/2026-01-01T00-00-00Z-12345678.md', 'no front matter');
    assert.deepEqual((await problems(here)).toSorted(), [
      'no_front_matter',
      'not_a_record',
      'not_a_record',
    ]);
    const { findings } = await checkWorkspace(store.layout, async () => []);
    assert.deepEqual(
      findings.map(({ file }) => file.slice(dir.length + 1)),
      ['issue.md', 'link.md', 'syncs/2026-01-01T00-00-00Z-12345678.md'],
    );
  });
});

describe('createLink', () => {
  it('links a Work item that has no link, and never writes over one', async (t) => {
    const here = await scene(t, false);
    const { store } = here.running.service;
    const { id } = await here.make('One');
    const issue = { repository: 'acme/app', number: 7 };
    const make = () => createLink(store, id, { issue, at: store.clock().toISOString(), line: 'x' });
    assert.equal(await make(), true);
    assert.equal(await make(), false);
    assert.deepEqual(await here.linked(), [id]);
    assert.deepEqual(readLink(store, id)?.issue, issue);
  });
});
