import { type Static, type TObject, Type } from 'typebox';
import { etagOf } from '../../store/base/names.ts';
import { sha256 } from '../../store/base/sha256.ts';
import { visible, visibleOutput } from '../../store/base/visible.ts';
import { readCase } from '../../store/cases/cases.ts';
import {
  changePlanning,
  grantPlanning,
  isPlanningGranted,
  type Planning,
  type PlanningChange,
} from '../../store/sessions/planning.ts';
import { findTold, untold } from '../../store/sessions/told.ts';
import { notFound, orNotFound, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { getMemory, listMemory, putMemory } from '../work/memory/memory.ts';
import { attachProof } from '../work/proof/attach.ts';
import { getGate } from '../work/proof/checklist.ts';
import { asText, type Tool, type ToolOf } from './tool.ts';

type Own = { service: Service; caseId: string; sessionId: string };

// Tools act on the Work item of the run; no argument can name another.
const sessionTool = <I extends TObject>(tool: ToolOf<Own, I>): Tool => ({
  ...tool,
  call: ({ service, run }, given) => {
    if (run === undefined)
      throw new ServiceError('unauthorized', 'The session of this token has ended.');
    const { case_id: caseId, session_id: sessionId } = run;
    return tool.call({ service, caseId, sessionId }, given as Static<I>);
  },
});

const Filename = Type.String({ description: 'A file name, such as notes.md' });
const NOTHING = Type.Object({});

/**
 * The tools of a session's agent, for its own Work item. In Plan mode only those that read are available.
 */
export const SESSION_TOOLS: readonly Tool[] = [
  sessionTool({
    name: 'read_work_item',
    description:
      'Returns the Work item that you work on: title, description, state, and the missing proof.',
    input: NOTHING,
    reads: true,
    call: async ({ service, caseId, sessionId }) => {
      const item = orNotFound(await readCase(service.store, caseId), 'Work item', caseId);
      // As in its prompt: text that came after the plan was made is not what the operator approved.
      const told = findTold(service.store.layout, sessionId) ?? untold(caseId);
      const { title, type, description } = told;
      const proof_gate = await getGate(service, caseId);
      return asText({ ...item, title, type, description, proof_gate });
    },
  }),
  sessionTool({
    name: 'list_memory',
    description: 'Lists the memory and planning files of the Work item. read_memory returns one.',
    input: NOTHING,
    reads: true,
    call: async ({ service, caseId }) => asText(listMemory(service.store, caseId)),
  }),
  sessionTool({
    name: 'read_memory',
    description: 'Returns a memory or planning file as Markdown.',
    input: Type.Object({ filename: Filename }),
    reads: true,
    lists: 'list_memory',
    call: async ({ service, caseId }, { filename }) =>
      getMemory(service.store, caseId, filename).content,
  }),
  sessionTool({
    name: 'write_memory',
    description:
      'Writes a Markdown file for later sessions of this Work item. With the `sha256` that list_memory returns, only if the file is unchanged since.',
    input: Type.Object({
      filename: Filename,
      content: Type.String(),
      sha256: Type.Optional(Type.String()),
    }),
    reads: false,
    lists: 'list_memory',
    call: async ({ service, caseId }, { filename, content, sha256 }) => {
      const ifMatch = sha256 && etagOf(sha256);
      const file = { filename, content: visible(content) };
      const { sha256: written } = await putMemory(service.store, caseId, file, ifMatch);
      return asText({ filename, sha256: written });
    },
  }),
  sessionTool({
    name: 'tick_task',
    description: 'Marks a task of tasks.md as done or open, by the number of its checkbox.',
    input: Type.Object({
      number: Type.Integer({ minimum: 1, description: 'The first checkbox of the file is 1' }),
      done: Type.Optional(Type.Boolean({ description: 'Default: true' })),
    }),
    reads: false,
    lists: 'list_memory',
    call: ({ service, caseId }, { number, done = true }) =>
      tickTask(service, caseId, { number, done }),
  }),
  sessionTool({
    name: 'attach_proof',
    description:
      'Attaches evidence to the Work item, such as the output of a test run. Only the operator can verify it.',
    input: Type.Object({
      type: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'Such as test-log' }),
      content: Type.String({ minLength: 1 }),
    }),
    reads: false,
    call: async ({ service, caseId, sessionId }, proof) => {
      const content = visibleOutput(proof.content);
      // An agent whose call timed out repeats it.
      const attached = { ...proof, content, session_id: sessionId, once: true };
      const { id, type, verified } = (await attachProof(service, caseId, attached)).proof;
      return asText({ id, type, verified });
    },
  }),
];

const TASKS = 'tasks.md';
const BOX = /^([ \t]*(?:[-*+]|\d+[.)]) \[)([ xX])(\] .*)$/gm;

interface Checkbox {
  number: number;
  done: boolean;
}

/**
 * Ticks the n-th checkbox of tasks.md and changes no other byte. An approval of the planning files stays valid, because a
 * tick does not change the tasks. Returns the task's line.
 */
const tickTask = async ({ store }: Service, caseId: string, box: Checkbox): Promise<string> => {
  let line = '';
  const kept = await changePlanning(store, caseId, (planning) => {
    const tasks = planning.artifacts.find(({ filename }) => filename === TASKS);
    if (tasks === undefined) throw notFound('memory file', TASKS);
    const ticked = setCheckbox(tasks.content, box);
    line = ticked.line;
    if (ticked.content === tasks.content) return {};
    const change = changeFor(planning, { before: tasks.sha256, content: ticked.content });
    keepApproval(store, caseId, planning, change);
    return change;
  });
  if (kept === undefined) throw notFound('Work item', caseId);
  return line.trim();
};

// Renews an approval that was given on this machine; an approval that is only in files is not renewed.
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

const setCheckbox = (
  content: string,
  { number, done }: Checkbox,
): { content: string; line: string } => {
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
