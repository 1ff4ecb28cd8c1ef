import { sha256 } from '../../store/base/sha256.ts';
import {
  changePlanning,
  grantPlanning,
  isPlanningGranted,
  type Planning,
  type PlanningChange,
} from '../../store/sessions/planning.ts';
import { notFound, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';

const TASKS = 'tasks.md';
const BOX = /^(\s*(?:[-*+]|\d+[.)]) \[)([ xX])(\] .*)$/gm;

interface Box {
  number: number;
  done: boolean;
}

/**
 * Ticks the n-th checkbox of tasks.md, and changes no other byte of it. What the operator approved of planning stays
 * approved: a tick changes nothing of what is to be done. Answers with the task's line.
 */
export const tick = async ({ store }: Service, caseId: string, box: Box): Promise<string> => {
  let line = '';
  const kept = await changePlanning(store, caseId, (planning) => {
    const tasks = planning.artifacts.find(({ filename }) => filename === TASKS);
    if (tasks === undefined) throw notFound('memory file', TASKS);
    const ticked = withBox(tasks.content, box);
    line = ticked.line;
    if (ticked.content === tasks.content) return {};
    const change = changeFor(planning, { before: tasks.sha256, content: ticked.content });
    keepApproval(store, caseId, planning, change);
    return change;
  });
  if (kept === undefined) throw notFound('Work item', caseId);
  return line.trim();
};

// Ticked, what the operator approved on this machine is approved as before; what files alone say is no more than that.
const keepApproval = (
  store: Service['store'],
  caseId: string,
  { matter }: Planning,
  { changes }: PlanningChange,
): void => {
  const [before, after] = [matter.approved, changes?.approved];
  if (before && after && isPlanningGranted(store, caseId, before.artifacts))
    grantPlanning(store, caseId, after.artifacts);
};

const changeFor = (
  { matter: { approved } }: Planning,
  { before, content }: { before: string; content: string },
): PlanningChange => {
  const file = { filename: TASKS, content } as const;
  if (approved?.artifacts[TASKS] !== before) return { file };
  const artifacts = { ...approved.artifacts, [TASKS]: sha256(content) };
  return { file, changes: { approved: { ...approved, artifacts } } };
};

const withBox = (content: string, { number, done }: Box): { content: string; line: string } => {
  let seen = 0;
  let line: string | undefined;
  const ticked = content.replaceAll(BOX, (whole, before: string, _mark: string, after: string) => {
    seen += 1;
    if (seen !== number) return whole;
    line = `${before}${done ? 'x' : ' '}${after}`;
    return line;
  });
  if (line !== undefined) return { content: ticked, line };
  throw new ServiceError(
    'bad_request',
    `${TASKS} has ${seen} checkboxes; there is no number ${number}.`,
  );
};
