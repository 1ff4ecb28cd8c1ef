import type { RepositoryName } from '../code-host.ts';
import type { Client, Desk } from './client.ts';

/** A repository, and who asks about it. */
export interface Place {
  name: RepositoryName;
  desk: Desk;
}

export const clientOf = ({ name, desk }: Place): Promise<Client> => desk.client(name.host);

/** As REST's routes name it. */
export const pathOf = ({ name }: Place): { owner: string; repo: string } => ({
  owner: name.owner,
  repo: name.name,
});

/** As GraphQL's documents do. */
export const variablesOf = ({ name }: Place): { owner: string; name: string } => ({
  owner: name.owner,
  name: name.name,
});

export const fullNameOf = ({ owner, name }: Pick<RepositoryName, 'owner' | 'name'>): string =>
  `${owner}/${name}`;

/** GitHub tells no upper from lower case in names. */
export const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** As many to a page as GitHub gives. */
export const PER_PAGE = { per_page: 100 } as const;
