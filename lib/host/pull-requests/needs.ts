import type { WithStore } from '../../../store/store.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';

/** What most of this room's work is given. */
export type PullNeeds = WithCodeHost & WithStore;
