import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { ServiceError } from '../../errors.ts';
import {
  cleanEnvironment,
  type Environment,
  loginEnvironment,
  withoutTokens,
} from './environment.ts';
import { type Execution, execute } from './execute.ts';
import { findProgram } from './find-program.ts';

/** The GitHub CLI. Used only to read its version and its stored token. */
export interface Gh {
  /** Its absolute path; undefined if it is not installed. Looked up until it is found. */
  program(): string | undefined;
  /** Undefined if gh is not installed or prints no version. */
  version(): Promise<string | undefined>;
  /** The stored token, never one from the environment. Throws `tool_timeout`. */
  token(host: string): Promise<string | undefined>;
  /** The hosts with a login. */
  hosts(): string[];
}

const ANSWER_MS = 5000;
const ANSWER_BYTES = 65_536;

export const createGh = (source: Readonly<Record<string, string | undefined>>): Gh => {
  const env = environment(source);
  let found: string | undefined;
  const program = (): string | undefined => {
    found ??= findProgram('gh', env);
    return found;
  };
  const ask = async (args: readonly string[]): Promise<string | undefined> => {
    const path = program();
    return path === undefined ? undefined : outputOf(await run(path, args, env));
  };
  return {
    program,
    version: async () => /\d+(?:\.\d+)+/.exec((await ask(['--version'])) ?? '')?.[0],
    token: async (host) => (await ask(['auth', 'token', '--hostname', host])) || undefined,
    hosts: () => hostsIn(env),
  };
};

// Without token variables, so that gh answers from its own store only; tokens from the environment are read elsewhere.
const environment = (source: Readonly<Record<string, string | undefined>>): Environment => {
  const { GH_HOST: _host, ...login } = withoutTokens(loginEnvironment(source));
  return cleanEnvironment(source, {
    ...login,
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    NO_COLOR: '1',
  });
};

const run = (path: string, args: readonly string[], env: Environment): Promise<Execution> =>
  execute([path, ...args], { cwd: '/', env, timeout_ms: ANSWER_MS, max_bytes: ANSWER_BYTES }).catch(
    (cause: unknown) => {
      const { code = 'no reason' } = cause as NodeJS.ErrnoException;
      throw new ServiceError('unavailable', `${path} cannot be started (${code}). Repair it.`, {
        cause,
      });
    },
  );

const outputOf = ({ code, stdout, stopped }: Execution): string | undefined => {
  if (stopped === 'timeout') {
    throw new ServiceError(
      'tool_timeout',
      `gh did not answer within ${ANSWER_MS / 1000} s. Check it with \`gh auth status\`, or start the daemon with GH_TOKEN.`,
    );
  }
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
};

const hostsIn = ({ GH_CONFIG_DIR, XDG_CONFIG_HOME, HOME = '/' }: Environment): string[] => {
  const dir = GH_CONFIG_DIR ?? join(XDG_CONFIG_HOME ?? join(HOME, '.config'), 'gh');
  // The file is missing if gh has no login.
  const text = orElse(() => readFileSync(join(dir, 'hosts.yml'), 'utf8'), '');
  return [...text.matchAll(/^"?([\w.-]+(?::\d+)?)"?:\s*$/gm)].map(([, host = '']) =>
    host.toLowerCase(),
  );
};
