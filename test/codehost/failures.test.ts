import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ask, askGraphql } from './ask.ts';
import { startCodeHost } from './code-host.ts';

const APP = '/repos/acme/app';

/** What each looks like on the wire, by what a client has to tell them apart. */
const ANSWERS = {
  'bad credentials': [401, 'x-github-request-id', /.+/],
  'proxy 401': [401, 'x-github-request-id', undefined],
  forbidden: [403, 'x-accepted-github-permissions', /pull_requests=write/],
  sso: [403, 'x-github-sso', /^required; url=https:/],
  'rate limit': [403, 'x-ratelimit-remaining', /^0$/],
  'rate limit 429': [429, 'x-ratelimit-remaining', /^0$/],
  'secondary limit': [403, 'retry-after', /^60$/],
  'secondary limit 429': [429, 'retry-after', /^60$/],
  'not found': [404, 'content-type', /json/],
  gone: [410, 'content-type', /json/],
  conflict: [409, 'content-type', /json/],
  rejected: [422, 'content-type', /json/],
  'drafts unsupported': [422, 'content-type', /json/],
  'server error': [500, 'content-type', /html/],
  'bad gateway': [502, 'content-type', /html/],
  unavailable: [503, 'content-type', /html/],
} as const;

describe('a failure that was planned', () => {
  it('has the status and the header that it is told by, once, and then all is well', async (t) => {
    const host = await startCodeHost(t);
    for (const [name, [wanted, header, pattern]] of Object.entries(ANSWERS)) {
      const planned = host.fail(name as keyof typeof ANSWERS, { path: APP });
      const { status, headers } = await ask(host, 'GET', APP);
      assert.equal(status, wanted, name);
      if (pattern === undefined) assert.equal(headers.get(header), null, name);
      else assert.match(headers.get(header) ?? '', pattern, name);
      assert.equal(planned.hits, 1);
      assert.equal((await ask(host, 'GET', APP)).status, 200, name);
    }
  });

  it('is an error of GraphQL with 200', async (t) => {
    const host = await startCodeHost(t);
    const types = {
      'graphql rate limit': 'RATE_LIMITED',
      'graphql forbidden': 'FORBIDDEN',
      'graphql not found': 'NOT_FOUND',
      'graphql sso': 'FORBIDDEN',
    } as const;
    for (const [name, type] of Object.entries(types)) {
      host.fail(name as keyof typeof types, { graphql: 'viewer' });
      const { data, errors } = await askGraphql(host, '{ viewer { login } }');
      assert.equal(data, null);
      assert.equal(errors[0].type, type);
    }
    assert.equal((await askGraphql(host, '{ viewer { login } }')).data.viewer.login, 'operator');
  });

  it('cuts the connection before a write, or after it took effect', async (t) => {
    const host = await startCodeHost(t);
    const { number } = await host.issues.add();
    const path = `${APP}/issues/${number}/comments`;
    const write = () => ask(host, 'POST', path, { body: { body: 'Hello.' } });
    host.fail('reset', { method: 'POST' });
    await assert.rejects(write());
    assert.equal((await host.issues.comments(number)).length, 0);
    host.fail('reset', { method: 'POST', when: 'after' });
    await assert.rejects(write());
    assert.equal((await host.issues.comments(number)).length, 1);
    host.fail('bad gateway', { method: 'POST', when: 'after' });
    assert.equal((await write()).status, 502);
    assert.equal((await host.issues.comments(number)).length, 2);
    assert.equal(host.writes().length, 3);
  });

  it('ends in the middle of an answer', async (t) => {
    const host = await startCodeHost(t);
    host.fail('truncated', { path: '/labels' });
    await assert.rejects(ask(host, 'GET', `${APP}/labels`));
    assert.equal((await ask(host, 'GET', `${APP}/labels`)).status, 200);
  });

  it('is silent until it is released', async (t) => {
    const host = await startCodeHost(t);
    const { number } = await host.issues.add();
    const path = `${APP}/issues/${number}/comments`;
    const quiet = host.fail('silence', { method: 'POST' });
    let isDone = false;
    const asked = ask(host, 'POST', path, { body: { body: 'Hello.' } }).then((answer) => {
      isDone = true;
      return answer;
    });
    await quiet.met;
    assert.equal((await host.issues.comments(number)).length, 0);
    assert.equal(isDone, false);
    quiet.release();
    assert.equal((await asked).status, 201);
  });

  it('meets only what it is meant for, as often as is said', async (t) => {
    const host = await startCodeHost(t);
    const planned = host.fail('server error', { method: 'GET', path: /\/labels$/, times: 2 });
    assert.equal((await ask(host, 'GET', APP)).status, 200);
    for (const wanted of [500, 500, 200]) {
      assert.equal((await ask(host, 'GET', `${APP}/labels`)).status, wanted);
    }
    assert.equal(planned.hits, 2);
  });
});
