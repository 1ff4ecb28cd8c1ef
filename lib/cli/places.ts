import { makeWorkspace } from '../../store/workspace-files.ts';
import type { Config } from '../config.ts';
import { isLoopbackAddress } from '../http/local-only.ts';
import { cleanEnvironment } from '../tools/environment.ts';
import { createGit } from '../tools/git/git.ts';
import { findRepository } from '../tools/git/repository.ts';
import { Refusal } from './refusal.ts';

/** Makes the workspace's directory if need be. Throws a Refusal when it cannot be one. */
export const checkWorkspace = ({ workspace }: Config): void => {
  const why = makeWorkspace(workspace);
  if (why !== undefined)
    throw new Refusal(`${workspace} ${why}. Give another directory with --workspace.`);
};

/** Throws a Refusal unless the repository that was named is one. */
export const checkRepository = async ({ repo, env }: Config): Promise<void> => {
  if (repo === undefined) return;
  const git = createGit({ env: cleanEnvironment(env) });
  if ((await findRepository(git, repo)) !== undefined) return;
  throw new Refusal(
    `${repo} is not a git repository. Run git init there, or name another one with --repo.`,
  );
};

/** Throws a Refusal on an address that others could reach. */
export const checkHost = ({ host }: Config): void => {
  if (isLoopbackAddress(host)) return;
  throw new Refusal(
    `${host} can be reached from other machines, and only this one may call the API. Use --host 127.0.0.1.`,
  );
};
