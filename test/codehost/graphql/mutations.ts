import { readPull } from '../pulls.ts';
import type { RestComment } from '../rest.ts';
import { mayWrite, tell, type World } from '../world.ts';
import { hostError } from './connection.ts';
import { pullNode, pullWithId } from './pull.ts';
import { lineNode, threadNodes, threadOf } from './review.ts';
import type { Node, Scope } from './scope.ts';

type Input<T> = { input: T & { clientMutationId?: string | null } };

/** What the fake lets be changed through GraphQL; each takes effect in the emulated host, or beside it. */
export const mutations = (world: World, login: string, scopeOf: (name: string) => Scope) => ({
  markPullRequestReadyForReview: (given: Input<{ pullRequestId: string }>) =>
    setDraft(given, { scopes: scopesOf(world, scopeOf), draft: false }),
  convertPullRequestToDraft: (given: Input<{ pullRequestId: string }>) =>
    setDraft(given, { scopes: scopesOf(world, scopeOf), draft: true }),
  resolveReviewThread: (given: Input<{ threadId: string }>) =>
    resolve(given, { world, scopeOf, login, resolved: true }),
  unresolveReviewThread: (given: Input<{ threadId: string }>) =>
    resolve(given, { world, scopeOf, login, resolved: false }),
  addPullRequestReviewThreadReply: (
    given: Input<{ pullRequestReviewThreadId: string; body: string }>,
  ) => reply(given, { world, scopeOf, login }),
});

const scopesOf = ({ repositories }: World, scopeOf: (name: string) => Scope): Scope[] =>
  [...repositories.keys()].map(scopeOf);

const noNode = (id: string) =>
  hostError('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);

const FORBIDDEN = 'Resource not accessible by personal access token';

const setDraft = async (
  { input }: Input<{ pullRequestId: string }>,
  { scopes, draft }: { scopes: Scope[]; draft: boolean },
): Promise<Record<string, unknown>> => {
  const { pullRequestId: id, clientMutationId } = input;
  for (const scope of scopes) {
    const number = await pullWithId(scope, id);
    if (number === undefined) continue;
    const { world, name, login } = scope;
    if (!mayWrite(world, login)) throw hostError('FORBIDDEN', FORBIDDEN);
    const before = await readPull(world, name, number);
    if (before?.state !== 'open') throw hostError('UNPROCESSABLE', 'Pull request is closed');
    await world.emulated.read('PATCH', `/repos/${name}/pulls/${number}`, { body: { draft } });
    tellOf(scope, number, { draft, was: before.draft });
    const pull = await readPull(world, name, number);
    return { clientMutationId, pullRequest: pull && pullNode(scope, pull) };
  }
  throw noNode(id);
};

const tellOf = (
  { world, login, name }: Scope,
  number: number,
  { draft, was }: { draft: boolean; was: boolean },
): void => {
  if (draft === was) return;
  const event = draft ? 'ConvertToDraftEvent' : 'ReadyForReviewEvent';
  tell(world, { repository: name, number, event, actor: login, more: {} });
};

interface Asked {
  world: World;
  scopeOf: (name: string) => Scope;
  login: string;
}

const threadAt = async (id: string, { world, scopeOf, login }: Asked) => {
  const at = threadOf(world, id);
  if (at === undefined) throw noNode(id);
  const scope = scopeOf(at.name);
  // The rights that GitHub asks for here are those to the contents, and its message does not say so.
  if (!mayWrite(scope.world, login)) throw hostError('FORBIDDEN', FORBIDDEN);
  return { ...at, scope };
};

const resolve = async (
  { input }: Input<{ threadId: string }>,
  asked: Asked & { resolved: boolean },
): Promise<Record<string, unknown>> => {
  const { threadId: id, clientMutationId } = input;
  const { scope, number } = await threadAt(id, asked);
  if (asked.resolved) scope.world.resolved.add(id);
  else scope.world.resolved.delete(id);
  return { clientMutationId, thread: await threadNode(scope, number, id) };
};

const threadNode = async (scope: Scope, number: number, id: string): Promise<Node> => {
  const found = (await threadNodes(scope, number)).find((thread) => thread.id === id);
  if (found === undefined) throw noNode(id);
  return found;
};

const reply = async (
  { input }: Input<{ pullRequestReviewThreadId: string; body: string }>,
  asked: Asked,
): Promise<Record<string, unknown>> => {
  const { pullRequestReviewThreadId: id, body, clientMutationId } = input;
  const { scope, number, root, name } = await threadAt(id, asked);
  const path = `/repos/${name}/pulls/${number}/comments`;
  const made = await scope.world.emulated.read<RestComment>('POST', path, {
    as: asked.login,
    body: { body, in_reply_to_id: root },
  });
  return { clientMutationId, comment: lineNode(scope, made) };
};
