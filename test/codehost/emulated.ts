import type { TestContext } from 'node:test';
import { createEmulator } from 'emulate';
import { atEnd } from '../helpers/at-end.ts';
import { type Answer, json } from './rest.ts';

export interface Person {
  login: string;
  name: string;
}

export interface Wanted {
  /** Where its own links are to point. */
  url: string;
  /** The host in a link that a person opens. */
  host_name: string;
  people: readonly Person[];
  repositories: readonly { owner: string; name: string; private: boolean }[];
}

export interface Call {
  /** A login; the operator's if nobody is named. */
  as?: string;
  body?: unknown;
}

/** The emulated GitHub itself, behind what the fake mends. */
export interface Emulated {
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** What it answers; throws when it refuses. */
  read<T>(method: string, path: string, call?: Call): Promise<T>;
  /** All pages of a list. */
  all<T>(path: string): Promise<T[]>;
}

// It counts 5,000 requests a token and then refuses: a person has as many tokens as a test may need.
const TOKENS = 50;
const CALLS_A_TOKEN = 4_000;
const PAGE = 100;

/** Starts one on loopback with these people, all of the organisation `acme`, and repositories; closed at the end. */
export const startEmulated = async (t: TestContext, wanted: Wanted): Promise<Emulated> => {
  const { people, repositories } = wanted;
  const users = people.map((person) => ({ ...person, email: `${person.login}@example.com` }));
  const members = people.map(({ login }) => ({ login }));
  const emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: Object.fromEntries(people.flatMap(({ login }) => tokensOf(login))),
      github: { users, orgs: [{ login: 'acme', members }], repos: repositories },
    },
  });
  atEnd(t, () => emulator.close());
  const call = callTo(emulator.url, wanted);
  const read = async <T>(method: string, path: string, options?: Call): Promise<T> => {
    const answer = await call(method, path, options);
    if (answer.status < 400) return answer.body as T;
    throw new Error(`emulate: ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  return { call, read, all: (path) => allOf(read, path) };
};

const tokensOf = (login: string): [string, { login: string }][] =>
  Array.from({ length: TOKENS }, (_, n) => [`${login}-${n}`, { login }]);

const callTo = (origin: string, { url, host_name }: Wanted): Emulated['call'] => {
  const { port } = new URL(origin);
  let calls = 0;
  return async (method, path, { as = 'operator', body } = {}) => {
    const token = `${as}-${Math.floor(calls / CALLS_A_TOKEN) % TOKENS}`;
    calls += 1;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      // It closes idle connections, perhaps just when one is used again.
      headers: { authorization: `Bearer ${token}`, connection: 'close' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = ours(await response.text(), { origin, url, host_name });
    const link = response.headers.get('link')?.replaceAll(/http:\/\/[^/]+/g, url);
    const headers = link === undefined ? {} : { link };
    if (text === '') return { status: response.status, headers };
    return json(JSON.parse(text), response.status, headers);
  };
};

/** Its own address in what it says, as GitHub's: one for programs, one for people. */
const ours = (text: string, to: { origin: string; url: string; host_name: string }): string =>
  text
    .replaceAll(
      new RegExp(`"(html_url|clone_url|svn_url|diff_url|patch_url)":"${to.origin}/`, 'g'),
      (_, name: string) => `"${name}":"https://${to.host_name}/`,
    )
    .replaceAll(`"html":{"href":"${to.origin}/`, `"html":{"href":"https://${to.host_name}/`)
    .replaceAll(`git@${new URL(to.origin).host}:`, `git@${to.host_name}:`)
    .replaceAll(to.origin, to.url);

const allOf = async <T>(read: Emulated['read'], path: string): Promise<T[]> => {
  const found: T[] = [];
  const joint = path.includes('?') ? '&' : '?';
  for (let page = 1; ; page += 1) {
    const items = await read<T[]>('GET', `${path}${joint}per_page=${PAGE}&page=${page}`);
    found.push(...items);
    if (items.length < PAGE) return found;
  }
};
