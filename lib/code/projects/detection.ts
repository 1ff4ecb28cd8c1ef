import type { RepositoryName } from '../../codehost/code-host.ts';

/** A repository on the code host, and how git's configuration leads to it. */
export interface RemoteRepository extends RepositoryName {
  /** The remote of that name; null: the settings name the repository. */
  remote: string | null;
  /** As configured, without credentials; null like `remote`. */
  url: string | null;
}

/** Where pull requests go (`base`) and where branches are pushed (`push`): two repositories, where one is a fork. */
export interface Detection extends RepositoryName {
  /** That of `base`. */
  remote: string | null;
  base: RemoteRepository;
  push: RemoteRepository;
  candidates: RemoteRepository[];
  /** Several could be meant and nobody said which: `base` is the likeliest. */
  ambiguous: boolean;
}
