import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gitIn } from '../../helpers/repository.ts';
import { planning, type Tried } from './checks.ts';
import { startSession, TITLE } from './session.ts';

const FILE = 'by-shell.txt';
const COMMAND = `echo made > ${FILE} && git add ${FILE} && git commit -qm "Made by the shell"`;

/** What the agent's shell commits in the sandbox is on the Work item's branch, and in the diff. */
export const commits = async (t: TestContext, tried: Tried): Promise<string> => {
  const steps = [[{ shell: COMMAND }], [{ text: 'Done.' }]];
  const rules = [planning, { when: 'The operator has approved', steps }];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules });
  await session.until('plan_ready');
  await session.post('approve');
  await session.until('completed');
  const git = gitIn(session.tree);
  if (!existsSync(join(session.tree, FILE))) {
    assert.equal(session.status(), '');
    return 'runs no shell unasked';
  }
  const patch = readFileSync(join(session.dir, 'diff.patch'), 'utf8');
  assert.match(patch, /^\+made$/m);
  if (git('log', '-1', '--format=%s').trim() === 'Made by the shell') return 'yes';
  // Its own sandbox keeps git's directory from it.
  assert.equal(git('show', '--format=%s', '--name-only'), `${TITLE}\n\n${FILE}\n`);
  return 'no; the daemon does, at the end';
};
