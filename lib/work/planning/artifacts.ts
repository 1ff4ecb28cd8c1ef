import {
  PLANNING_FILES,
  type PlanningArtifact,
  type PlanningFile,
} from '../../../store/records/planning.ts';
import type { TextFile } from '../../../store/text/text-file.ts';
import { ServiceError } from '../../errors.ts';
import { getMemory, putMemory } from '../memory/case-memory.ts';
import type { Service } from '../../service.ts';
import { artifactsOf, planningFor } from './gate.ts';

/** The planning files that are there, in the order of their stages. */
export const listArtifacts = (service: Service, caseId: string): PlanningArtifact[] =>
  artifactsOf(planningFor(service, caseId));

export const getArtifact = (service: Service, caseId: string, filename: string): TextFile =>
  getMemory(service, caseId, named(filename));

/** Writes a whole planning file: an edit by hand, after which an approval is stale. */
export const putArtifact = (
  service: Service,
  caseId: string,
  { filename, content }: { filename: string; content: string },
  ifMatch?: string,
): Promise<TextFile> => putMemory(service, caseId, { filename: named(filename), content }, ifMatch);

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
