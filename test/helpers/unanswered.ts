import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from './work-item.ts';

/** Leaves the call with this Idempotency-Key as a daemon does that was killed after its effect, before it kept its answer. */
export const forgetAnswer = (workspace: string, key: string): void => {
  const path = join(workspace, '.dossier/answers', `${sha256(key)}.json`);
  const { answer: _, said: _said, ...kept } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(kept));
};
