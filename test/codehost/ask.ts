import assert from 'node:assert/strict';
import type { CodeHost } from './code-host.ts';

interface Given {
  body?: unknown;
  headers?: Record<string, string>;
  /** The operator's if nothing is said; none with null. */
  token?: string | null;
}

/** Asks the host as a client would that trusts nothing, and follows nothing. */
export const ask = async (
  host: Pick<CodeHost, 'url' | 'token'>,
  method: string,
  path: string,
  { body, headers = {}, token = host.token }: Given = {},
) => {
  const response = await fetch(`${host.url}${path}`, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
};

/** `{ data, errors }`, which GitHub answers with 200 whatever is wrong. */
export const askGraphql = async (host: CodeHost, query: string, variables = {}) => {
  const { status, body } = await ask(host, 'POST', '/graphql', { body: { query, variables } });
  assert.equal(status, 200);
  return body;
};
