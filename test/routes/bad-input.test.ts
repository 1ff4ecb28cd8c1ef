import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import { assertProblem, fingerprint, type WithCase, withCase } from '../helpers/work-item.ts';

interface Bad {
  /** After `/cases/:id`, or from the root with two slashes: `//cases`. */
  to: string;
  /** Sent as JSON; a Buffer is sent as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  status?: number;
  code?: string;
  /** What `errors` names. */
  names?: string[];
}

/** A workspace with something in each place that could be changed. One for all: what is refused changes nothing. */
const populate = async (): Promise<WithCase> => {
  const work = await withCase(file, { description: 'A description.' });
  const { call, at } = work;
  await call('POST', `${at}/proof`, { type: 'log', content: 'ok' });
  await call('POST', `${at}/proof/checklist`, { description: 'd', type: 'log', required: true });
  await call('PUT', `${at}/memory/notes.md`, 'notes');
  return work;
};

const endings: (() => unknown)[] = [];
const file = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;
after(async () => {
  for (const end of endings) await end();
});

let populated: Promise<WithCase> | undefined;
const shared = (): Promise<WithCase> => {
  populated ??= populate();
  return populated;
};

const refuse = async (work: WithCase, method: string, bad: Bad): Promise<void> => {
  const { call, at, running, events } = work;
  const path = bad.to.startsWith('//') ? bad.to.slice(1) : at + bad.to;
  const before = fingerprint(running.workspace);
  const told = events.length;
  const sent = Buffer.isBuffer(bad.body) ? bad.body.toString('latin1') : bad.body;
  const json = Buffer.isBuffer(bad.body) ? { 'content-type': 'application/json' } : {};
  const answer = await call(method, path, sent, { ...json, ...bad.headers });
  assertProblem(answer, bad.status ?? 400, bad.code ?? 'bad_request', ...(bad.names ?? []));
  assert.deepEqual(fingerprint(running.workspace), before, 'nothing changed on disk');
  assert.equal(events.length, told, 'nothing was told');
};

const table = (method: string, rows: Record<string, Bad>): void => {
  for (const [name, bad] of Object.entries(rows))
    it(`${method} ${bad.to.replace('//', '/')}: ${name}`, async () => {
      await refuse(await shared(), method, bad);
    });
};

const raw = (text: string): Buffer => Buffer.from(text, 'utf8');
const item = { title: 'T', type: 'bug' };
const proof = { type: 'log', content: 'c' };
const entry = { description: 'd', type: 'log', required: true };
const MERGE = 'a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> branch\nd\n';

