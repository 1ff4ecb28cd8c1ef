import { setTimeout as delay } from 'node:timers/promises';
import { layoutOf } from '../../store/layout.ts';
import { SETTINGS_TEXT } from '../../store/settings/settings-text.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import type { Config } from '../config.ts';
import { headCommit } from '../tools/git/read/repository.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import type { Git } from '../tools/git/run/git.ts';
import { homeOf, uncommitted } from '../tools/git/write/commit.ts';
import { commitOnly } from '../tools/git/write/commit-only.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';
import type { Call } from './args/command.ts';
import { shellCommand } from './args/shell-command.ts';
import { isNewWorkspace } from './first-run.ts';
import { type Say, sayJson, toStandardOutput } from './output/terminal.ts';
import { ensureWorkspace, refuseEmptied } from './preflight.ts';

const OURS = ['workspace.md', '.gitignore', '.gitattributes'];

/** Creates a workspace, and a git repository unless it is in one. Changes no existing file, so it can be run again. */
export const init = async (
  { config, values }: Call,
  tell: Say = toStandardOutput,
): Promise<number> => {
  ensureWorkspace(config);
  const { workspace, env } = config;
  const json = values.json === true;
  const say: Say = json ? () => undefined : tell;
  say(`The workspace is ${workspace}`);
  const made = await makeWorkspaceFiles(layoutOf(workspace));
  for (const name of OURS)
    say(made.includes(name) ? `Created ${name}` : `${name} exists; unchanged`);
  const git = createGit({ env: cleanEnvironment(env) });
  if (git.program === undefined)
    say(`git is not installed: install it, then run ${shellCommand(config, 'init')} again`);
  const committed = git.program === undefined ? [] : await makeRepository(git, workspace, say);
  say(`Next: ${shellCommand(config, 'doctor')}, then ${shellCommand(config, 'serve --repo DIR')}`);
  if (!json) return 0;
  const home = git.program === undefined ? undefined : await homeOf(git, workspace);
  sayJson(tell, { workspace, made, repository: home?.repository.path ?? null, committed });
  return 0;
};

/**
 * Creates the directory of the workspace if needed, and a new workspace with a git repository and autocommit, unless it is in
 * a repository or git is not installed. Throws a Refusal if it cannot be a workspace.
 */
export const createWorkspaceRepository = async (config: Config): Promise<void> => {
  const { workspace, env } = config;
  const layout = layoutOf(workspace);
  const isNew = isNewWorkspace(config);
  refuseEmptied(config);
  ensureWorkspace(config);
  if (!isNew) return;
  const git = createGit({ env: cleanEnvironment(env) });
  if (git.program === undefined || (await homeOf(git, workspace)) !== undefined) return;
  await makeWorkspaceFiles(layout, SETTINGS_TEXT.replace('#autocommit: false', 'autocommit: true'));
  await makeRepository(git, workspace, () => undefined);
};

/** Returns the committed files. Where several commands make the same one, git refuses all but one: the others look again. */
const makeRepository = async (git: Git, workspace: string, say: Say): Promise<string[]> => {
  for (let tries = 1; ; tries++)
    try {
      return await initAndCommit(git, workspace, say);
    } catch (error) {
      if (tries === TRIES) throw error;
      await delay(AGAIN_MS);
    }
};

const TRIES = 5;
const AGAIN_MS = 100;

const initAndCommit = async (git: Git, workspace: string, say: Say): Promise<string[]> => {
  const before = await homeOf(git, workspace);
  if (before !== undefined && before.prefix !== '') {
    say(`The workspace is in the git repository ${before.repository.path}; commit it yourself`);
    return [];
  }
  if (before === undefined) await git.at(workspace).run(['init', '--quiet']);
  say(before === undefined ? 'Created a git repository' : 'The git repository exists; unchanged');
  return commitFirst(git, workspace, say);
};

// A repository with commits is the operator's, so nothing is committed to it.
const commitFirst = async (git: Git, workspace: string, say: Say): Promise<string[]> => {
  const home = await homeOf(git, workspace);
  if (home === undefined || (await headCommit(git.at(workspace))) !== undefined) return [];
  await git.turn(home.repository, async (now) => {
    const { changed } = await uncommitted(now, OURS);
    const scratch = layoutOf(workspace).tmp;
    await commitOnly(now, { changed, message: 'workspace: created', scratch });
  });
  say(`Committed ${OURS.join(', ')}`);
  return OURS;
};
