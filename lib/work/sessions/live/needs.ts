import type { WithStore } from '../../../../store/store.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import type { WorktreeNeeds } from '../../../code/worktrees/needs.ts';
import type { WithCodeHost } from '../../../codehost/code-host.ts';
import type { WithTrusted } from '../../../guard/trust/trust.ts';
import type { WithDoors } from '../../../sandbox/egress/doors.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import type { WithEngine } from './engine.ts';

/** The services that most functions of this room need. */
export type SessionNeeds = WithCodeHost &
  WithEngine &
  WithDoors &
  WithProviders &
  WithTrusted &
  WorktreeNeeds;

/** For decisions about sessions. */
export type EngineNeeds = WithEngine & WithStore;

/** The same, with git for their worktrees. */
export type TurnNeeds = EngineNeeds & WithGit;
