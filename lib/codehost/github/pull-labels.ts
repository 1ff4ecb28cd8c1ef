import { visible } from '../../../store/base/visible.ts';
import { afterDone, ServiceError } from '../../errors.ts';
import { type LabelRule, labelsWithout } from '../code-host.ts';
import { apiPath, hostClient, type RepositoryContext } from './client.ts';
import { hasErrorCode } from './problem.ts';
import { pullToWrite } from './pulls.ts';

/**
 * Changes the labels of a pull request: adds those that are missing and removes the others that were read, so that one which a
 * bot adds meanwhile stays. Returns those that it has then. `codehost_not_found` if the number is that of an issue,
 * `codehost_rejected` if the host has no path that removes a label.
 */
export const setLabels = async (
  place: RepositoryContext,
  number: number,
  rule: LabelRule,
): Promise<string[]> => {
  const { labels: before } = await pullToWrite(place, number);
  const wanted = rule(before);
  const missing = labelsWithout(wanted, before);
  const removed = labelsWithout(before, wanted);
  refuseDots(place, removed);
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
  for (const [index, label] of removed.entries())
    now = await afterDone(changed(missing, removed.slice(0, index)), () =>
      unlabel(place, at, label),
    );
  return now;
};

const changed = (added: readonly string[], removed: readonly string[]): string | undefined => {
  const done = [
    ...(added.length === 0 ? [] : [`${labelled(added)} added`]),
    ...(removed.length === 0 ? [] : [`${labelled(removed)} removed`]),
  ];
  return done.length === 0 ? undefined : done.join(' and ');
};

const labelled = (labels: readonly string[]): string => {
  const [what, were] = labels.length === 1 ? ['label', 'was'] : ['labels', 'were'];
  return `the ${what} ${labels.map(visible).join(', ')} ${were}`;
};

const refuseDots = ({ name: { host } }: RepositoryContext, removed: readonly string[]): void => {
  const label = removed.find((each) => each === '.' || each === '..');
  if (label === undefined) return;
  const detail = `The label ${label} cannot be removed by a request, because its name is a part of a path. Nothing was written. Remove it on ${host}.`;
  throw new ServiceError('codehost_rejected', detail, { members: { host_errors: [] } });
};

const unlabel = async (
  place: RepositoryContext,
  at: { owner: string; repo: string; issue_number: number },
  label: string,
): Promise<string[]> => {
  const { api } = await hostClient(place);
  try {
    const { data } = await api.request(
      'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
      { ...at, name: label },
    );
    return data.map(({ name }) => name);
  } catch (error) {
    if (!hasErrorCode(error, 'codehost_not_found')) throw error;
    // Others removed it since the pull request was read, or the token may not: GitHub answers both with 404.
    const { labels } = await pullToWrite(place, at.issue_number);
    if (labelsWithout([label], labels).length === 0) throw error;
    return labels;
  }
};
