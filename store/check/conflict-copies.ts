import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import type { Layout } from '../layout.ts';
import { type Finding, warning } from './finding.ts';

/** Copies that sync tools leave where two machines changed a file. No record is read from them, so nothing else names them. */
export const conflictCopies = ({ root }: Layout): Finding[] =>
  [...filesIn(root, '').map(({ name }) => name), ...PLACES.flatMap((dir) => namesBelow(root, dir))]
    .filter((file) => COPY.test(file))
    .map((file) => warning({ file, code: 'conflict_copy', message: COPIED }));

const filesIn = (root: string, dir: string): Dirent[] =>
  orElse(() => readdirSync(join(root, dir), { withFileTypes: true }), []);

// One that cannot be listed hides no other.
const namesBelow = (root: string, dir: string): string[] =>
  filesIn(root, dir).flatMap((entry) => {
    const path = join(dir, entry.name);
    return entry.isDirectory() ? namesBelow(root, path) : path;
  });

const PLACES = ['cases', 'memory', 'webhooks'];

// Of Syncthing, Dropbox, Resilio, and ownCloud and Nextcloud.
const COPY = /(?:\.sync-conflict-\d|conflicted copy|\.Conflict\.|_conflict-\d)[^/]*$/;

const COPIED =
  'A sync tool left this copy, because two machines changed the file. Merge what is missing into the file, then remove the copy';
