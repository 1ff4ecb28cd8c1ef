import { mkdirSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { parseCommandLine } from '../../lib/cli/args/read.ts';
import { COMMANDS } from '../../lib/cli/commands.ts';
import { createServer } from '../../lib/daemon/server.ts';
import { startService } from '../../lib/daemon/startup.ts';
import type { Log } from '../../lib/log.ts';
import { operatorConsole } from '../../routes/console/console.ts';
import { sections } from '../../routes/index.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { atEnd } from './at-end.ts';
import { VERSION } from './version.ts';

export interface DaemonHere {
  url: string;
  /** Stops it as SIGTERM does. Only once: later calls wait for the first. */
  end(): Promise<void>;
}

/**
 * What `dossier serve` starts with these arguments, in this process: for tests that call it or look at its pages, and do not
 * kill it. That takes a tenth of the time of a process of its own. It listens on a free port, trusts the workspace's files
 * unless `env` has another DOSSIER_TRUST, and is stopped after the test.
 */
export const startHere = async (
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
): Promise<DaemonHere> => {
  const variables = { ...process.env, DOSSIER_TRUST: '1', DOSSIER_FOLLOW_LOCKS: '1', ...env };
  const argv = ['serve', '--port', '0', ...args];
  const { config } = parseCommandLine(COMMANDS, argv, variables).call;
  mkdirSync(config.workspace, { recursive: true });
  const running = await startService(config, SILENT, VERSION);
  await running.begin();
  await makeWorkspaceFiles(running.service.store.layout);
  const { service } = running;
  const { host, port } = config;
  const server = createServer({ sections, console: operatorConsole, service, host, port });
  await server.start();
  service.address.url = server.info.uri;
  running.open.lock.tell({ url: server.info.uri });
  const stop = async (): Promise<void> => {
    await server.stop({ timeout: 100 });
    await running.close();
  };
  let stopped: Promise<void> | undefined;
  const end = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  atEnd(t, end);
  return { url: server.info.uri, end };
};

const nothing = (): void => undefined;
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
