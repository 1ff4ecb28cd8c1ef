import { itemOf } from '../../../../store/reconcile/items.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import {
  allowAlways,
  alwaysAllowed,
  type CommandPlace,
} from '../../../../store/settings/trust/allowed.ts';
import type { Store } from '../../../../store/store.ts';
import type { AllowedInProject, Provider } from '../../../agents/provider.ts';

/** What the operator always allows in the project of a worktree, and how more is allowed. */
export const allowedInProject = (
  store: Store,
  { case_id, repository }: Pick<WorktreeRecord, 'case_id' | 'repository'>,
  { isolation }: Pick<Provider, 'isolation'>,
): AllowedInProject => {
  const project = itemOf(store, case_id)?.files.case.value?.matter.project ?? 'default';
  const place: CommandPlace = { project, repository, sandboxed: isolation === 'enforced' };
  return {
    prefixes: () => alwaysAllowed(store.consent, place),
    allow: (prefix) => allowAlways(store.consent, place, prefix),
  };
};
