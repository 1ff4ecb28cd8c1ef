/** What an issue shows and leads to reaches the agent, read by the daemon from the code host. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { type CodeHost, startCodeHost } from '../codehost/code-host.ts';
import { atEnd } from '../helpers/at-end.ts';
import { eventually } from '../helpers/eventually.ts';
import { newestSession, type Running, startForTest } from '../helpers/service.ts';
import { type StreamEvent, withAgent } from '../helpers/sessions.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const AT = '/user-attachments/assets/';
const address = (name: string): string => `https://github.com${AT}${name}`;

interface Planned {
  host: CodeHost;
  running: Running;
  item: Case;
  id: string;
  /** What it was given besides words, and the words. */
  blocks: Record<string, unknown>[];
  prompt: string;
  events(): Promise<StreamEvent[]>;
  until(status: string): Promise<Session>;
}

/** A session on an imported issue with this body, as soon as its plan is there. */
const planned = async (
  t: TestContext,
  body: string | ((host: CodeHost) => string),
  { behaviour = 'blocks', link = (text: string) => text } = {},
): Promise<Planned> => {
  const host = await startCodeHost(t, { private: true });
  const agent = withAgent(t, behaviour);
  const running = await startForTest(t, {
    ...agent,
    settings: `${agent.settings}\ncodehost: {repository: acme/app}`,
    env: { ...agent.env, GITHUB_API_URL: host.url, GH_TOKEN: host.token },
  });
  const { number } = await host.issues.add({ body: typeof body === 'string' ? body : body(host) });
  const made = await running.call<Case>('POST', '/api/codehost/issues/import-case', { number });
  assert.equal(made.status, 201, made.text);
  const file = join(running.workspace, made.body.path, 'link.md');
  writeFileSync(file, link(readFileSync(file, 'utf8')));
  const at = `/cases/${made.body.id}/sessions`;
  const { id } = (await running.call<Session>('POST', at, { type: 'implementing' })).body;
  const until: Planned['until'] = (status) =>
    eventually(async () => {
      const session = (await running.call<Session>('GET', `${at}/${id}`)).body;
      assert.equal(session.status, status, session.error ?? '');
      return session;
    });
  await until('plan_ready');
  const events: Planned['events'] = async () =>
    (await running.call<StreamEvent[]>('GET', `${at}/${id}/stream`, undefined, JSON_ONLY)).body;
  const said = (await events())
    .filter(({ event }) => event === 'message')
    .map(({ data }) => data.text);
  const [blocks = '[]', ...words] = said.join('').split('\n');
  return {
    ...{ host, running, item: made.body, id, events, until },
    ...{ blocks: JSON.parse(blocks), prompt: words.join('\n') },
  };
};

const JSON_ONLY = { accept: 'application/json' };

const asked = ({ host }: Planned, path: string) =>
  host.requests.filter((request) => request.path === path);

const missing = async (test: Planned): Promise<string[]> =>
  (await test.events())
    .filter(({ data }) => data.kind === 'image_not_loaded')
    .map(({ data }) => Object.values(data.raw as object).join(': '));

