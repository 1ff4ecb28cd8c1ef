import type { RepositoryName } from '../code-host.ts';
import type { HostClient, HostSettings } from './client.ts';

/** A repository, and who asks about it. */
export interface RemoteRepositoryAccess {
  name: RepositoryName;
  desk: HostSettings;
}

export const hostClient = ({ name, desk }: RemoteRepositoryAccess): Promise<HostClient> =>
  desk.client(name.host);

/** As REST's routes name it. */
export const apiPath = ({ name }: RemoteRepositoryAccess): { owner: string; repo: string } => ({
  owner: name.owner,
  repo: name.name,
});

/** As GraphQL's documents do. */
export const variablesOf = ({ name }: RemoteRepositoryAccess): { owner: string; name: string } => ({
  owner: name.owner,
  name: name.name,
});

export const fullNameOf = ({ owner, name }: Pick<RepositoryName, 'owner' | 'name'>): string =>
  `${owner}/${name}`;

/** GitHub tells no upper from lower case in names. */
export const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** As many to a page as GitHub gives. */
export const PER_PAGE = { per_page: 100 } as const;
