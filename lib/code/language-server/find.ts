import { isAbsolute } from 'node:path';
import { messageOf, orElse } from '../../../store/base/attempt.ts';
import { pathContains } from '../../../store/base/paths.ts';
import type { Language } from '../../../store/records/settings.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { Config, WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { requireTrusted } from '../../guard/trust/require.ts';
import { cleanEnvironment, type Environment } from '../../tools/process/environment.ts';
import { execute } from '../../tools/process/execute.ts';
import { findProgram, programStamp } from '../../tools/process/find-program.ts';
import { otherWorktrees } from '../worktrees/read.ts';

interface Candidate {
  command: string;
  args: readonly string[];
  /** What its version must match; older versions have no language server. */
  version?: RegExp;
}

// TypeScript's own server first: the other one runs the project's TypeScript from the worktree.
const TYPESCRIPT: Candidate[] = [
  { command: 'tsc', args: ['--lsp', '--stdio'], version: /^Version (?:[7-9]|\d\d)\./ },
  { command: 'typescript-language-server', args: ['--stdio'] },
];

const CANDIDATES: Record<Language, Candidate[]> = {
  rust: [{ command: 'rust-analyzer', args: [] }],
  typescript: TYPESCRIPT,
  javascript: TYPESCRIPT,
};

const INSTALL: Record<Language, string> = {
  rust: 'Install rust-analyzer: rustup component add rust-analyzer',
  typescript:
    'Install TypeScript 7 (npm install --global typescript) or typescript-language-server',
  javascript:
    'Install TypeScript 7 (npm install --global typescript) or typescript-language-server',
};

/**
 * The command of a language's server: that of the settings, else the first on the PATH that answers `--version`. Existence is
 * not enough, because rustup installs a proxy for missing components. Throws 503 `unavailable` naming what to install.
 */
export const findServer = async (
  { store, config }: WithConfig & WithStore,
  language: Language,
  root: string,
): Promise<string[]> => {
  requireTrusted(store, [`language_servers.${language}`]);
  const env = serverEnvironment(config);
  const named = settingsOf(store).language_servers?.[language];
  const candidates = named ? [{ args: [], ...named }] : CANDIDATES[language];
  const reasons: string[] = [];
  for (const candidate of candidates) {
    const program = locate(candidate.command, env);
    if (program === undefined) {
      reasons.push(`${candidate.command} is not on the PATH`);
      continue;
    }
    const why = refusal(store, program, root) ?? (await probe(program, candidate, env));
    if (why === undefined) return [program, ...candidate.args];
    reasons.push(why);
  }
  const advice = named
    ? `Check language_servers.${language}.command in workspace.md`
    : `${INSTALL[language]}, or set another program in workspace.md under language_servers`;
  throw new ServiceError(
    'unavailable',
    `There is no language server for ${language}: ${reasons.join('; ')}. ${advice}.`,
  );
};

/** The environment of language servers: without the daemon's secrets, and without a terminal. */
export const serverEnvironment = (config: Config, extra: Environment = {}): Environment => {
  const { CARGO_HOME, RUSTUP_HOME } = config.env;
  return cleanEnvironment(config.env, {
    NO_COLOR: '1',
    TERM: 'dumb',
    ...(CARGO_HOME !== undefined && { CARGO_HOME }),
    ...(RUSTUP_HOME !== undefined && { RUSTUP_HOME }),
    ...extra,
  });
};

const locate = (command: string, env: Environment): string | undefined =>
  isAbsolute(command) ? command : findProgram(command, env);

// A program inside a worktree may be the work of an agent.
const refusal = (store: Store, program: string, root: string): string | undefined => {
  // The directory of a worktree may be missing.
  const inside = [root, ...otherWorktrees(store, '')].some((dir) =>
    orElse(() => pathContains(dir, program), false),
  );
  return inside ? `${program} is inside a worktree and was not run` : undefined;
};

const PROBE_MS = 20_000;
const FAILURE_MS = 30_000;
const answers = new Map<string, { why: Promise<string | undefined>; until: number }>();

// A success is cached until the program's file changes; a failure for 30 s.
const probe = (
  program: string,
  { version = /\S/ }: Candidate,
  env: Environment,
): Promise<string | undefined> => {
  const key = `${programStamp(program, env)} ${version.source}`;
  const known = answers.get(key);
  if (known !== undefined && performance.now() < known.until) return known.why;
  const why = askVersion(program, version, env);
  const latest = { why, until: Number.POSITIVE_INFINITY };
  answers.set(key, latest);
  return why.then((reason) => {
    if (reason !== undefined) latest.until = performance.now() + FAILURE_MS;
    return reason;
  });
};

const askVersion = async (
  program: string,
  version: RegExp,
  env: Environment,
): Promise<string | undefined> => {
  try {
    const options = { cwd: '/', env, timeout_ms: PROBE_MS, max_bytes: 65_536 };
    const { code, stdout, stderr, stopped } = await execute([program, '--version'], options);
    if (stopped !== undefined) return `${program} --version did not end`;
    const said = stdout.toString('utf8').trim();
    if (code === 0 && version.test(said)) return undefined;
    const [first = ''] = (code === 0 ? said : stderr.trim() || said).split('\n');
    return `${program} --version prints ${JSON.stringify(first.slice(0, 200))}`;
  } catch (error) {
    return `${program} cannot be run: ${messageOf(error)}`;
  }
};
