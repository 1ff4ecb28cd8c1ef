import { type CommitBody, commitBodies } from '../commits.ts';
import type { RestPull } from '../rest.ts';
import { rollupOf } from './checks.ts';
import { connection } from './connection.ts';
import type { Node, Scope } from './scope.ts';

export const commitNode = (scope: Scope, oid: string, body?: CommitBody): Node => ({
  __typename: 'Commit',
  id: `C_${oid}`,
  oid,
  abbreviatedOid: oid.slice(0, 7),
  message: body?.commit.message ?? '',
  messageHeadline: body?.commit.message.split('\n')[0] ?? '',
  messageBody: '',
  committedDate: body?.commit.author.date,
  authoredDate: body?.commit.author.date,
  url: body?.html_url,
  author: {
    __typename: 'GitActor',
    name: body?.commit.author.name,
    date: body?.commit.author.date,
    user: null,
  },
  authors: connection('authors', () => []),
  statusCheckRollup: () => rollupOf(scope, oid),
});

export const commitNodes = async (scope: Scope, pull: RestPull): Promise<Node[]> => {
  const range = `${pull.base.sha}..${pull.head.sha}`;
  const bodies = await commitBodies(scope.world, scope.name, ['--reverse', range]);
  return bodies.map((body) => ({
    __typename: 'PullRequestCommit',
    id: `PRC_${body.sha}`,
    commit: commitNode(scope, body.sha, body),
  }));
};
