import type { RestIssue, RestPull } from '../rest.ts';
import type { World } from '../world.ts';

/** Any object that the schema's fields are read from; a function among its values is a field's resolver. */
export type Node = Record<string, unknown> & { __typename: string };

/** Whose question it is, of which repository; and the nodes that refer to one another, each in its own file. */
export interface Scope {
  world: World;
  login: string;
  /** The repository's full name. */
  name: string;
  issue(of: RestIssue): Node;
  pull(of: RestPull): Node;
  repository(): Promise<Node>;
}
