import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import type { Layout } from '../layout.ts';
import { type Finding, warning } from './finding.ts';

/** Copies that sync tools leave where two machines changed a file. No record is read from them, so nothing else names them. */
export const conflictCopies = ({ root }: Layout): Finding[] =>
  [...namesIn(root), ...['cases', 'memory', 'webhooks'].flatMap((dir) => namesBelow(root, dir))]
    .filter((file) => COPY.test(file))
    .map((file) => warning({ file, code: 'conflict_copy', message: COPIED }));

const namesIn = (path: string, recursive = false): string[] =>
  orElse(() => readdirSync(path, { recursive, encoding: 'utf8' }), []);

const namesBelow = (root: string, dir: string): string[] =>
  namesIn(join(root, dir), true).map((name) => join(dir, name));

// Of Syncthing, Dropbox, Resilio, and ownCloud and Nextcloud.
const COPY = /(?:\.sync-conflict-\d|conflicted copy|\.Conflict\.|_conflict-\d)[^/]*$/;

const COPIED =
  'A sync tool left this copy, because two machines changed the file. Merge what is missing into the file, then remove the copy';
