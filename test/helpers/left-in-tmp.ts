import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What is in a workspace's `.dossier/tmp`, but for what runs are shown of git's settings, which stays as long as a daemon. */
export const leftInTmp = (root: string): string[] =>
  readdirSync(join(root, '.dossier/tmp')).filter((name) => !name.startsWith('dossier-settings-'));