describe('a body that is no JSON object', () => {
  const cases: Record<string, Omit<Bad, 'to'>> = {
    'is missing': {},
    'is empty': { body: raw('') },
    'is not JSON': { body: raw('{"title": "T", type: bug}') },
    'is cut off': { body: raw('{"title": "T"') },
    'is followed by something': { body: raw('{"title":"T","type":"bug"} {}') },
    'is a string': { body: raw('"title"') },
    'is a list': { body: [] },
    'is null': { body: raw('null') },
    'is a number': { body: raw('7') },
    'is not UTF-8': { body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
    'has a byte-order mark': { body: raw('\uFEFF{"title":"T","type":"bug"}') },
  };
  for (const to of ['//cases', '/proof', '/proof/checklist'])
    table(
      'POST',
      Object.fromEntries(Object.entries(cases).map(([name, bad]) => [name, { ...bad, to }])),
    );
  for (const to of ['', '/state'])
    table(
      'PUT',
      Object.fromEntries(Object.entries(cases).map(([name, bad]) => [name, { ...bad, to }])),
    );
});

describe('a content type that is not read', () => {
  const text = { status: 415, code: 'unsupported_media_type' } as const;
  const typed = (type: string): Bad => ({
    to: '//cases',
    body: item,
    headers: { 'content-type': type },
    ...text,
  });
  table('POST', {
    'form data': typed('application/x-www-form-urlencoded'),
    'plain text': typed('text/plain'),
    Markdown: typed('text/markdown'),
    'another charset': typed('application/json; charset=latin1'),
    'a multipart form': typed('multipart/form-data; boundary=x'),
    nothing: typed(''),
    'a compressed body': { ...typed('application/json'), headers: { 'content-encoding': 'gzip' } },
  });
  table('PUT', {
    'JSON for a memory file': { to: '/memory/notes.md', body: { content: 'x' }, ...text },
  });
});

describe('a body that is too large', () => {
  const big = { status: 413, code: 'too_large' } as const;
  table('POST', {
    'a description in a body over 1 MiB': {
      to: '//cases',
      body: { ...item, description: 'x'.repeat(1_048_576) },
      ...big,
    },
    'a proof in a body over 6 MiB and 64 KiB': {
      to: '/proof',
      body: { ...proof, content: 'x'.repeat(6 * 1_048_576 + 65_536) },
      ...big,
    },
    'a proof of 1 MiB and a byte': {
      to: '/proof',
      body: { ...proof, content: `é${'x'.repeat(1_048_575)}` },
      names: ['/content'],
      ...big,
    },
    'a proof of more characters': {
      to: '/proof',
      body: { ...proof, content: 'x'.repeat(1_048_577) },
      names: ['/content'],
    },
  });
  table('PUT', {
    'a memory file over 1 MiB': { to: '/memory/notes.md', body: 'x'.repeat(1_048_577), ...big },
    'a description over 256 Ki characters': {
      to: '',
      body: { description: 'x'.repeat(262_145) },
      names: ['/description'],
    },
  });
});

describe('a field that no schema names', () => {
  table('POST', {
    'in a Work item': { to: '//cases', body: { ...item, state: 'RESOLVED' }, names: ['/state'] },
    'an id of their own': { to: '//cases', body: { ...item, id: randomUUID() }, names: ['/id'] },
    'a prototype': {
      to: '//cases',
      body: raw('{"title":"T","type":"bug","__proto__":{"x":1}}'),
      names: ['/__proto__'],
    },
    'in a proof': { to: '/proof', body: { ...proof, verified: true }, names: ['/verified'] },
    'in the checklist': {
      to: '/proof/checklist',
      body: { ...entry, satisfied: true },
      names: ['/satisfied'],
    },
  });
  table('PUT', {
    'the state by the way': { to: '', body: { title: 'T', state: 'RESOLVED' }, names: ['/state'] },
    'the project': { to: '', body: { project: 'site' }, names: ['/project'] },
    'beside a state': { to: '/state', body: { state: 'OPEN', force: true }, names: ['/force'] },
    'with verify': {
      to: '/proof/x/verify',
      body: { verified: true },
      status: 404,
      code: 'not_found',
    },
    'in the query': { to: '?force=true', body: { title: 'T' }, names: ['query/force'] },
  });
  table('DELETE', {
    'in the query': { to: '?forced=true', names: ['query/forced'] },
    'a flag that is no boolean': { to: '?force=yes', names: ['query/force'] },
  });
});

describe('a field of another type, or missing', () => {
  table('POST', {
    'no title': { to: '//cases', body: { type: 'bug' }, names: ['/title'] },
    'no type': { to: '//cases', body: { title: 'T' }, names: ['/type'] },
    nothing: { to: '//cases', body: {}, names: ['/title', '/type'] },
    'a title that is a number': { to: '//cases', body: { ...item, title: 7 }, names: ['/title'] },
    'a title that is null': { to: '//cases', body: { ...item, title: null }, names: ['/title'] },
    'a description that is a list': {
      to: '//cases',
      body: { ...item, description: ['a'] },
      names: ['/description'],
    },
    'an empty title': { to: '//cases', body: { ...item, title: '' }, names: ['/title'] },
    'a blank title': { to: '//cases', body: { ...item, title: ' \u00a0 ' }, names: ['/title'] },
    'a title of 201 characters': {
      to: '//cases',
      body: { ...item, title: 'x'.repeat(201) },
      names: ['/title'],
    },
    'a type with a capital': { to: '//cases', body: { ...item, type: 'Bug' }, names: ['/type'] },
    'a type that is a path': { to: '//cases', body: { ...item, type: '../x' }, names: ['/type'] },
    'a project that is nowhere': {
      to: '//cases',
      body: { ...item, project: 'nowhere' },
      names: ['/project'],
    },
    'a proof type that is a path': {
      to: '/proof',
      body: { ...proof, type: 'a/../../b' },
      names: ['/type'],
    },
    'a proof without content': { to: '/proof', body: { type: 'log' }, names: ['/content'] },
    'required that is a word': {
      to: '/proof/checklist',
      body: { ...entry, required: 'yes' },
      names: ['/required'],
    },
    'a checklist line of 1,001 characters': {
      to: '/proof/checklist',
      body: { ...entry, description: 'x'.repeat(1001) },
      names: ['/description'],
    },
  });
  table('PUT', {
    'nothing to change': { to: '', body: {} },
    'an unknown state': { to: '/state', body: { state: 'DONE' }, names: ['/state'] },
    'a state in small letters': { to: '/state', body: { state: 'open' }, names: ['/state'] },
    'no state': { to: '/state', body: { outcome: 'fixed' }, names: ['/state'] },
    'an outcome that is no word': {
      to: '/state',
      body: { state: 'RESOLVED', outcome: 'Fixed it' },
      names: ['/outcome'],
    },
    'an If-Match that is no list of tags': {
      to: '',
      body: { title: 'T' },
      headers: { 'if-match': '"a" "b"' },
    },
  });
});

describe('a text that could not be read back', () => {
  const texts: Record<string, string> = {
    'a NUL': 'a\0b',
    'half a surrogate pair': 'a\ud83d',
    'the other half': '\ude00b',
    'a merge left open': MERGE,
  };
  for (const [name, text] of Object.entries(texts)) {
    const line = text.replaceAll('\n', ' ');
    if (name !== 'a merge left open') {
      table('POST', {
        [`${name} in a title`]: {
          to: '//cases',
          body: { ...item, title: line },
          names: ['/title'],
        },
      });
      table('PUT', {
        [`${name} in a title`]: { to: '', body: { title: line }, names: ['/title'] },
      });
    }
    table('POST', {
      [`${name} in a description`]: {
        to: '//cases',
        body: { ...item, description: text },
        names: ['/description'],
      },
      [`${name} in a proof`]: {
        to: '/proof',
        body: { ...proof, content: text },
        names: ['/content'],
      },
      [`${name} in the checklist`]: {
        to: '/proof/checklist',
        body: { ...entry, description: text },
        names: ['/description'],
      },
    });
    table('PUT', {
      [`${name} in a description`]: {
        to: '',
        body: { description: text },
        names: ['/description'],
      },
    });
  }
});

describe('a command that no check runs', () => {
  for (const [name, command] of Object.entries({
    'a blank one': ' \n',
    'one with a NUL': 'npm\u0000 test',
    'one with half a surrogate pair': 'npm \ud800',
    'one with an invisible character': 'npm \u202etest',
  }))
    table('POST', {
      [`${name} in the checklist`]: {
        to: '/proof/checklist',
        body: { ...entry, command },
        names: ['/command'],
      },
      [`${name} in a run`]: { to: '/proof/run', body: { command }, names: ['/command'] },
    });
});

describe('a title that would not stay one line', () => {
  for (const [name, mark] of Object.entries({
    'a line feed': '\n',
    'a carriage return': '\r',
    'a tab': '\t',
    'a bell': '\u0007',
    'a vertical tab': '\u000b',
    'a form feed': '\f',
    'a next line': '\u0085',
    'a line separator': '\u2028',
    'a paragraph separator': '\u2029',
    'an escape': '\u001b[31m',
    'a delete': '\u007f',
  })) {
    table('POST', {
      [name]: { to: '//cases', body: { ...item, title: `a${mark}b` }, names: ['/title'] },
    });
    table('PUT', { [name]: { to: '', body: { title: `a${mark}b` }, names: ['/title'] } });
  }

  it('is refused at once, however long it is', async () => {
    const work = await shared();
    const title = `${'a'.repeat(1_000_000)}\n`;
    await refuse(work, 'POST', { to: '//cases', body: { ...item, title }, names: ['/title'] });
  });
});

describe('a file name with a trick', () => {
  const names = [
    '..%2Fcase.md',
    '%2e%2e%2fcase.md',
    '..%2F..%2F..%2F..%2Fetc%2Fpasswd',
    '..%5Ccase.md',
    '%2Fetc%2Fpasswd.md',
    '.hidden.md',
    '.md',
    '-rf.md',
    'notes',
    'notes.txt',
    'notes.MD',
    'notes.md%00',
    'notes.md%00.md',
    'notes%0A.md',
    'a%2Fb.md',
    'n%20o.md',
    'n%C3%B6.md',
    '~root.md',
    'notes.md~',
    `${'x'.repeat(126)}.md`,
  ];
  for (const name of names)
    it(`PUT and GET /memory/${name.slice(0, 40)} name the place`, async () => {
      const work = await shared();
      for (const method of ['PUT', 'GET'])
        await refuse(work, method, {
          to: `/memory/${name}`,
          ...(method === 'PUT' && { body: 'x' }),
          names: ['path/filename'],
        });
    });

  it('is another address, or none, where the URL itself is put right', async () => {
    const work = await shared();
    for (const to of [
      '/memory/../case.md',
      '/memory/%2e%2e/case.md',
      '/memory/a/b.md',
      '//cases/../etc/passwd',
    ])
      await refuse(work, 'PUT', { to, body: 'x', status: 404, code: 'route_not_found' });
    await refuse(work, 'PUT', { to: '/memory/%zz.md', body: 'x' });
    await refuse(work, 'PUT', { to: '/memory/%ff.md', body: 'x' });
  });

  it('may be 128 characters long', async () => {
    const { call, at } = await shared();
    assert.equal((await call('PUT', `${at}/memory/${'x'.repeat(125)}.md`, 'x')).status, 200);
  });
});

describe('an id that is no UUID', () => {
  const ids = [
    '7',
    'undefined',
    '..%2f..',
    '%00',
    'x'.repeat(3000),
    randomUUID().toUpperCase().replace(/./, 'g'),
  ];
  const gone = { status: 404, code: 'not_found' } as const;
  for (const id of ids) {
    const at = `//cases/${id}`;
    const name = id.slice(0, 12);
    table('GET', { [name]: { to: `${at}/proof/gate`, ...gone } });
    table('PUT', {
      [name]: { to: at, body: { title: 'T' }, ...gone },
      [`${name} of a state`]: { to: `${at}/state`, body: { state: 'OPEN' }, ...gone },
      [`${name} of a proof`]: { to: `/proof/${id}/verify`, ...gone },
      [`${name} of a memory file`]: { to: `${at}/memory/notes.md`, body: 'x', ...gone },
    });
    table('DELETE', { [name]: { to: at, ...gone } });
    table('POST', { [name]: { to: `${at}/proof`, body: proof, ...gone } });
  }
});

describe('a method or an address that does not exist', () => {
  const wrong = { status: 405, code: 'method_not_allowed' } as const;
  table('PATCH', { 'of a Work item': { to: '', body: { title: 'T' }, ...wrong } });
  table('DELETE', { 'of the list': { to: '//cases', ...wrong } });
  table('POST', {
    'of one Work item': { to: '', body: item, ...wrong },
    nowhere: { to: '/nowhere', body: item, status: 404, code: 'route_not_found' },
  });
});

describe('a text that only looks like trouble', () => {
  const TITLES = [
    'a: b',
    'a #b',
    '#x',
    '- y',
    '? z',
    '"',
    "it's",
    '"quoted"',
    "'single'",
    'true',
    'no',
    'null',
    '~',
    '012',
    '1e3',
    '0x1F',
    '1_000',
    '2026-01-02',
    '12:30:45',
    '.inf',
    '[a, b]',
    '{a: 1}',
    '*anchor',
    '&anchor x',
    '!tag x',
    '%directive',
    '@at',
    '`tick`',
    '|',
    '>',
    '---',
    '...',
    '<<: *x',
    'a\\nb',
    ' leading and trailing ',
    '👩‍👩‍👧 family 🏳️‍🌈',
    '日本語のタイトル',
    'مرحبا \u200f!',
    '../../etc/passwd',
    'x'.repeat(200),
    '😀'.repeat(100),
    'ends with a colon:',
    '__proto__',
  ];

  it('is a title like any other: it comes back as it was, now and after a restart', async (t) => {
    const { call, running } = await withCase(t);
    const made: [string, string][] = [];
    for (const title of TITLES) {
      const { status, body, text } = await call<Case>('POST', '/cases', { ...item, title });
      assert.equal(status, 201, `${title}: ${text}`);
      assert.match(body.path, /^cases\/\d{4}-\d{2}\/[a-z0-9][a-z0-9-]*-[0-9a-f]{8}$/);
      made.push([body.id, title]);
    }
    const check = async () => {
      for (const [id, title] of made) {
        const { body } = await call<Case>('GET', `/cases/${id}`);
        assert.deepEqual([body.title, body.problems], [title, undefined]);
      }
    };
    await check();
    await running.restart();
    await check();
    assert.deepEqual(running.events, []);
  });

  it('is judged at once, also a log of twenty thousand merges', async (t) => {
    const { call, at } = await withCase(t);
    const content = `\n>>>>>>> x\n${'<<<<<<< a\n'.repeat(20_000)}${'=======\n'.repeat(20_000)}`;
    const answer = await call<{ content: string }>('POST', `${at}/proof`, { type: 'log', content });
    assert.equal(answer.status, 201);
    assert.equal(answer.body.content, content);
  });

  it('is a title to change to, too', async (t) => {
    const { call, at } = await withCase(t);
    for (const title of TITLES) {
      const answer = await call<Case>('PUT', at, { title });
      assert.deepEqual([answer.status, answer.body.title], [200, title], answer.text);
    }
  });

  it('is a description: rules, front matter and code blocks stay text', async (t) => {
    const { call, at, running } = await withCase(t);
    for (const description of [
      '---',
      '---\n',
      '---\nstate: RESOLVED\n---\n',
      'a\n---\nb\n---\nc',
      '...\n',
      '```sh\n---\n```\n',
      '=======\n>>>>>>> x\n<<<<<<< y\n',
      '\u0007 bell \u001b[0m',
      '\u2028\u2029\u0085',
      '👩‍👩‍👧',
    ]) {
      assert.equal((await call('PUT', at, { description })).status, 200);
      const { body } = await call<Case>('GET', at);
      assert.deepEqual([body.description, body.state], [description, 'OPEN']);
    }
    await running.restart();
    assert.equal((await call<Case>('GET', at)).body.description, '👩‍👩‍👧');
  });
});
