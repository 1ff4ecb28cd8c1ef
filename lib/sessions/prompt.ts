import { join } from 'node:path';
import { readCase } from '../../store/cases.ts';
import { listGlobalMemory } from '../../store/global-memory.ts';
import { listMemory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import type { TextFile } from '../../store/text/text-file.ts';
import { capText } from '../providers/cap-text.ts';
import type { PromptParts } from '../providers/provider.ts';
import type { Service } from '../service.ts';

/** What an agent is told of a Work item; `turn` is what belongs to this turn: in Work mode the approved plan, word for word. */
export const promptFor = async (
  { store }: Service,
  caseId: string,
  turn: Omit<PromptParts, 'title' | 'type' | 'description' | 'memory' | 'global_memory'>,
): Promise<PromptParts> => {
  const item = await readCase(store, caseId);
  const { title = '', type = '', description = '' } = item ?? {};
  const memory = (listMemory(store, caseId) ?? []).map(({ filename, content }) => ({
    filename,
    content,
  }));
  return { title, type, description, memory, global_memory: boundedGlobal(store), ...turn };
};

// Every session of the workspace is told it: it must not crowd out the Work item.
const GLOBAL_CHARACTERS = 65_536;

const boundedGlobal = (store: Store): PromptParts['global_memory'] => {
  const files = listGlobalMemory(store);
  const each = Math.floor(GLOBAL_CHARACTERS / Math.max(1, files.length));
  return files.map(({ filename, content }: TextFile) => {
    const { output, truncated } = capText(content, each);
    const whole = `\n\n(The whole of it is in ${join(store.layout.memory, filename)}.)\n`;
    return { filename, content: truncated ? output + whole : output };
  });
};
