import { randomUUID } from 'node:crypto';
import { createSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import type { SandboxView } from '../../lib/sandbox/view.ts';
import { cleanEnvironment, type Environment } from '../../lib/tools/process/environment.ts';
import { createRuns } from '../../lib/tools/process/runs.ts';
import { startProgram } from '../../lib/tools/process/spawn.ts';

const env = cleanEnvironment({ PATH: process.env.PATH });
export const sandbox = createSandbox('auto', env);
/** Why there is no sandbox to test; false where there is one. */
export const missing = sandbox.kind === 'none' ? (sandbox.reason ?? 'no sandbox') : false;

/** Runs a shell script in the sandbox and answers all that it writes. */
export const runInside = async (
  view: SandboxView,
  script: string,
  { box = sandbox, ...more }: { box?: Sandbox; env?: Environment } = {},
): Promise<{ output: string; code: number | null }> => {
  const lines: string[] = [];
  const program = startProgram({
    argv: box.wrap(['/bin/sh', '-c', script], view),
    cwd: '/',
    env: { ...env, ...more.env },
    ...{ marker: randomUUID(), runs: createRuns(), loopback: true },
    onLine: (line) => lines.push(line),
  });
  const { code, stderr_tail } = await program.exited;
  return { output: [...lines, stderr_tail].join('\n').trim(), code };
};
