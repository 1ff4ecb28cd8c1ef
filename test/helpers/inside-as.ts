import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SandboxView } from '../../lib/sandbox/view.ts';
import { missing, runInside } from './inside.ts';

/** A user of no account, whom root can be. */
export const OTHER = 54_321;

/** Runs a shell script in the sandbox as another user does; where nobody can change users, as this one. */
export const runInsideAs = async (
  uid: number,
  view: SandboxView,
  script: string,
): Promise<{ output: string; code: number | null }> => {
  if (process.getuid?.() === uid) return runInside(view, script);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [fileURLToPath(import.meta.url), JSON.stringify(view), script],
    { uid, gid: uid, cwd: '/' },
  );
  return JSON.parse(stdout);
};

const [, self, view, script] = process.argv;
if (self === fileURLToPath(import.meta.url) && view !== undefined && script !== undefined) {
  if (missing) throw new Error(missing);
  process.stdout.write(JSON.stringify(await runInside(JSON.parse(view), script)));
}
