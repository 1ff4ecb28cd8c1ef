import { readFileSync } from 'node:fs';
import { buildASTSchema, type GraphQLSchema, parse } from 'graphql';

let built: GraphQLSchema | undefined;

/** GitHub's own schema; built when it is first needed (a quarter of a second), once for a process. */
export const githubSchema = (): GraphQLSchema => {
  built ??= buildASTSchema(parse(source(), { noLocation: true }), { assumeValid: true });
  return built;
};

const source = (): string =>
  readFileSync(new URL('./schema.graphql', import.meta.resolve('@octokit/graphql-schema')), 'utf8');
