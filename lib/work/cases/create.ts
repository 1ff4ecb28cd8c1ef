import { insertCase as keepCase, readCase } from '../../../store/cases.ts';
import { newId } from '../../../store/new-id.ts';
import type { Case } from '../../../store/records/case.ts';
import type { WithStore } from '../../../store/store.ts';
import { checkProject } from '../../code/projects/project.ts';
import type { WithConfig } from '../../config.ts';
import { checkTexts } from './text.ts';

interface NewCase {
  title: string;
  type: string;
  description?: string;
  project?: string;
}

/**
 * Makes a Work item, OPEN, in a directory of its own, with further files in it, if any. It is on disk, with all of them,
 * when this resolves.
 */
export const createCase = async (
  service: WithConfig & WithStore,
  { title, type, description = '', project }: NewCase,
  files: Record<string, string> = {},
): Promise<Case> => {
  checkTexts({ title, description });
  checkProject(service, project);
  const id = newId();
  const known = await readCase(service.store, id);
  if (known !== undefined) return known;
  const created_at = service.store.clock().toISOString();
  const matter = {
    id,
    title,
    type,
    state: 'OPEN' as const,
    outcome: null,
    ...(project !== undefined && { project }),
    created_at,
  };
  return keepCase(service.store, { matter, description, files });
};
