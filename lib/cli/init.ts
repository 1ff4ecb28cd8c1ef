import { layoutOf } from '../../store/layout.ts';
import { SETTINGS_TEXT } from '../../store/settings/settings-text.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import type { Config } from '../config.ts';
import { headCommit } from '../tools/git/read/repository.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import type { Git } from '../tools/git/run/git.ts';
import { hasIdentity, homeOf, uncommitted } from '../tools/git/write/commit.ts';
import { commitOnly } from '../tools/git/write/commit-only.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';
import type { Call } from './args/command.ts';
import { isNewWorkspace } from './first-run.ts';
import { type Say, sayJson, toStandardOutput } from './output/terminal.ts';
import { needWorkspace } from './places.ts';

const OURS = ['workspace.md', '.gitignore', '.gitattributes'];

/** Makes a workspace, and a git repository of it unless it is in one. Changes nothing that is there: run it twice. */
export const init = async (
  { config, values }: Call,
  tell: Say = toStandardOutput,
): Promise<number> => {
  needWorkspace(config);
  const { workspace, env } = config;
  const json = values.json === true;
  const say: Say = json ? () => undefined : tell;
  say(`The workspace is ${workspace}`);
  const made = await makeWorkspaceFiles(layoutOf(workspace));
  for (const name of OURS)
    say(made.includes(name) ? `Made ${name}` : `${name} is there; left as it is`);
  const git = createGit({ env: cleanEnvironment(env) });
  if (git.program === undefined)
    say('git is not installed: install it, then run dossier init again');
  const committed = git.program === undefined ? [] : await makeRepository(git, workspace, say);
  say('Next: dossier doctor, then dossier serve --repo DIR');
  if (!json) return 0;
  const home = git.program === undefined ? undefined : await homeOf(git, workspace);
  sayJson(tell, { workspace, made, repository: home?.repository.path ?? null, committed });
  return 0;
};

/**
 * Makes a workspace that is new with a git repository to which each change is committed. One that is there is left as it is, and so
 * is one inside a repository, or of who has no git, or is not known to it: doctor says so.
 */
export const beginHistory = async (config: Config): Promise<void> => {
  const { workspace, env } = config;
  const layout = layoutOf(workspace);
  if (!isNewWorkspace(config)) return;
  needWorkspace(config);
  const git = createGit({ env: cleanEnvironment(env) });
  if (git.program === undefined || (await homeOf(git, workspace)) !== undefined) return;
  if (!(await hasIdentity(git.at(workspace)))) return;
  await makeWorkspaceFiles(layout, SETTINGS_TEXT.replace('#autocommit: false', 'autocommit: true'));
  await makeRepository(git, workspace, () => undefined);
};

/** Answers what was committed. */
const makeRepository = async (git: Git, workspace: string, say: Say): Promise<string[]> => {
  const before = await homeOf(git, workspace);
  if (before !== undefined && before.prefix !== '') {
    say(`It is part of the git repository ${before.repository.path}; committing is left to you`);
    return [];
  }
  if (before === undefined) await git.at(workspace).run(['init', '--quiet']);
  say(before === undefined ? 'Made a git repository' : 'The git repository is there');
  return commitFirst(git, workspace, say);
};

// A repository that has commits is the operator's: theirs to commit to.
const commitFirst = async (git: Git, workspace: string, say: Say): Promise<string[]> => {
  const home = await homeOf(git, workspace);
  if (home === undefined || (await headCommit(git.at(workspace))) !== undefined) return [];
  if (!(await hasIdentity(git.at(workspace)))) {
    say('git does not know who you are, so nothing is committed. Tell it, then commit by hand:');
    say('  git config --global user.name "Your Name"');
    say('  git config --global user.email you@example.com');
    return [];
  }
  await git.turn(home.repository, async (now) => {
    const { changed } = await uncommitted(now, OURS);
    const scratch = layoutOf(workspace).tmp;
    await commitOnly(now, { changed, message: 'workspace: made', scratch });
  });
  say(`Committed ${OURS.join(', ')}`);
  return OURS;
};
