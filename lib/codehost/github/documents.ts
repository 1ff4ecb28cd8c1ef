/**
 * All documents that may be sent to GitHub's GraphQL API; any other text is refused. A test validates them against
 * GitHub's schema. `$cursor` is the start of the next page. Aliases give fields the names of our records.
 */

const ISSUE = `fragment OneIssue on Issue {
  number node_id: id url title body state state_reason: stateReason
  created_at: createdAt updated_at: updatedAt closed_at: closedAt
  author { login }
  labels(first: 100) { nodes { name } }
  assignees(first: 100) { nodes { login } }
  milestone { title }
  comments { totalCount }
}`;

const PULL = `fragment OnePull on PullRequest {
  number node_id: id url title body state isDraft mergeable reviewDecision
  head_ref: headRefName isCrossRepository headRepositoryOwner { login } head_sha: headRefOid base_ref: baseRefName
  created_at: createdAt updated_at: updatedAt merged_at: mergedAt closed_at: closedAt
  mergeCommit { oid }
  author { login }
  labels(first: 100) { nodes { name } }
  commits(last: 1) { totalCount nodes { commit { oid statusCheckRollup { state } } } }
}`;

const LINKED = 'number title url state isDraft repository { nameWithOwner }';

const THREAD_COMMENT = `fragment OneComment on PullRequestReviewComment {
  body url created_at: createdAt own: viewerDidAuthor
  author { login }
}`;

const OF_REPOSITORY = '$owner: String!, $name: String!';
const REPOSITORY = 'repository(owner: $owner, name: $name)';
const PAGE = 'pageInfo { hasNextPage endCursor }';

export const COUNT_ISSUES = `query CountIssues(${OF_REPOSITORY}) {
  ${REPOSITORY} { issues(states: OPEN) { totalCount } }
}`;

/** The maximum number of issues in one query. */
export const BATCH = 50;

const issueBatch = (size: number): string => {
  const each = Array.from({ length: size }, (_, at) => at);
  return `query Issues(${OF_REPOSITORY}, ${each.map((at) => `$n${at}: Int!`).join(', ')}) {
  ${REPOSITORY} {
    nameWithOwner
${each.map((at) => `    i${at}: issue(number: $n${at}) { ...OneIssue }`).join('\n')}
  }
}
${ISSUE}`;
};

/** `ISSUE_BATCHES[n - 1]` queries n issues as `i0`, `i1`, …, by their numbers `$n0`, `$n1`, …. */
export const ISSUE_BATCHES: readonly string[] = Array.from({ length: BATCH }, (_, at) =>
  issueBatch(at + 1),
);

export const CLOSING_PULLS = `query ClosingPulls(${OF_REPOSITORY}, $number: Int!, $cursor: String) {
  ${REPOSITORY} {
    issue(number: $number) {
      closedByPullRequestsReferences(first: 100, after: $cursor, includeClosedPrs: true) {
        nodes { ${LINKED} }
        ${PAGE}
      }
    }
  }
}`;

export const MENTIONING_PULLS = `query MentioningPulls(${OF_REPOSITORY}, $number: Int!, $cursor: String) {
  ${REPOSITORY} {
    issue(number: $number) {
      timelineItems(first: 100, after: $cursor, itemTypes: [CROSS_REFERENCED_EVENT]) {
        nodes { ... on CrossReferencedEvent { source { ... on PullRequest { ${LINKED} } } } }
        ${PAGE}
      }
    }
  }
}`;

export const PULL_REQUEST = `query PullRequest(${OF_REPOSITORY}, $number: Int!) {
  ${REPOSITORY} { pullRequest(number: $number) { ...OnePull } }
}
${PULL}`;

export const COMMIT_CHECKS = `query CommitChecks(${OF_REPOSITORY}, $oid: GitObjectID!) {
  ${REPOSITORY} { object(oid: $oid) { ... on Commit { oid statusCheckRollup { state } } } }
}`;

export const PULL_EVENTS = `query PullEvents(${OF_REPOSITORY}, $number: Int!, $cursor: String) {
  ${REPOSITORY} {
    pullRequest(number: $number) {
      timelineItems(first: 100, after: $cursor, itemTypes: [
        READY_FOR_REVIEW_EVENT, CONVERT_TO_DRAFT_EVENT, CLOSED_EVENT, REOPENED_EVENT, MERGED_EVENT,
        HEAD_REF_FORCE_PUSHED_EVENT, PULL_REQUEST_COMMIT, PULL_REQUEST_REVIEW, RENAMED_TITLE_EVENT
      ]) {
        nodes {
          __typename
          ... on ReadyForReviewEvent { id createdAt actor { login } }
          ... on ConvertToDraftEvent { id createdAt actor { login } }
          ... on ClosedEvent { id createdAt actor { login } }
          ... on ReopenedEvent { id createdAt actor { login } }
          ... on MergedEvent { id createdAt actor { login } }
          ... on HeadRefForcePushedEvent { id createdAt actor { login } afterCommit { oid } }
          ... on PullRequestCommit { id pushed: commit { oid committedDate author { user { login } } } }
          ... on PullRequestReview { id createdAt submittedAt author { login } commit { oid } }
          ... on RenamedTitleEvent { id createdAt actor { login } }
        }
        ${PAGE}
      }
    }
  }
}`;

export const THREADS = `query Threads(${OF_REPOSITORY}, $number: Int!, $cursor: String) {
  ${REPOSITORY} {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $cursor) {
        nodes {
          node_id: id resolved: isResolved outdated: isOutdated path line start_line: startLine
          comments(first: 100) { nodes { ...OneComment } ${PAGE} }
        }
        ${PAGE}
      }
    }
  }
}
${THREAD_COMMENT}`;

/** The comments of a thread after its first hundred. */
export const THREAD_COMMENTS = `query ThreadComments($thread: ID!, $cursor: String) {
  node(id: $thread) {
    ... on PullRequestReviewThread {
      comments(first: 100, after: $cursor) { nodes { ...OneComment } ${PAGE} }
    }
  }
}
${THREAD_COMMENT}`;

export const MARK_READY = `mutation MarkReady($id: ID!) {
  markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { ...OnePull } }
}
${PULL}`;

export const RESOLVE_THREAD = `mutation ResolveThread($thread: ID!) {
  resolveReviewThread(input: { threadId: $thread }) { thread { isResolved } }
}`;

export const QUERIES: ReadonlySet<string> = new Set([
  COUNT_ISSUES,
  ...ISSUE_BATCHES,
  CLOSING_PULLS,
  MENTIONING_PULLS,
  PULL_REQUEST,
  COMMIT_CHECKS,
  PULL_EVENTS,
  THREADS,
  THREAD_COMMENTS,
]);

/** All mutations. None merges, and none that merges may be added. */
export const MUTATIONS: ReadonlySet<string> = new Set([MARK_READY, RESOLVE_THREAD]);
