import { type Static, type TObject, Type } from 'typebox';
import { visible } from '../../store/base/visible.ts';
import { readCase } from '../../store/cases/cases.ts';
import { STATES } from '../../store/records/case.ts';
import { Id } from '../../store/records/fields.ts';
import { orNotFound } from '../errors.ts';
import type { Service } from '../service.ts';
import { listCases } from '../work/cases/read.ts';
import { getMemory, listMemory } from '../work/memory/memory.ts';
import { listProofs } from '../work/proof/attach.ts';
import { listSessions } from '../work/sessions/lifecycle/read.ts';
import { getPlan } from '../work/sessions/lifecycle/session-texts.ts';
import { asText, type Tool, type ToolOf } from './tool.ts';

const operatorTool = <I extends TObject>(tool: Omit<ToolOf<Service, I>, 'reads'>): Tool => ({
  ...tool,
  reads: true,
  call: ({ service }, given) => tool.call(service, given as Static<I>),
});

const OfCase = Type.Object({ case_id: Id });
const MOST = 200;

/** The tools of the operator's own client, which are read-only. */
export const OPERATOR_TOOLS: readonly Tool[] = [
  operatorTool({
    name: 'list_work_items',
    description: `Lists the newest ${MOST} Work items, newest last, optionally of one state. read_work_item returns one.`,
    input: Type.Object({ state: Type.Optional(Type.Enum([...STATES])) }),
    call: async (service, query) => {
      const { all, jsonOf } = listCases(service.store, query);
      const summaries = all.slice(-MOST).map((one) => {
        const { description: _, ...item } = JSON.parse(jsonOf(one).toString());
        return item;
      });
      return asText(summaries);
    },
  }),
  operatorTool({
    name: 'read_work_item',
    description:
      'Returns a Work item with its sessions, its proof and the names of its memory files.',
    input: OfCase,
    lists: 'list_work_items',
    call: async (service, { case_id }) => {
      const item = orNotFound(await readCase(service.store, case_id), 'Work item', case_id);
      return asText({
        ...item,
        sessions: await listSessions(service, case_id),
        proof: await listProofs(service.store, case_id),
        memory: listMemory(service.store, case_id),
      });
    },
  }),
  operatorTool({
    name: 'read_memory',
    description: 'Returns a memory or planning file of a Work item as Markdown.',
    input: Type.Object({ case_id: Id, filename: Type.String() }),
    lists: 'read_work_item',
    call: async (service, { case_id, filename }) =>
      visible(getMemory(service.store, case_id, filename).content),
  }),
  operatorTool({
    name: 'read_plan',
    description: 'Returns the plan of a session: proposed, edited or approved.',
    input: Type.Object({ case_id: Id, session_id: Id }),
    lists: 'read_work_item',
    call: async (service, { case_id, session_id }) =>
      visible((await getPlan(service, case_id, session_id)).content),
  }),
];
