import { readCase } from '../../store/cases.ts';
import { listMemory } from '../../store/memory.ts';
import type { PromptParts } from '../providers/provider.ts';
import type { Service } from '../service.ts';

/** What an agent is told of a Work item. In Work mode the approved plan is part of it, word for word. */
export const promptFor = async (
  { store }: Service,
  caseId: string,
  plan?: string,
): Promise<PromptParts> => {
  const item = await readCase(store, caseId);
  const { title = '', type = '', description = '' } = item ?? {};
  const memory = (listMemory(store, caseId) ?? []).map(({ filename, content }) => ({
    filename,
    content,
  }));
  return { title, type, description, memory, ...(plan !== undefined && { plan }) };
};
