import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EditorClient } from '../../../../lib/code/language-server/client.ts';
import { readEnvelope } from '../../../../lib/code/language-server/json-rpc.ts';
import { createServerRequests } from '../../../../lib/code/language-server/requests.ts';

const editor = (isEditor = true): EditorClient => ({
  isEditor,
  deliver: () => true,
  resume: () => undefined,
  end: () => undefined,
});

const bytes = (message: object): Buffer => Buffer.from(JSON.stringify(message));
const QUESTION = bytes({ jsonrpc: '2.0', id: 7, method: 'workspace/configuration', params: {} });
const ANSWER = bytes({ jsonrpc: '2.0', id: 7, result: [] });

const start = () => {
  const written: string[] = [];
  const serverRequests = createServerRequests(60_000, (answer) => written.push(answer.toString()));
  return {
    written,
    give: (...clients: EditorClient[]) =>
      serverRequests.forward(QUESTION, readEnvelope(QUESTION), clients),
    answered: (client: EditorClient, answer = ANSWER) =>
      serverRequests.handleAnswer(client, answer, readEnvelope(answer))?.toString(),
    forget: serverRequests.forget,
  };
};

describe('an pending of a language server', () => {
  it('is answered by the editor that was asked, and by no other', () => {
    const { give, answered } = start();
    const [asked, other] = [editor(), editor()];
    assert.deepEqual(give(asked, other), { to: asked });
    assert.equal(answered(other), undefined);
    assert.equal(answered(asked, bytes({ jsonrpc: '2.0', id: 8, result: [] })), undefined);
    assert.equal(answered(asked), ANSWER.toString());
  });

  it('is answered once', () => {
    const { give, answered, forget } = start();
    const asked = editor();
    give(asked);
    assert.equal(answered(asked), ANSWER.toString());
    assert.equal(answered(asked), undefined);
    assert.deepEqual(forget(asked), []);
  });

  it('is answered here where the editor does not do it', () => {
    const { give, answered } = start();
    const asked = editor();
    give(asked);
    const error = { code: -32_601, message: 'Method not implemented' };
    const answer = answered(asked, bytes({ jsonrpc: '2.0', id: 7, error }));
    assert.deepEqual(JSON.parse(answer ?? ''), { jsonrpc: '2.0', id: 7, result: [] });
  });

  it('goes past who is no editor, and is answered here where nobody is', () => {
    const { give } = start();
    const [reader, asked] = [editor(false), editor()];
    assert.deepEqual(give(reader, asked), { to: asked });
    const given = give(reader);
    assert.ok('answer' in given);
    assert.deepEqual(JSON.parse(given.answer.toString()), { jsonrpc: '2.0', id: 7, result: [] });
  });

  it('is answered here when who was asked goes, whose late answer is taken no more', () => {
    const { give, answered, forget } = start();
    const [asked, other] = [editor(), editor()];
    give(asked);
    assert.deepEqual(forget(other), []);
    const [answer] = forget(asked).map((each) => JSON.parse(each.toString()));
    assert.deepEqual(answer, { jsonrpc: '2.0', id: 7, result: [] });
    assert.equal(answered(asked), undefined);
  });
});
