import type { AsyncGit } from '../helpers/git-workspace.ts';
import type { RestPull } from './rest.ts';

/** The ways to merge that GitHub offers. */
export type MergeMethod = 'merge' | 'squash' | 'rebase';

type Method = (git: AsyncGit, pull: RestPull, by: string) => Promise<string>;

interface NewCommit {
  by: string;
  parents: string[];
  tree: string;
  message: string;
}

const commitTree = async (git: AsyncGit, commit: NewCommit): Promise<string> => {
  const { by, parents, tree, message } = commit;
  const author = ['-c', `user.name=${by}`, '-c', `user.email=${by}@example.com`];
  const of = parents.flatMap((parent) => ['-p', parent]);
  return (await git(...author, 'commit-tree', tree, ...of, '-m', message)).trim();
};

const mergedTree = async (git: AsyncGit, one: string, other: string): Promise<string> =>
  (await git('merge-tree', '--write-tree', one, other)).trim();

/** The commit of a merge, made as GitHub makes it: squash and rebase leave no commit of the branch in the base. */
export const mergeBy: Record<MergeMethod, Method> = {
  merge: async (git, { number, base, head }, by) => {
    const tree = await mergedTree(git, base.sha, head.sha);
    const message = `Merge pull request #${number} from ${head.label}`;
    return commitTree(git, { by, parents: [base.sha, head.sha], tree, message });
  },
  squash: async (git, { number, title, base, head }, by) => {
    const tree = await mergedTree(git, base.sha, head.sha);
    return commitTree(git, { by, parents: [base.sha], tree, message: `${title} (#${number})` });
  },
  rebase: async (git, { base, head }, by) => {
    const range = ['--reverse', '--no-merges', `${base.sha}..${head.sha}`];
    let onto = base.sha;
    for (const commit of (await git('rev-list', ...range)).split('\n').filter(Boolean)) {
      // A commit with the tree of `onto` beside it, so that only the change of this commit is merged.
      const beside = { by, parents: [`${commit}^`], tree: `${onto}^{tree}`, message: 'beside' };
      const tree = await mergedTree(git, await commitTree(git, beside), commit);
      const message = await git('show', '--no-patch', '--format=%B', commit);
      onto = await commitTree(git, { by, parents: [onto], tree, message });
    }
    return onto;
  },
};
