import { memoryRootOf } from '../../../store/memory.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';

interface MemoryRoot {
  case_id: string;
  path: string;
  exists: boolean;
  global_path: string;
}

/** Where the memory files are that go with a Work item's worktree, whether it has one yet or not. */
export const memoryRoot = (store: Store, caseId: string): MemoryRoot => {
  const root = orNotFound(memoryRootOf(store, caseId), 'Work item', caseId);
  return { case_id: caseId, ...root, global_path: store.layout.memory };
};
