import { fullName, type Handler, mending, passed, type Routes } from './handler.ts';
import { type Answer, fieldsOf, type RestComment, type RestReview } from './rest.ts';
import type { World } from './world.ts';

/** With the line that it was written on; `position` is the old name of a place in the difference. */
export const mendedComment = (world: World, comment: RestComment): RestComment => {
  const at = world.lines.get(comment.in_reply_to_id ?? comment.id) ?? world.lines.get(comment.id);
  const { in_reply_to_id, ...rest } = comment;
  const reply = in_reply_to_id == null ? {} : { in_reply_to_id };
  const links = linksOf(comment);
  if (at === undefined) return { ...rest, ...reply, ...links };
  const line = at.outdated ? null : at.line;
  const place = { line, original_line: at.line, start_line: at.start_line, side: 'RIGHT' };
  return {
    ...rest,
    ...reply,
    ...links,
    ...place,
    ...{ diff_hunk: at.diff_hunk, start_side: at.start_line === null ? null : 'RIGHT' },
    ...(at.outdated ? { position: null } : {}),
  };
};

const linksOf = (comment: RestComment): Record<string, unknown> => {
  const { url, pull_request_url } = comment as RestComment & Record<string, string>;
  const html = { href: comment.html_url };
  return { _links: { self: { href: url }, html, pull_request: { href: pull_request_url } } };
};

const comments: Handler = mending<RestComment[]>((world, all) =>
  all.map((each) => mendedComment(world, each)),
);

const REVIEW_KEYS = new Set([
  ...['id', 'node_id', 'user', 'body', 'state', 'html_url', 'pull_request_url', '_links'],
  ...['submitted_at', 'commit_id', 'author_association'],
]);

const shortReview = (review: RestReview): unknown =>
  Object.fromEntries(Object.entries(review).filter(([key]) => REVIEW_KEYS.has(key)));

const reply: Handler = async (world, ask, params): Promise<Answer> => {
  const { body } = fieldsOf(ask.body);
  const path = `/repos/${fullName(params)}/pulls/${params.pull_number}/comments`;
  const in_reply_to_id = Number(params.comment_id);
  const answer = await passed(world, { ...ask, path, body: { body, in_reply_to_id } });
  if (answer.status !== 201) return answer;
  const known = await world.emulated.read<RestComment>(
    'GET',
    `/repos/${fullName(params)}/pulls/comments/${in_reply_to_id}`,
  );
  const place = { path: known.path, position: known.position, original_position: known.position };
  const made = { ...(answer.body as RestComment), ...place } as RestComment;
  return { ...answer, body: mendedComment(world, made) };
};

const PULL = '/repos/{owner}/{repo}/pulls/{pull_number}';

export const reviewRoutes: Routes = {
  [`get ${PULL}/comments`]: comments,
  [`get ${PULL}/reviews`]: mending<RestReview[]>((_world, all) => all.map(shortReview)),
  [`get ${PULL}/reviews/{review_id}`]: mending<RestReview>((_world, one) => shortReview(one)),
  [`get ${PULL}/reviews/{review_id}/comments`]: comments,
  [`post ${PULL}/comments/{comment_id}/replies`]: reply,
};
