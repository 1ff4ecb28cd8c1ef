import { type Static, type TObject, Type } from 'typebox';
import { visible, visibleOutput } from '../../store/base/visible.ts';
import { readCase } from '../../store/cases/cases.ts';
import { orNotFound, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { getMemory, listMemory, putMemory } from '../work/memory/memory.ts';
import { attachProof } from '../work/proof/attach.ts';
import { getGate } from '../work/proof/checklist.ts';
import { tick } from './tick.ts';
import { asText, type Tool } from './tool.ts';

type Own = { service: Service; caseId: string; sessionId: string };

// The Work item is the run's own: no argument names another.
const own = <I extends TObject>(tool: {
  name: string;
  description: string;
  input: I;
  reads: boolean;
  call: (own: Own, given: Static<I>) => Promise<string>;
}): Tool => ({
  ...tool,
  call: ({ service, run }, given) => {
    if (run === undefined)
      throw new ServiceError('unauthorized', 'The session of this token has ended.');
    const { case_id: caseId, session_id: sessionId } = run;
    return tool.call({ service, caseId, sessionId }, given as Static<I>);
  },
});

const Filename = Type.String({ description: 'Such as notes.md' });
const NOTHING = Type.Object({});

/**
 * What the agent of a session may do to its own Work item, besides editing the worktree. In Plan mode it has those that
 * read alone: what was made before the plan was approved proves nothing of what it does.
 */
export const SESSION_TOOLS: readonly Tool[] = [
  own({
    name: 'read_work_item',
    description:
      'The Work item you work on: title, description, state, and what its proof gate still misses.',
    input: NOTHING,
    reads: true,
    call: async ({ service, caseId }) => {
      const item = orNotFound(await readCase(service.store, caseId), 'Work item', caseId);
      return asText({ ...item, proof_gate: await getGate(service, caseId) });
    },
  }),
  own({
    name: 'list_memory',
    description: 'The memory and planning files of the Work item.',
    input: NOTHING,
    reads: true,
    call: async ({ service, caseId }) => asText(listMemory(service.store, caseId)),
  }),
  own({
    name: 'read_memory',
    description: 'One memory or planning file, as Markdown.',
    input: Type.Object({ filename: Filename }),
    reads: true,
    call: async ({ service, caseId }, { filename }) =>
      getMemory(service.store, caseId, filename).content,
  }),
  own({
    name: 'write_memory',
    description:
      'Keeps a Markdown file for whoever works on this Work item later. With `sha256` only if the file is still the one you read.',
    input: Type.Object({
      filename: Filename,
      content: Type.String(),
      sha256: Type.Optional(Type.String()),
    }),
    reads: false,
    call: async ({ service, caseId }, { filename, content, sha256 }) => {
      const ifMatch = sha256?.slice(0, 32);
      const file = { filename, content: visible(content) };
      const { sha256: written } = await putMemory(service.store, caseId, file, ifMatch);
      return asText({ filename, sha256: written });
    },
  }),
  own({
    name: 'tick_task',
    description:
      'Marks a task of tasks.md as done, or as open again, by its number among the checkboxes.',
    input: Type.Object({
      number: Type.Integer({ minimum: 1, description: 'The first checkbox of the file is 1' }),
      done: Type.Optional(Type.Boolean({ description: 'Default: true' })),
    }),
    reads: false,
    call: ({ service, caseId }, { number, done = true }) => tick(service, caseId, { number, done }),
  }),
  own({
    name: 'attach_proof',
    description:
      'Attaches evidence to the Work item, such as the output of a test run. The operator verifies it; you cannot.',
    input: Type.Object({
      type: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'Such as test-log' }),
      content: Type.String({ minLength: 1 }),
    }),
    reads: false,
    call: async ({ service, caseId, sessionId }, proof) => {
      const content = visibleOutput(proof.content);
      const own = { ...proof, content, session_id: sessionId };
      const { id, type } = (await attachProof(service, caseId, own)).proof;
      return asText({ id, type, verified: false });
    },
  }),
];
