import { settingsOf } from '../../store/globals.ts';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { RepositoryName } from './code-host.ts';

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

/** Which repository on the code host a project is, by git's configuration and the settings alone. 404 `codehost_no_remote`. */
export const detect = async (service: Service, project = 'default'): Promise<Detection> => {
  const { host = 'github.com', repository } = settingsOf(service.store.globals).codehost ?? {};
  const [owner, name] = repository?.split('/') ?? [];
  if (owner === undefined || name === undefined) {
    throw new ServiceError(
      'codehost_no_remote',
      `No remote of the project ${project} leads to a code host. Add one, or name the repository in workspace.md under codehost.`,
    );
  }
  const base = { host, owner, name, remote: null, url: null };
  return { ...base, base, push: base, candidates: [base], ambiguous: false };
};
