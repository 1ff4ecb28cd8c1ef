import type { Environment } from './environment.ts';
import { execute } from './execute.ts';
import { findProgram } from './find-program.ts';

const ANSWER_MS = 5000;
const ANSWER_BYTES = 262_144;

/** The host that the operator's ssh configuration means by a name; undefined where ssh is not there, or does not say. */
export const sshHost = async (name: string, env: Environment): Promise<string | undefined> => {
  const program = findProgram('ssh', env);
  if (program === undefined || !/^[A-Za-z0-9][\w.-]*$/.test(name)) return undefined;
  const limits = { timeout_ms: ANSWER_MS, max_bytes: ANSWER_BYTES };
  const { code, stdout } = await execute([program, '-G', '--', name], { cwd: '/', env, ...limits });
  if (code !== 0) return undefined;
  return /^hostname (\S+)$/m.exec(stdout.toString('utf8'))?.[1]?.toLowerCase();
};