describe('the images of an imported issue', () => {
  it('are read once with the token, kept as files, given to the agent, and named in session.md', async (t) => {
    const test = await planned(t, (host) => {
      host.attach(`${AT}one`, { location: '/signed/one?key=secret', private: true });
      host.attach('/signed/one', { body: PNG });
      return `It looks so:\n\n<img width="10" alt="shot" src="${address('one')}" />\n\n![again](${address('one')})`;
    });
    const { running, item, id } = test;
    const dir = join(running.workspace, item.path, 'images');
    const [name = '', ...others] = readdirSync(dir);
    assert.deepEqual(others, []);
    assert.deepEqual(readFileSync(join(dir, name)), PNG);
    const uri = `file://${join(dir, name)}`;
    assert.deepEqual(test.blocks, [
      { type: 'image', mimeType: 'image/png', uri, bytes: PNG.length },
    ]);
    assert.ok(test.prompt.includes(`${join(dir, name)} (image/png), from ${address('one')}`));
    assert.deepEqual(
      asked(test, `${AT}one`).map(({ login }) => login),
      ['operator'],
    );
    assert.deepEqual(
      asked(test, '/signed/one').map(({ anonymous }) => anonymous),
      [true],
    );

    await running.call('POST', `/cases/${item.id}/sessions/${id}/approve`);
    await test.until('completed');
    // The conversation goes on, and has seen it.
    const said = (await test.events()).filter(({ event }) => event === 'message');
    assert.match(String(said.at(-1)?.data.text), /^\[\]\n/);
    assert.equal(asked(test, `${AT}one`).length, 1);
    const record = readFileSync(join(newestSession(running, item), 'session.md'), 'utf8');
    assert.ok(record.includes(`Images: [${name}](../../images/${name})`), record);
  });

  it('are links to the files for an agent that takes none', async (t) => {
    const test = await planned(
      t,
      (host) => {
        host.attach(`${AT}one`, { body: PNG });
        return `![](${address('one')})`;
      },
      { behaviour: 'blocks-blind' },
    );
    const [{ type, mimeType, uri } = {}] = test.blocks;
    assert.deepEqual([type, mimeType], ['resource_link', 'image/png']);
    assert.deepEqual(readFileSync(new URL(String(uri))), PNG);
  });

  it('that cannot be had are told, to the agent too, and hold nothing up', async (t) => {
    const other = createServer((_request, response) => void response.end(PNG));
    let met = 0;
    other.on('connection', () => {
      met += 1;
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    atEnd(t, () => void other.close());
    const inside = `http://127.0.0.1:${(other.address() as AddressInfo).port}/x.png`;
    const test = await planned(t, (host) => {
      host.attach(`${AT}svg`, { body: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') });
      host.attach(`${AT}large`, { body: Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]) });
      host.attach(`${AT}away`, { location: inside });
      host.attach(`${AT}cloud`, { location: 'https://169.254.169.254/latest' });
      host.attach(`${AT}round`, { location: `${AT}round` });
      const names = ['svg', 'large', 'away', 'cloud', 'round'];
      const urls = [
        ...names.map(address),
        'https://evil.example/x.png',
        inside,
        'file:///etc/passwd',
      ];
      return urls.map((url) => `![](${url})`).join('\n');
    });
    const elsewhere = 'it is not on a server of the code host';
    assert.deepEqual((await missing(test)).toSorted(), [
      `https://evil.example/x.png: ${elsewhere}`,
      `${address('away')}: ${elsewhere}`,
      `${address('cloud')}: ${elsewhere}`,
      `${address('large')}: it is larger than 5 MB`,
      `${address('round')}: ${elsewhere}`,
      `${address('svg')}: it is not a PNG, JPEG, GIF or WebP`,
    ]);
    assert.ok(test.prompt.includes(`not downloaded: ${address('large')}: it is larger than 5 MB`));
    assert.deepEqual(test.blocks, []);
    assert.equal(met, 0);
    assert.equal(existsSync(join(test.running.workspace, test.item.path, 'images')), false);
  });

  it('are not read from a host that link.md alone names', async (t) => {
    const url = 'https://evil.example/user-attachments/assets/one';
    const link = (text: string): string => text.replace('host: github.com', 'host: evil.example');
    const test = await planned(t, `![](${url})`, { link });
    assert.deepEqual(await missing(test), [
      `${url}: evil.example is not the code host of its project`,
    ]);
  });

  it('are ten at most', async (t) => {
    const names = Array.from({ length: 11 }, (_, at) => `n${at}`);
    const test = await planned(t, (host) => {
      for (const name of names) host.attach(`${AT}${name}`, { body: PNG });
      return names.map((name) => `![](${address(name)})`).join('\n');
    });
    assert.equal(test.blocks.length, 10);
    assert.deepEqual(await missing(test), [`${address('n10')}: only the first 10 are read`]);
  });
});

describe('the links of an imported issue', () => {
  it('reach the agent as whole addresses, each once', async (t) => {
    const body =
      'As in #3, other/lib#4 and [the docs](https://docs.example/a), see https://docs.example/a.';
    const { prompt } = await planned(t, body);
    const [, linked] = prompt.split('## Links in the issue');
    assert.deepEqual(linked?.match(/https:\S+/g), [
      'https://docs.example/a',
      'https://github.com/acme/app/issues/3',
      'https://github.com/other/lib/issues/4',
    ]);
  });
});
