import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../helpers/repository.ts';

export interface GhOptions {
  /** A host's unix socket, for all that gh asks of the network. */
  socket?: string;
  /** Kept in gh's own file, as after `gh auth login`, for this host. */
  token?: string;
  host?: string;
}

/** The real gh, which says what it was called with. */
export interface Gh {
  /** PATH, GH_CONFIG_DIR and HOME, with no token of anybody's: for a daemon, or for git. */
  env: Record<string, string>;
  /** The arguments of every call, oldest first. */
  calls(): string[][];
  /** None of the calls was more than to ask for its version, or for a token. */
  assertHarmless(): void;
  /** Calls it as an operator would. */
  run(args: string[], env?: Record<string, string>): Promise<string>;
}

/** Where the real one is; undefined when it is not installed. */
export const realGh = (): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'gh'))
    .find((path) => existsSync(path));

/** Why a test of the real one is skipped; in CI it fails instead. */
export const withoutGh: string | false =
  process.env.CI !== 'true' && realGh() === undefined && 'gh is not installed';

/** gh with settings of its own, behind a program that writes down each call and becomes the real one. */
export const ghFor = (
  t: TestContext,
  { socket, token, host = 'github.com' }: GhOptions = {},
): Gh => {
  const real = realGh();
  if (real === undefined) throw new Error('This test needs gh (apt-get install gh).');
  const root = temporaryDirectory(t);
  const [bin, config, log] = [join(root, 'bin'), join(root, 'config'), join(root, 'calls')];
  mkdirSync(bin);
  mkdirSync(config);
  if (socket !== undefined)
    writeFileSync(join(config, 'config.yml'), `http_unix_socket: ${socket}\n`);
  if (token !== undefined) writeFileSync(join(config, 'hosts.yml'), hostsFile(host, token));
  writeFileSync(log, '');
  writeFileSync(join(bin, 'gh'), wrapper(real, log));
  chmodSync(join(bin, 'gh'), 0o755);
  const env = {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    GH_CONFIG_DIR: config,
    HOME: root,
    GH_NO_UPDATE_NOTIFIER: '1',
  };
  return {
    env,
    calls: () => callsIn(log),
    assertHarmless: () => {
      const others = callsIn(log).filter((call) => !HARMLESS.test(call.join(' ')));
      assert.deepEqual(others, [], 'gh was asked for more than its version and a token');
    },
    run: async (args, more = {}) =>
      (await promisify(execFile)(join(bin, 'gh'), args, { cwd: root, env: { ...env, ...more } }))
        .stdout,
  };
};

const HARMLESS = /^(--version|auth token( --hostname \S+)?|auth git-credential( \w+)?)$/;

const hostsFile = (host: string, token: string): string =>
  `${host}:\n    oauth_token: ${token}\n    user: operator\n    git_protocol: https\n`;

// Each call ends with a byte that no argument holds.
const wrapper = (real: string, log: string): string =>
  `#!/bin/sh\nprintf '%s\\036' "$@" >>'${log}'\nprintf '\\035' >>'${log}'\nexec '${real}' "$@"\n`;

const callsIn = (log: string): string[][] =>
  readFileSync(log, 'utf8')
    .split('\x1d')
    .slice(0, -1)
    .map((call) => call.split('\x1e').slice(0, -1));
