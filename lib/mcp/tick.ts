import { ServiceError } from '../errors.ts';
import { getMemory, putMemory } from '../memory/case-memory.ts';
import type { Service } from '../service.ts';

const TASKS = 'tasks.md';
const BOX = /^(\s*(?:[-*+]|\d+[.)]) \[)([ xX])(\] .*)$/gm;

/** Ticks the n-th checkbox of tasks.md, and changes no other byte of it. Answers with the task's line. */
export const tick = async (
  service: Service,
  caseId: string,
  { number, done }: { number: number; done: boolean },
): Promise<string> => {
  const { content, sha256 } = getMemory(service, caseId, TASKS);
  let seen = 0;
  let line: string | undefined;
  const ticked = content.replaceAll(BOX, (whole, before: string, _mark: string, after: string) => {
    seen += 1;
    if (seen !== number) return whole;
    line = `${before}${done ? 'x' : ' '}${after}`;
    return line;
  });
  if (line === undefined)
    throw new ServiceError(
      'bad_request',
      `${TASKS} has ${seen} checkboxes; there is no number ${number}.`,
    );
  if (ticked !== content)
    await putMemory(service, caseId, { filename: TASKS, content: ticked }, sha256.slice(0, 32));
  return line.trim();
};
