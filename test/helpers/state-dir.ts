import { chownSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Also for the daemons that a program of the tests starts, which is not run by `.ci/test.mjs`, such as `npm run soak:kill`.
process.env.XDG_STATE_HOME ||= tmpdir();

/** The state directory of all services of a test run: the one that daemons find by XDG_STATE_HOME, too. */
export const STATE_DIR = join(process.env.XDG_STATE_HOME, 'dossier');

/** Where daemons that run as another user keep theirs; nothing where they run as this one. */
export const stateOf = (uid: number | undefined): { XDG_STATE_HOME?: string } => {
  if (uid === undefined || uid === process.getuid?.()) return {};
  const dir = `${STATE_DIR}-${uid}`;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chownSync(dir, uid, uid);
  return { XDG_STATE_HOME: dir };
};
