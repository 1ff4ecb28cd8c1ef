import { readCase } from '../../../../store/cases.ts';
import { keepImage, keptImage } from '../../../../store/links/images.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { IssueLinkMatter } from '../../../../store/records/link.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { PromptParts } from '../../../agents/provider.ts';
import { messageOf } from '../../../agents/run-end.ts';
import type { HostedNeeds } from '../../../code/projects/hosted.ts';
import { hostOf } from '../../../code/projects/hosted.ts';
import { imagesIn } from '../../issue-text/images.ts';
import { linkedIn } from '../../issue-text/linked.ts';
import type { Engine } from '../live/engine.ts';
import type { SessionNeeds } from '../live/needs.ts';

const MOST_IMAGES = 10;

/**
 * What an issue brings besides its words: the links, by whole addresses, and the images, which the daemon has read from
 * the code host: what runs in the sandbox may have no way there. They are read in Plan mode, once each, and kept. One
 * that is not had is told, and holds nothing up.
 */
export const issueParts = async (
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
