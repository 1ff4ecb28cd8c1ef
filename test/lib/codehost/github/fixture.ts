import type { TestContext } from 'node:test';
import type { CodeHost as Client, HostedRepository } from '../../../../lib/codehost/code-host.ts';
import { type Api, createHostContext } from '../../../../lib/codehost/github/client.ts';
import { createGitHub } from '../../../../lib/codehost/github/github.ts';
import { ServiceError } from '../../../../lib/errors.ts';
import type { CodeHostSettings } from '../../../../store/records/settings.ts';
import { type CodeHost, type CodeHostOptions, startCodeHost } from '../../../codehost/code-host.ts';

export interface Asking {
  host: CodeHost;
  client: Client;
  hosted: HostedRepository;
  /** What the client is made from: to be changed while it is there. */
  env: Record<string, string | undefined>;
}

interface Wanted extends CodeHostOptions {
  env?: Record<string, string | undefined>;
  settings?: CodeHostSettings;
}

/** The client as the daemon makes it, with the operator's token, and `acme/app` on the fake host. */
export const startAsking = async (t: TestContext, wanted: Wanted = {}): Promise<Asking> => {
  const host = await startCodeHost(t, wanted);
  return { host, ...clientOf(host, wanted) };
};

/** The same on a host that is there. */
export const clientOf = (host: CodeHost, { env: more = {}, settings = {} }: Wanted = {}) => {
  const env: Asking['env'] = {
    PATH: '/nowhere',
    GITHUB_API_URL: host.url,
    GH_TOKEN: host.token,
    GH_ENTERPRISE_TOKEN: host.token,
    ...more,
  };
  const own = { host: host.host_name, ...settings };
  const client = createGitHub({ env, settings: () => own, version: '0.0.0' });
  const name = { host: host.host_name, owner: 'acme', name: 'app' };
  return { client, hosted: client.repository(name), env };
};

/** The ServiceError that something fails with. */
export const refusal = async (work: Promise<unknown>): Promise<ServiceError> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('It did not fail');
};

/** Octokit itself, behind the client's one way out. */
export const apiAt = async (t: TestContext): Promise<{ api: Api; host: CodeHost }> => {
  const host = await startCodeHost(t);
  const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token };
  const { api } = await createHostContext({ env, settings: () => ({}), version: '0.0.0' }).client(
    'github.com',
  );
  return { api, host };
};
