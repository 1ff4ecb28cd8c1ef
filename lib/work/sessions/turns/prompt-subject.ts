import { messageOf } from '../../../../store/base/attempt.ts';
import { StoreError } from '../../../../store/base/errors.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import { keepImage, keptImage } from '../../../../store/codehost/images.ts';
import { lastLink } from '../../../../store/codehost/link-index.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { IssueLinkMatter } from '../../../../store/records/link.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import type { PromptParts } from '../../../agents/provider.ts';
import { type HostedNeeds, hostOf } from '../../../code/projects/hosted-repository.ts';
import type { GitNeeds } from '../../../code/worktrees/needs.ts';
import { conflictWords } from '../../../code/worktrees/rebase/conflict-prompt.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { imagesIn } from '../../issue-text/images.ts';
import { linkedIn } from '../../issue-text/named.ts';
import type { Engine } from '../live/engine.ts';
import type { SessionNeeds } from '../live/needs.ts';

/**
 * What a session is told besides its Work item: the issue that it came from; of its own type, the conflict that it resolves
 * or the reviews that it addresses.
 */
export const aboutOf = async (
  service: SessionNeeds,
  kept: StoredSession,
  worktree: WorktreeRecord,
): Promise<Pick<PromptParts, 'issue' | 'images' | 'links' | 'conflict' | 'reviews'>> => {
  const reviews = service.engine.words.get(kept.session.type)?.(kept);
  const issue = issueOf(service.store, kept.session.case_id);
  return {
    ...(await conflictOf(service, kept, worktree)),
    ...(issue !== undefined && {
      issue: `${issue.repository}#${issue.number}`,
      ...(await issueParts(service, kept, issue)),
    }),
    ...(reviews !== undefined && { reviews }),
  };
};

/** What a session that resolves conflicts is told of them; nothing for any other. */
const conflictOf = async (
  service: GitNeeds,
  { session }: StoredSession,
  worktree: WorktreeRecord,
): Promise<Pick<PromptParts, 'conflict'>> =>
  session.type === CONFLICT ? { conflict: await conflictWords(service, worktree) } : {};

// A link that cannot be read keeps no session from its work.
const issueOf = (store: Store, caseId: string): IssueLinkMatter | undefined => {
  try {
    return lastLink(store, caseId).issue;
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
};

const MOST_IMAGES = 10;

/**
 * What an issue brings besides its words: the links, by whole addresses, and the images, which the daemon has read from
 * the code host: what runs in the sandbox may have no way there. They are read in Plan mode, once each, and kept. One
 * that is not had is told, and holds nothing up.
 */
const issueParts = async (
  service: SessionNeeds,
  kept: StoredSession,
  issue: IssueLinkMatter,
): Promise<Pick<PromptParts, 'images' | 'links'>> => {
  const item = await readCase(service.store, kept.session.case_id);
  if (item === undefined) return {};
  const urls = imagesIn(item.description);
  const from = { item, host: issue.host ?? 'github.com', fetches: kept.session.mode === 'plan' };
  const images = await Promise.all(
    urls.slice(0, MOST_IMAGES).map((url) => imageAt(service, url, from)),
  );
  for (const url of urls.slice(MOST_IMAGES)) images.push({ url, missing: TOO_MANY });
  for (const { url, missing } of images)
    if (missing !== undefined) note(service.engine, kept, { url, why: missing });
  return { images, links: linkedIn(item.description, issue) };
};

const TOO_MANY = `only the first ${MOST_IMAGES} are read`;

interface Origin {
  item: Case;
  host: string;
  /** Whether what is not kept yet is asked for. */
  fetches: boolean;
}

type Image = NonNullable<PromptParts['images']>[number];

const imageAt = async (service: HostedNeeds, url: string, from: Origin): Promise<Image> => {
  const { item, fetches } = from;
  try {
    const known = keptImage(service.store, item.id, url);
    if (known !== undefined) return { url, ...known };
    if (!fetches) return { url, missing: 'it was not had when the plan was made' };
    return await fetchImage(service, url, from);
  } catch (error) {
    return { url, missing: messageOf(error) };
  }
};

// link.md is a file: what it calls a host gets no token that is not meant for it.
const fetchImage = async (
  service: HostedNeeds,
  url: string,
  { item, host }: Origin,
): Promise<Image> => {
  if ((await hostOf(service, item.project)) !== host)
    return { url, missing: `${host} is not the code host of its project` };
  const bytes = await service.codeHost().image(host, url);
  const isOne = await keepImage(service.store, item.id, { url, bytes });
  const known = keptImage(service.store, item.id, url);
  return isOne && known !== undefined
    ? { url, ...known }
    : { url, missing: 'it is no PNG, JPEG, GIF or WebP' };
};

const note = (engine: Engine, kept: StoredSession, raw: { url: string; why: string }): void =>
  engine.transcript(kept).append('agent_event', { kind: 'image_not_loaded', raw });
