import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import type { Server } from '@hapi/hapi';
import { createServer, type ServerOptions } from '../../../lib/daemon/server.ts';
import type { Route } from '../../../lib/http/route.ts';
import type { Service } from '../../../lib/service.ts';
import { layoutOf } from '../../../store/layout.ts';
import { atEnd } from '../../helpers/at-end.ts';

const serviceOf = (logged: Logged[], workspace: string) =>
  ({
    log: { error: (details: object, message: string) => logged.push({ details, message }) },
    store: { layout: layoutOf(workspace), clock: () => new Date(0) },
    keyring: { counts: () => true },
    clock: () => new Date(0),
    version: {
      name: 'dossierd',
      version: '1.2.3',
      api: '3.1.0',
      node: process.version,
      platform: process.platform,
      commit: null,
      built_at: null,
    },
    prove: (challenge: string) => `proof of ${challenge}`,
    requiresKey: () => false,
    consoleSessions: { open: () => '', keyOf: () => undefined },
    callers: { callerOf: async () => 'operator' },
  }) as unknown as Service;

export interface Logged {
  details: object;
  message: string;
}

/** A server with these routes, not listening: for `inject`. What it logs is collected in `logged`. */
export const serverOf = (
  routes: readonly Route[],
  options: Partial<ServerOptions> = {},
  workspace = tmpdir(),
): { hapi: Server; logged: Logged[] } => {
  const logged: Logged[] = [];
  const hapi = createServer({
    sections: [{ title: 'Test', description: 'One', routes }],
    service: serviceOf(logged, workspace),
    host: '127.0.0.1',
    port: 4321,
    ...options,
  });
  return { hapi, logged };
};

/** The same, listening on a free port until the test is over. */
export const listen = async (
  t: TestContext,
  routes: readonly Route[],
  options: Partial<ServerOptions> = {},
) => {
  const { hapi, logged } = serverOf(routes, { port: 0, ...options });
  await hapi.start();
  atEnd(t, () => hapi.stop({ timeout: 100 }));
  const port = Number(hapi.info.port);
  return { hapi, logged, port, url: `http://127.0.0.1:${port}` };
};

/** Sends these very bytes and resolves with all that comes back until the server closes or `enough` is there. */
export const sendRaw = (
  port: number,
  bytes: string,
  enough = /\r\n\r\n[\s\S]*\}/,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    const done = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding('utf8').on('data', (part: string) => {
      answer += part;
      if (enough.test(answer)) done();
    });
    socket.on('end', done).on('error', reject);
  });

export const json = ({ payload }: { payload: string }) => JSON.parse(payload);
