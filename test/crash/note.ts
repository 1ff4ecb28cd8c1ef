/** What the state directory notes of the workspace: by the inode of a file, which is another one where it was written again. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { workspaceOf } from './world.ts';

/** Lets the note be of the file that stands there now, which is the one that it was of. */
export const rewriteNote = (root: string): void => {
  const file = join(workspaceOf(root), '.dossier/workspace');
  const dir = join(root, 'state/dossier/workspaces');
  if (!existsSync(file) || !existsSync(dir)) return;
  for (const id of readdirSync(dir)) {
    const note = join(dir, id, 'workspace.json');
    const noted = orElse(() => JSON.parse(readFileSync(note, 'utf8')) as object, undefined);
    if (noted === undefined) continue;
    const inode = String(statSync(file).ino);
    writeFileSync(note, `${JSON.stringify({ ...noted, inode })}\n`);
  }
};
