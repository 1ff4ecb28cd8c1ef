import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The state directory of all services of a test run: the one that daemons find by XDG_STATE_HOME, too. */
export const STATE_DIR = join(process.env.XDG_STATE_HOME || tmpdir(), 'dossier');
