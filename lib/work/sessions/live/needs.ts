import type { WithStore } from '../../../../store/store.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import type { WorktreeNeeds } from '../../../code/worktrees/needs.ts';
import type { WithCodeHost } from '../../../codehost/code-host.ts';
import type { WithTrusted } from '../../../guard/trust/trust.ts';
import type { WithDoors } from '../../../sandbox/egress/doors.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import type { WithEngine } from './engine.ts';

/** What most of this room's work is given. */
export type SessionNeeds = WithCodeHost &
  WithEngine &
  WithDoors &
  WithProviders &
  WithTrusted &
  WorktreeNeeds;

/** For what is decided about sessions. */
export type EngineNeeds = WithEngine & WithStore;

/** The same, where their worktrees are looked at. */
export type TurnNeeds = EngineNeeds & WithGit;
