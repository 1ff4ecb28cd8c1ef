import { GraphQLError, type GraphQLFormattedError, graphql, parse, validate } from 'graphql';
import { userOf } from '../repositories.ts';
import { type Answer, fieldsOf, json } from '../rest.ts';
import type { World } from '../world.ts';
import { hostError } from './connection.ts';
import { issueNode } from './issue.ts';
import { mutations } from './mutations.ts';
import { userNode } from './people.ts';
import { pullAt, pullNode, pullWithId } from './pull.ts';
import { repositoryNode } from './repository.ts';
import { threadNodes, threadOf } from './review.ts';
import { githubSchema } from './schema.ts';
import type { Node, Scope } from './scope.ts';

/** What GitHub's GraphQL API answers: always 200, with errors beside what could be read. */
export const graphqlAnswer = async (
  world: World,
  login: string,
  body: unknown,
): Promise<Answer> => {
  const { query, variables, operationName } = fieldsOf(body);
  const result = await graphql({
    schema: githubSchema(),
    source: String(query ?? ''),
    rootValue: rootOf(world, login),
    variableValues: fieldsOf(variables),
    operationName: typeof operationName === 'string' ? operationName : null,
  });
  const errors = result.errors?.map(told);
  return json({ data: result.data ?? null, ...(errors === undefined ? {} : { errors }) });
};

/** What GitHub's schema says against a document; nothing when it is sound. */
export const documentFaults = (body: unknown): string[] => {
  try {
    const { query } = fieldsOf(body);
    return validate(githubSchema(), parse(String(query ?? ''))).map(({ message }) => message);
  } catch (error) {
    return [String(error)];
  }
};

/** GitHub tells an error's type beside its message, and nothing of a defect of ours. */
const told = (error: GraphQLError): GraphQLFormattedError & { type?: unknown } => {
  const { extensions, ...rest } = error.toJSON();
  const isOurs =
    error.originalError !== undefined && !(error.originalError instanceof GraphQLError);
  if (isOurs) throw error.originalError;
  return { ...(extensions?.type === undefined ? {} : { type: extensions.type }), ...rest };
};

const rootOf = (world: World, login: string) => {
  const scopeOf = (name: string): Scope => {
    const scope: Scope = {
      world,
      login,
      name,
      issue: (issue) => issueNode(scope, issue),
      pull: (pull) => pullNode(scope, pull),
      repository: () => repositoryNode(scope),
    };
    return scope;
  };
  return {
    ...mutations(world, login, scopeOf),
    viewer: async () => userNode(await userOf(world, login)),
    repository: ({ owner, name }: { owner: string; name: string }) =>
      scopeOf(world.renamed.get(`${owner}/${name}`) ?? `${owner}/${name}`).repository(),
    rateLimit: () => limitNode(world),
    node: ({ id }: { id: string }) => nodeWithId(world, scopeOf, id),
  };
};

const limitNode = ({ rate }: World): Node => ({
  __typename: 'RateLimit',
  limit: rate.limit,
  remaining: rate.remaining,
  used: rate.limit - rate.remaining,
  cost: 1,
  nodeCount: 1,
  resetAt: new Date(rate.reset * 1000).toISOString(),
});

/** A thread or a pull request by its id: so the rest of a long thread is read. */
const nodeWithId = async (
  world: World,
  scopeOf: (name: string) => Scope,
  id: string,
): Promise<Node> => {
  const at = threadOf(world, id);
  if (at !== undefined) {
    const threads = await threadNodes(scopeOf(at.name), at.number);
    const thread = threads.find((each) => each.id === id);
    if (thread !== undefined) return thread;
  }
  for (const name of world.repositories.keys()) {
    const number = await pullWithId(scopeOf(name), id);
    if (number !== undefined) return pullAt(scopeOf(name), number);
  }
  throw hostError('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
};
