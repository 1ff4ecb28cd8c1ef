import { type Static, type TObject, Type } from 'typebox';
import { visible } from '../../store/base/visible.ts';
import { readCase } from '../../store/cases/cases.ts';
import { STATES } from '../../store/records/case.ts';
import { Id } from '../../store/records/id.ts';
import { orNotFound } from '../errors.ts';
import type { Service } from '../service.ts';
import { listCases } from '../work/cases/read.ts';
import { getMemory, listMemory } from '../work/memory/memory.ts';
import { listProofs } from '../work/proof/attach.ts';
import { listSessions } from '../work/sessions/lifecycle/read.ts';
import { getPlan } from '../work/sessions/lifecycle/session-texts.ts';
import { asText, type Tool } from './tool.ts';

const reading = <I extends TObject>(tool: {
  name: string;
  description: string;
  input: I;
  call: (service: Service, given: Static<I>) => Promise<string>;
}): Tool => ({
  ...tool,
  reads: true,
  call: ({ service }, given) => tool.call(service, given as Static<I>),
});

const OfCase = Type.Object({ case_id: Id });
const MOST = 200;

/** What the operator's own client may see. It reads; what changes something is asked of the API, by the operator. */
export const OPERATOR_TOOLS: readonly Tool[] = [
  reading({
    name: 'list_work_items',
    description: `Work items, newest last, at most ${MOST}; by state if one is given.`,
    input: Type.Object({ state: Type.Optional(Type.Enum([...STATES])) }),
    call: async (service, query) => {
      const items = listCases(service.store, query).slice(-MOST);
      const summaries = items.map(({ json }) => {
        const { description: _, ...item } = JSON.parse(json().toString());
        return item;
      });
      return asText(summaries);
    },
  }),
  reading({
    name: 'read_work_item',
    description: 'One Work item with its sessions, its proof and the names of its memory files.',
    input: OfCase,
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
  reading({
    name: 'read_memory',
    description: 'One memory or planning file of a Work item, as Markdown.',
    input: Type.Object({ case_id: Id, filename: Type.String() }),
    call: async (service, { case_id, filename }) =>
      visible(getMemory(service.store, case_id, filename).content),
  }),
  reading({
    name: 'read_plan',
    description: 'The plan of a session: proposed, edited or approved.',
    input: Type.Object({ case_id: Id, session_id: Id }),
    call: async (service, { case_id, session_id }) =>
      visible((await getPlan(service, case_id, session_id)).content),
  }),
];
