import {
  PLANNING_FILES,
  type PlanningArtifact,
  type PlanningFile,
} from '../../../store/records/planning.ts';
import type { Store } from '../../../store/store.ts';
import type { TextFile } from '../../../store/text/text-file.ts';
import { ServiceError } from '../../errors.ts';
import { getMemory, putMemory } from '../memory/case-memory.ts';
import { artifactsOf, planningFor } from './gate.ts';

/** The planning files that are there, in the order of their stages. */
export const listArtifacts = (store: Store, caseId: string): PlanningArtifact[] =>
  artifactsOf(planningFor(store, caseId));

export const getArtifact = (store: Store, caseId: string, filename: string): TextFile =>
  getMemory(store, caseId, named(filename));

/** Writes a whole planning file: an edit by hand, after which an approval is stale. */
export const putArtifact = (
  store: Store,
  caseId: string,
  { filename, content }: { filename: string; content: string },
  ifMatch?: string,
): Promise<TextFile> => putMemory(store, caseId, { filename: named(filename), content }, ifMatch);

const named = (filename: string): PlanningFile => {
  const found = PLANNING_FILES.find((name) => name === filename);
  if (found !== undefined) return found;
  throw new ServiceError(
    'bad_request',
    `${filename.slice(0, 100)} is no planning file. There are ${PLANNING_FILES.join(', ')}; write others with PUT …/memory/:filename.`,
    {
      errors: [{ path: 'path/filename', message: `has to be one of ${PLANNING_FILES.join(', ')}` }],
    },
  );
};
