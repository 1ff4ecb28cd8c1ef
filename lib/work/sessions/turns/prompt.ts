import { join } from 'node:path';
import { messageOf, orElse } from '../../../../store/base/attempt.ts';
import { StoreError } from '../../../../store/base/errors.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import { listGlobalMemory, memoryFilesOf, memoryRootOf } from '../../../../store/cases/memory.ts';
import { readImage, saveImage } from '../../../../store/codehost/images.ts';
import { lastLink } from '../../../../store/codehost/link-index.ts';
import type { TextFile } from '../../../../store/front-matter/text-file.ts';
import { isPlain } from '../../../../store/fs/plain-path.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { IssueLinkMatter } from '../../../../store/records/link.ts';
import type { Told } from '../../../../store/records/told.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import { findTold, saveTold, untold } from '../../../../store/sessions/told.ts';
import type { Store } from '../../../../store/store.ts';
import type { PromptParts, ToldFile } from '../../../agents/provider.ts';
import { type HostedNeeds, hostOf } from '../../../code/projects/hosted-repository.ts';
import type { GitNeeds } from '../../../code/worktrees/needs.ts';
import { conflictPrompt } from '../../../code/worktrees/rebase/conflict-prompt.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { capText } from '../../../text/cap-text.ts';
import { counted, fairShare } from '../../../text/wording.ts';
import { imagesIn, linkedUrls } from '../../issue-text/references.ts';
import type { Engine } from '../live/engine.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { deliveredTexts } from './messages.ts';

/** The parts that differ by turn: in Work mode the approved plan verbatim. */
type TurnParts = Pick<PromptParts, 'plan' | 'partial' | 'feedback' | 'proposed'>;

/**
 * The prompt for a session of a Work item, with the messages that were delivered in its mode. The parts of the Work item are
 * limited, and say what was left out.
 */
export const promptFor = async (
  service: SessionNeeds,
  kept: StoredSession,
  worktree: WorktreeRecord,
  turn: TurnParts,
): Promise<PromptParts> => {
  const { store } = service;
  const caseId = kept.session.case_id;
  const before = deliveredTexts(service, kept);
  const isPlan = kept.session.mode === 'plan';
  const about = isPlan ? await tellBackground(service, kept) : toldBackground(service, kept);
  const folder = memoryRootOf(store, caseId)?.path ?? '';
  const memory = bounded(memoryFilesOf(store, caseId) ?? [], MEMORY_CHARACTERS, folder);
  const global_memory = bounded(listGlobalMemory(store), GLOBAL_CHARACTERS, store.layout.memory);
  const conflict = await conflictOf(service, kept, worktree);
  return { ...about, memory, global_memory, ...turn, ...before, ...conflict };
};

/** What others may have written, which is the same in both modes. */
type Background = Pick<
  PromptParts,
  'title' | 'type' | 'description' | 'issue' | 'images' | 'links' | 'reviews'
>;

/**
 * Reads the Work item, its issue and the reviews as they are now, and keeps them: text that comes after the plan was
 * not in what the operator approved, so Work mode does not get it.
 */
export const tellBackground = async (
  service: SessionNeeds,
  kept: StoredSession,
): Promise<Background> => {
  const { store, engine } = service;
  const { id, case_id } = kept.session;
  const item = await readCase(store, case_id);
  const { title = '', type = '', description = '' } = item ?? {};
  const { output } = capText(description, DESCRIPTION_CHARACTERS);
  const reviews = await engine.words.get(kept.session.type)?.tell(kept);
  const { images, ...issue } = await issueOfItem(service, kept, item);
  const words = reviews === undefined ? {} : { reviews };
  const about = { title, type, description: output, ...issue, ...words };
  const seen = images?.map(({ url, bytes, missing }) =>
    bytes === undefined ? { url, missing } : { url, sha256: sha256(bytes) },
  );
  await saveTold(store.layout, { session_id: id, ...about, ...(seen && { images: seen }) });
  return { ...about, ...(images && { images }) };
};

/** The same in Work mode, as it was for the plan; where that is not known, the agent gets the plan alone. */
const toldBackground = ({ store, engine }: SessionNeeds, kept: StoredSession): Background => {
  const { id, case_id } = kept.session;
  const told = findTold(store.layout, id);
  if (told === undefined) {
    engine.transcript(kept).append('error', { message: UNTOLD });
    return untold(case_id);
  }
  const { session_id: _, images, ...about } = told;
  return {
    ...about,
    ...(images && { images: images.map((image) => toldImage(store, case_id, image)) }),
  };
};

const UNTOLD =
  'The agent gets the approved plan without the text of the Work item and its reviews. This machine has no record of the text that the plan was made from, and newer text is not approved.';

const toldImage = (
  store: Store,
  caseId: string,
  { url, sha256: hash, missing = 'it is not the one that the plan was made from' }: ToldImage,
): Image => {
  const known = hash && orElse(() => readImage(store, caseId, url), undefined);
  return known && sha256(known.bytes) === hash ? { url, ...known } : { url, missing };
};

