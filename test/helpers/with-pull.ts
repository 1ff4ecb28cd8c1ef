import type { TestContext } from 'node:test';
import { recordPull } from '../../lib/host/pull-requests/record.ts';
import { type CodeHost, startCodeHost } from '../codehost/code-host.ts';
import type { Answered, startForTest } from './service.ts';
import { type WithCase, withCase } from './work-item.ts';

export interface WithPull extends WithCase {
  host: CodeHost;
  /** Of the pull request, which a colleague has opened for `work/one`. */
  number: number;
  id: string;
  /** A call below `/api/cases/<id>/`. */
  api<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answered<T & Problem>>;
}

interface Problem {
  code: string;
  detail: string;
}

/** The whole service with a fake GitHub, and a Work item whose draft pull request is there and recorded. */
export const withPull = async (
  t: TestContext,
  options: Parameters<typeof startForTest>[1] = {},
): Promise<WithPull> => {
  const host = await startCodeHost(t);
  await host.repositories.push({ branch: 'work/one', files: { 'src/a.ts': 'one\ntwo\n' } });
  const { number } = await host.pulls.open('work/one', { draft: true, body: BODY });
  const scene = await withCase(
    t,
    {},
    {
      ...options,
      env: { GITHUB_API_URL: host.url, GH_TOKEN: host.token, ...options.env },
      repository: host.repositories.clone(),
    },
  );
  const { service } = scene.running;
  const hosted = service.codeHost().repository({
    host: 'github.com',
    owner: 'acme',
    name: 'app',
  });
  const pull = await hosted.pull(number);
  await recordPull(service.store, scene.item.id, { name: hosted.name, pull });
  host.requests.length = 0;
  const { id } = scene.item;
  return {
    ...scene,
    ...{ host, number, id },
    api: (method, path, body) => scene.call(method, `/api/cases/${id}/${path}`, body),
  };
};

export const BODY = 'As it was opened.\n';
