import type { ExtractedIssue } from '../../../store/records/extracted.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import { hostedRepositoryOf } from '../../code/projects/hosted-repository.ts';
import { checkProject } from '../../code/projects/project.ts';
import { badField } from '../../errors.ts';
import { extractIssue } from '../../work/issue-text/extract.ts';

interface Extraction {
  body?: string;
  number?: number;
  project?: string;
}

/** Takes a text apart that is given, or that of an issue on the host. */
export const extractFrom = async (
  service: HostedNeeds,
  { body, number, project }: Extraction,
): Promise<ExtractedIssue> => {
  if ((body === undefined) === (number === undefined))
    throw badField('/body', 'either this or number', EITHER);
  if (number === undefined) return extractIssue(body ?? '');
  checkProject(service, project);
  const issue = await (await hostedRepositoryOf(service, project)).issue(number);
  return extractIssue(issue.body, issue.title);
};

const EITHER = 'Give a body or the number of an issue, and not both.';
