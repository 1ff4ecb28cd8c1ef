import type { RepositoryName } from './code-host.ts';

/** A repository of a host by the name that both write it with, `owner/name`. */
export const repositoryNamed = (host: string, full_name: string): RepositoryName => {
  const [owner = '', name = ''] = full_name.split('/');
  return { host, owner, name };
};
