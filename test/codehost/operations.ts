const REPO = '/repos/{owner}/{repo}';

/**
 * What the tests may see asked of GitHub: path template, then methods. A call that is not here is a finding of the
 * judge. After a change: `npm run codehost:schema`. No write to an issue is here but a comment, and no merge.
 */
export const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  '/meta': ['get'],
  '/rate_limit': ['get'],
  '/user': ['get'],
  '/search/issues': ['get'],
  [REPO]: ['get'],
  [`${REPO}/actions/jobs/{job_id}`]: ['get'],
  [`${REPO}/actions/jobs/{job_id}/logs`]: ['get'],
  [`${REPO}/actions/runs`]: ['get'],
  [`${REPO}/actions/runs/{run_id}/jobs`]: ['get'],
  [`${REPO}/assignees`]: ['get'],
  [`${REPO}/assignees/{assignee}`]: ['get'],
  [`${REPO}/branches`]: ['get'],
  [`${REPO}/branches/{branch}`]: ['get'],
  [`${REPO}/check-runs/{check_run_id}/annotations`]: ['get'],
  [`${REPO}/collaborators`]: ['get'],
  [`${REPO}/collaborators/{username}/permission`]: ['get'],
  [`${REPO}/commits/{ref}/check-runs`]: ['get'],
  [`${REPO}/commits/{ref}/status`]: ['get'],
  [`${REPO}/commits/{ref}/statuses`]: ['get'],
  [`${REPO}/issues`]: ['get'],
  [`${REPO}/issues/comments/{comment_id}`]: ['get', 'patch'],
  [`${REPO}/issues/{issue_number}`]: ['get'],
  [`${REPO}/issues/{issue_number}/comments`]: ['get', 'post'],
  // Of a pull request: GitHub counts it as an issue here.
  [`${REPO}/issues/{issue_number}/labels`]: ['get', 'post'],
  [`${REPO}/issues/{issue_number}/labels/{name}`]: ['delete'],
  [`${REPO}/issues/{issue_number}/timeline`]: ['get'],
  [`${REPO}/labels`]: ['get'],
  [`${REPO}/milestones`]: ['get'],
  [`${REPO}/pulls`]: ['get', 'post'],
  [`${REPO}/pulls/{pull_number}`]: ['get', 'patch'],
  [`${REPO}/pulls/{pull_number}/comments`]: ['get'],
  [`${REPO}/pulls/{pull_number}/comments/{comment_id}/replies`]: ['post'],
  [`${REPO}/pulls/{pull_number}/commits`]: ['get'],
  [`${REPO}/pulls/{pull_number}/files`]: ['get'],
  [`${REPO}/pulls/{pull_number}/requested_reviewers`]: ['get', 'post'],
  [`${REPO}/pulls/{pull_number}/reviews`]: ['get'],
  [`${REPO}/pulls/{pull_number}/reviews/{review_id}`]: ['get'],
  [`${REPO}/pulls/{pull_number}/reviews/{review_id}/comments`]: ['get'],
};
