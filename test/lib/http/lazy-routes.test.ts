import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { server } from '@hapi/hapi';
import { addRoutesLazily } from '../../../lib/http/lazy-routes.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';

const serve = (...paths: string[]) => {
  const hapi = server();
  const made: string[] = [];
  const add = addRoutesLazily(
    hapi,
    paths.map((path) => ({ path })),
    ({ path }) => {
      made.push(path);
      return { method: 'GET', path, handler: () => path };
    },
    0,
  );
  hapi.ext('onRequest', ({ path }, h) => {
    add(path);
    return h.continue;
  });
  const ask = async (url: string): Promise<string> => (await hapi.inject(url)).payload;
  return { hapi, ask, made };
};

describe('addRoutesLazily', () => {
  it('makes a route when its path is first asked for, once', async () => {
    const { ask, made } = serve('/a', '/b');
    assert.deepEqual(made, []);
    assert.equal(await ask('/b'), '/b');
    assert.equal(await ask('/b?again=1'), '/b');
    assert.deepEqual(made, ['/b']);
  });

  it('lets hapi decide which of two fits better, whichever was asked for first', async () => {
    const { ask } = serve('/cases/{id}', '/cases/search', '/cases/{id}/memory/{name}');
    assert.equal(await ask('/cases/1'), '/cases/{id}');
    assert.equal(await ask('/cases/search'), '/cases/search');
    assert.equal(await ask('/cases/1/memory/a.md'), '/cases/{id}/memory/{name}');
  });

  it('finds every kind of parameter', async () => {
    const { ask } = serve('/a/{rest*}', '/b/{id?}', '/c.{kind}');
    for (const url of ['/a', '/a/x/y']) assert.equal(await ask(url), '/a/{rest*}');
    for (const url of ['/b', '/b/1']) assert.equal(await ask(url), '/b/{id?}');
    assert.equal(await ask('/c.json'), '/c.{kind}');
  });

  it('makes the rest once the server has started', async (t) => {
    const { hapi, made } = serve('/a', '/b', '/c');
    atEnd(t, () => hapi.stop());
    await hapi.start();
    await eventually(() => assert.deepEqual(made.toSorted(), ['/a', '/b', '/c']));
  });

  it('leaves what is not there to hapi', async () => {
    const { ask, made } = serve('/a');
    assert.match(await ask('/nothing'), /Not Found/);
    assert.deepEqual(made, []);
  });
});
