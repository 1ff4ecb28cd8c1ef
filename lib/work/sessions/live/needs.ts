import type { WithProviders } from '../../../agents/providers.ts';
import type { WorktreeNeeds } from '../../../code/worktrees/needs.ts';
import type { WithCodeHost } from '../../../codehost/code-host.ts';
import type { WithTrusted } from '../../../guard/trust/trusted.ts';
import type { WithMcp } from '../../../sandbox/egress/mcp-door.ts';
import type { WithEngine } from './engine.ts';

/** What most of this room's work is given. */
export type SessionNeeds = WithCodeHost &
  WithEngine &
  WithMcp &
  WithProviders &
  WithTrusted &
  WorktreeNeeds;
