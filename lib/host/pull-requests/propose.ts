import { sha256 } from '../../../store/base/sha256.ts';
import type { StoredPull } from '../../../store/codehost/pulls.ts';
import { hostedRepositoryNamed } from '../../code/projects/hosted-repository.ts';
import type { HostedRepository, Pull } from '../../codehost/code-host.ts';
import { ServiceError } from '../../errors.ts';
import type { PullNeeds } from './current.ts';
import { recordPull, warningOf, writeOnce } from './record.ts';
import { addTransitions, opened, transitionsOf } from './timeline.ts';
import type { Where } from './where.ts';

interface Proposal {
  title: string;
  body: string;
  base: string;
  draft: boolean;
  labels: readonly string[];
  head: { owner: string; branch: string; commit: string };
  where: Where;
}

interface Proposed {
  kept: StoredPull;
  adopted: boolean;
  warnings: string[];
}

/**
 * Opens a pull request of a branch that is pushed, and records it. An open one of the branch is adopted as it is: nothing
 * that is published is rewritten.
 */
export const propose = async (
  { codeHost, store }: PullNeeds,
  caseId: string,
  proposal: Proposal,
): Promise<Proposed> => {
  const { where, head } = proposal;
  const hosted = hostedRepositoryNamed(codeHost, where.base);
  const { pull, adopted } = await open(hosted, proposal);
  const warnings = adopted ? differences(pull, proposal) : [];
  const labels = adopted ? pull.labels : await labelled(hosted, pull, { proposal, warnings });
  const besides = {
    ...{ head_owner: head.owner, remote: where.push.remote, pushed_commit: head.commit, labels },
    head_in_sync: pull.head_sha === head.commit,
    published_sha256: sha256(pull.body),
  };
  const kept = await recordPull(store, caseId, { name: hosted.name, pull, besides });
  const observed = { observed_at: kept.matter.synced_at ?? '', source: 'service' as const };
  const known = adopted
    ? await hosted.pullEvents(pull.number).then(
        (events) => transitionsOf(pull, events, observed),
        (error: unknown) => {
          warnings.push(warningOf('What happened to it before is not known yet', error));
          return [];
        },
      )
    : [opened(pull, pull.state, { ...observed, head_sha: pull.head_sha })];
  await addTransitions(store, caseId, known);
  return { kept, adopted, warnings };
};

interface Opened {
  pull: Pull;
  adopted: boolean;
}

const open = async (
  hosted: HostedRepository,
  { where, head, base, title, body, draft }: Proposal,
): Promise<Opened> => {
  const find = async (): Promise<Pull | undefined> => hosted.findPull(head);
  const known = await find();
  if (known !== undefined) return { pull: known, adopted: true };
  const isFork = where.base.owner.toLowerCase() !== head.owner.toLowerCase();
  const from = isFork ? `${head.owner}:${head.branch}` : head.branch;
  try {
    const write = () => hosted.createPull({ title, body, head: from, base, draft });
    return { pull: await writeOnce(write, find), adopted: false };
  } catch (error) {
    // Somebody was faster, between the look and the write.
    const theirs = isRefused(error) ? await find() : undefined;
    if (theirs === undefined) throw draft ? withoutDrafts(error) : error;
    return { pull: theirs, adopted: true };
  }
};

const isRefused = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'codehost_rejected';

// Not every plan has drafts for private repositories. One that is ready at once asks people for reviews.
const withoutDrafts = (error: unknown): unknown =>
  isRefused(error) && /draft/i.test(error.message)
    ? new ServiceError(
        error.code,
        `${error.message} If this repository has no drafts and the pull request may be ready for review at once, send {"draft": false}.`,
        { members: error.members, cause: error },
      )
    : error;

const differences = (pull: Pull, { base, title }: Proposal): string[] => [
  ...(pull.base_ref === base ? [] : [`It is proposed for ${pull.base_ref}, not for ${base}.`]),
  ...(pull.title === title ? [] : [`Its title stays: ${pull.title}`]),
];

const labelled = async (
  hosted: HostedRepository,
  pull: Pull,
  { proposal: { labels }, warnings }: { proposal: Proposal; warnings: string[] },
): Promise<string[]> => {
  if (labels.length === 0) return pull.labels;
  try {
    await hosted.setLabels(pull.number, labels);
    return [...labels];
  } catch (error) {
    warnings.push(warningOf('Its labels were not set', error));
    return pull.labels;
  }
};