type ToldImage = NonNullable<Told['images']>[number];

// The API's limit; a description written by hand can be longer.
const DESCRIPTION_CHARACTERS = 262_144;
const MEMORY_CHARACTERS = 262_144;
// Every session of the workspace reads it, so it must not crowd out the Work item.
const GLOBAL_CHARACTERS = 65_536;
const MOST_FILES = 100;

/**
 * Keeps the beginning and end of long files, so that all together have at most `total` characters; short files stay
 * whole.
 */
export const bounded = (files: readonly TextFile[], total: number, folder: string): ToldFile[] => {
  const told = files.slice(0, MOST_FILES);
  const most = fairShare(
    told.map(({ content }) => content.length),
    total,
  );
  const texts = told.map(({ filename, content }) => {
    const { output, truncated } = capText(content, most);
    if (!truncated) return { filename, content: output };
    const path = join(folder, filename);
    return { filename, path, content: `${output}\n\n(The complete file is ${path}.)\n` };
  });
  const more = files.length - told.length;
  if (more === 0) return texts;
  const content = `${counted(more, 'more file')} in ${folder} left out here, from ${files[MOST_FILES]?.filename} on.\n`;
  return [...texts, { filename: 'more files', content, path: folder }];
};

/**
 * The workspace paths in the prompt, to be made readable in the sandbox. Symbolic links are left out because they lead
 * elsewhere.
 */
export const namedPaths = (
  { layout }: Pick<Store, 'layout'>,
  { images = [], memory, global_memory }: PromptParts,
): string[] =>
  [...images, ...memory, ...global_memory]
    .flatMap((told) => ('path' in told && told.path !== undefined ? [told.path] : []))
    .filter((path) => isPlain(layout.root, path));

/** The linked issue of a Work item. */
const issueOfItem = async (
  service: SessionNeeds,
  kept: StoredSession,
  item: Case | undefined,
): Promise<Pick<PromptParts, 'issue' | 'images' | 'links'>> => {
  const issue = issueOf(service.store, kept.session.case_id);
  if (issue === undefined) return {};
  return {
    issue: `${issue.repository}#${issue.number}`,
    ...(item !== undefined && (await issueParts(service, kept, issue, item))),
  };
};

/** The conflict, for a conflict session only. */
const conflictOf = async (
  service: GitNeeds,
  { session }: StoredSession,
  worktree: WorktreeRecord,
): Promise<Pick<PromptParts, 'conflict'>> =>
  session.type === CONFLICT ? { conflict: await conflictPrompt(service, worktree) } : {};

// An unreadable link does not stop a session.
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
 * The links of an issue as full addresses, and its images, which the daemon downloads because the sandbox may not reach
 * the code host. They are downloaded once, for a plan. A missing image is reported and stops nothing.
 */
const issueParts = async (
  service: SessionNeeds,
  kept: StoredSession,
  issue: IssueLinkMatter,
  item: Case,
): Promise<Pick<PromptParts, 'images' | 'links'>> => {
  const urls = imagesIn(item.description);
  const from = { item, host: issue.host ?? 'github.com' };
  const images = await Promise.all(
    urls.slice(0, MOST_IMAGES).map((url) => imageAt(service, url, from)),
  );
  for (const url of urls.slice(MOST_IMAGES)) images.push({ url, missing: TOO_MANY });
  for (const { url, missing } of images)
    if (missing !== undefined) note(service.engine, kept, { url, why: missing });
  return { images, links: linkedUrls(item.description, issue) };
};

const TOO_MANY = `only the first ${MOST_IMAGES} are read`;

interface Origin {
  item: Case;
  host: string;
}

type Image = NonNullable<PromptParts['images']>[number];

const imageAt = async (service: HostedNeeds, url: string, from: Origin): Promise<Image> => {
  try {
    const known = readImage(service.store, from.item.id, url);
    if (known !== undefined) return { url, ...known };
    return await fetchImage(service, url, from);
  } catch (error) {
    return { url, missing: messageOf(error) };
  }
};

// link.md is a file anyone may edit: only the project's own code host receives the token.
const fetchImage = async (
  service: HostedNeeds,
  url: string,
  { item, host }: Origin,
): Promise<Image> => {
  if ((await hostOf(service, item.project)) !== host)
    return { url, missing: `${host} is not the code host of its project` };
  const bytes = await service.codeHost().image(host, url);
  const isOne = await saveImage(service.store, item.id, { url, bytes });
  const known = readImage(service.store, item.id, url);
  return isOne && known !== undefined
    ? { url, ...known }
    : { url, missing: 'it is not a PNG, JPEG, GIF or WebP' };
};

const note = (engine: Engine, kept: StoredSession, raw: { url: string; why: string }): void =>
  engine.transcript(kept).append('agent_event', { kind: 'image_not_loaded', raw });
