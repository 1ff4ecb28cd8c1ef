import { join } from 'node:path';
import { readCase } from '../../../../store/cases/cases.ts';
import { listGlobalMemory, memoryFilesOf, memoryRootOf } from '../../../../store/cases/memory.ts';
import type { TextFile } from '../../../../store/front-matter/text-file.ts';
import { isPlain } from '../../../../store/fs/plain-path.ts';
import type { Store } from '../../../../store/store.ts';
import type { PromptParts, ToldFile } from '../../../agents/provider.ts';
import { capText } from '../../../text/cap-text.ts';
import { counted, shareOf } from '../../../text/wording.ts';

/**
 * What an agent is told of a Work item; `turn` is what belongs to this turn: in Work mode the approved plan, word for word.
 * The rest is bounded, and says what was left out.
 */
export const promptFor = async (
  store: Store,
  caseId: string,
  turn: Omit<PromptParts, 'title' | 'type' | 'description' | 'memory' | 'global_memory'>,
): Promise<PromptParts> => {
  const item = await readCase(store, caseId);
  const { title = '', type = '', description = '' } = item ?? {};
  const folder = memoryRootOf(store, caseId)?.path ?? '';
  const memory = bounded(memoryFilesOf(store, caseId) ?? [], MEMORY_CHARACTERS, folder);
  const global_memory = bounded(listGlobalMemory(store), GLOBAL_CHARACTERS, store.layout.memory);
  const { output } = capText(description, DESCRIPTION_CHARACTERS);
  return { title, type, description: output, memory, global_memory, ...turn };
};

// As long as the API takes one; by hand it can be longer.
const DESCRIPTION_CHARACTERS = 262_144;
const MEMORY_CHARACTERS = 262_144;
// Every session of the workspace is told it: it must not crowd out the Work item.
const GLOBAL_CHARACTERS = 65_536;
const MOST_FILES = 100;

/** Of long files the beginning and the end, so that all together have at most `total` characters; short ones stay whole. */
export const bounded = (files: readonly TextFile[], total: number, folder: string): ToldFile[] => {
  const told = files.slice(0, MOST_FILES);
  const most = shareOf(
    told.map(({ content }) => content.length),
    total,
  );
  const texts = told.map(({ filename, content }) => {
    const { output, truncated } = capText(content, most);
    if (!truncated) return { filename, content: output };
    const path = join(folder, filename);
    return { filename, path, content: `${output}\n\n(The whole of it is in ${path}.)\n` };
  });
  const more = files.length - told.length;
  if (more === 0) return texts;
  const content = `${counted(more, 'more file')} of ${folder} left out here, from ${files[MOST_FILES]?.filename} on.\n`;
  return [...texts, { filename: 'the others', content, path: folder }];
};

/** What of the workspace the prompt names, to be read where the workspace is out of sight. Links are left out: they lead elsewhere. */
export const placesNamed = (
  { layout }: Pick<Store, 'layout'>,
  { images = [], memory, global_memory }: PromptParts,
): string[] =>
  [...images, ...memory, ...global_memory]
    .flatMap((told) => ('path' in told && told.path !== undefined ? [told.path] : []))
    .filter((path) => isPlain(layout.root, path));
