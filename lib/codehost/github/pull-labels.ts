import type { LabelRule } from '../code-host.ts';
import { apiPath, hostClient, type RepositoryContext } from './client.ts';
import { hasErrorCode } from './problem.ts';
import { pullToWrite } from './pulls.ts';

/**
 * Changes the labels of a pull request: adds those that are missing and removes the others that were read, so that one which a
 * bot adds meanwhile stays. Returns those that it has then. `codehost_not_found` if the number is that of an issue.
 */
export const setLabels = async (
  place: RepositoryContext,
  number: number,
  rule: LabelRule,
): Promise<string[]> => {
  const { labels: before } = await pullToWrite(place, number);
  const wanted = rule(before);
  const missing = without(wanted, before);
  const { api } = await hostClient(place);
  const at = { ...apiPath(place), issue_number: number };
  let now = before;
  if (missing.length > 0) {
    const { data } = await api.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', {
      ...at,
      labels: missing,
    });
    now = data.map(({ name }) => name);
  }
  for (const label of without(before, wanted)) now = await unlabel(place, at, { label, now });
  return now;
};

// The host ignores the case of labels.
const without = (labels: readonly string[], others: readonly string[]): string[] => {
  const left = new Set(others.map((label) => label.toLowerCase()));
  return labels.filter((label) => !left.has(label.toLowerCase()));
};

const unlabel = async (
  place: RepositoryContext,
  at: { owner: string; repo: string; issue_number: number },
  { label, now }: { label: string; now: string[] },
): Promise<string[]> => {
  const { api } = await hostClient(place);
  try {
    const { data } = await api.request(
      'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
      { ...at, name: label },
    );
    return data.map(({ name }) => name);
  } catch (error) {
    // Others removed it since the pull request was read.
    if (hasErrorCode(error, 'codehost_not_found')) return without(now, [label]);
    throw error;
  }
};
