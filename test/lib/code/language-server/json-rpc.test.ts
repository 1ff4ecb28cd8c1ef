import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDocuments } from '../../../../lib/code/language-server/documents.ts';
import {
  createFrameReader,
  headerOf,
  messageId,
  readEnvelope,
  withId,
} from '../../../../lib/code/language-server/json-rpc.ts';

const framed = (text: string): Buffer => {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from(headerOf(body)), body]);
};

const REFUSED =
  /^Error: (?:a header without|a message of 999|the message is not a JSON object|a key of the message)/;

describe('createFrameReader', () => {
  it('finds the messages whatever the borders of the chunks, in the middle of a letter too', () => {
    const messages = ['{"a":"é漢😀"}', '{}', `{"long":"${'x'.repeat(5000)}"}`];
    const bytes = Buffer.concat(messages.map(framed));
    for (const size of [1, 2, 3, 7, 100, bytes.length]) {
      const found: string[] = [];
      const read = createFrameReader((message) => found.push(message.toString()));
      for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
      assert.deepEqual(found, messages, `in chunks of ${size}`);
    }
  });

  it('takes further headers, and any case', () => {
    const found: string[] = [];
    const read = createFrameReader((message) => found.push(message.toString()));
    read(Buffer.from('Content-Type: x\r\ncontent-length: 2\r\n\r\n{}'));
    assert.deepEqual(found, ['{}']);
  });

  it('refuses what is no header, has no end, or announces too much', () => {
    for (const text of ['hello\r\n\r\n', 'x'.repeat(5000), 'Content-Length: 999\r\n\r\n'])
      assert.throws(() => createFrameReader(() => undefined, 100)(Buffer.from(text)), REFUSED);
  });
});

describe('readEnvelope', () => {
  const cases: [text: string, id: string, method: string | undefined][] = [
    ['{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"id":9}}', '7', 'a/b'],
    ['{"params":{"id":1,"method":"no"},"method":"yes","id":"a\\"b"}', '"a\\"b"', 'yes'],
    ['{"params":["}","\\\\",{"x":"\\"}"}],"method":"n"}', 'null', 'n'],
    [' { "id" : 3 , "result" : null } ', '3', undefined],
    ['{"id":null,"error":{}}', 'null', undefined],
    ['{}', 'null', undefined],
  ];
  for (const [text, id, method] of cases)
    it(`reads ${text}`, () => {
      const bytes = Buffer.from(text);
      const envelope = readEnvelope(bytes);
      assert.deepEqual([messageId(bytes, envelope), envelope.method], [id, method]);
      if (id === 'null') return;
      const other = JSON.parse(withId(bytes, envelope, '12').toString());
      assert.deepEqual(other, { ...JSON.parse(text), id: 12 });
    });

  it('refuses what is no object, and keys behind escapes', () => {
    for (const text of [
      '[]',
      '',
      'x',
      '{"id":1',
      '{"id":}',
      '{"a":1 "b":2}',
      '{"\\u0069d":1}',
      '{"a":"',
    ])
      assert.throws(() => readEnvelope(Buffer.from(text)), REFUSED, text);
  });
});

describe('createDocuments', () => {
  const uri = 'file:///a.ts';
  const open = (text: string) => ({ textDocument: { uri, version: 1, text } });
  const change = (...contentChanges: object[]) => ({
    textDocument: { uri, version: 2 },
    contentChanges,
  });
  const at = (line: number, character: number) => ({ line, character });
  const textOf = (tellings: { params: object }[]) =>
    (tellings[0]?.params as { contentChanges?: { text: string }[] } | undefined)
      ?.contentChanges?.[0]?.text;

  it('passes on what the only client of a file sends, word for word', () => {
    const documents = createDocuments<string>();
    assert.equal(documents.apply('a', 'textDocument/didOpen', open('x'))[0]?.asSent, true);
    assert.equal(
      documents.apply('a', 'textDocument/didChange', change({ text: 'y' }))[0]?.asSent,
      true,
    );
    assert.equal(documents.closeAll('a')[0]?.method, 'textDocument/didClose');
    assert.deepEqual(documents.closeAll('a'), []);
  });

  it('gives the server the version of the client that wrote last, and of the other when it goes', () => {
    const documents = createDocuments<string>();
    documents.apply('a', 'textDocument/didOpen', open('one\r\ntwo😀\nthree'));
    assert.equal(textOf(documents.apply('b', 'textDocument/didOpen', open('B'))), 'B');
    const range = { start: at(1, 5), end: at(2, 2) };
    const told = documents.apply('a', 'textDocument/didChange', change({ range, text: '-' }));
    assert.equal(textOf(told), 'one\r\ntwo😀-ree');
    assert.equal(textOf(documents.closeAll('a')), 'B');
  });
});
