import { readCase } from '../../store/cases.ts';
import { listMemory } from '../../store/memory.ts';
import type { PromptParts } from '../providers/provider.ts';
import type { Service } from '../service.ts';

/** What an agent is told of a Work item; `turn` is what belongs to this turn: in Work mode the approved plan, word for word. */
export const promptFor = async (
  { store }: Service,
  caseId: string,
  turn: Omit<PromptParts, 'title' | 'type' | 'description' | 'memory'>,
): Promise<PromptParts> => {
  const item = await readCase(store, caseId);
  const { title = '', type = '', description = '' } = item ?? {};
  const memory = (listMemory(store, caseId) ?? []).map(({ filename, content }) => ({
    filename,
    content,
  }));
  return { title, type, description, memory, ...turn };
};
