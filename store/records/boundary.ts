import { type Static, Type } from 'typebox';
import { Sha256 } from './fields.ts';
import { ProviderInfo } from './provider.ts';
import { NetworkSetting, PermissionSettings } from './settings.ts';

/** The sandbox of a session's programs in Work mode, and what they may do without asking. */
export const Boundary = Type.Object(
  {
    kind: ProviderInfo.properties.kind,
    missing: Type.Optional(
      Type.String({ description: 'Why no program can be started now, and what to do' }),
    ),
    sandbox: Type.Optional(
      Type.Enum(['bubblewrap', 'seatbelt', 'none'], {
        description:
          'With `none`, programs can do whatever your user can. `seatbelt` is untested, and nothing relies on it. Absent if no program is started',
      }),
    ),
    reason: Type.Optional(Type.String({ description: 'Why there is no enforced sandbox' })),
    network: Type.Optional(NetworkSetting),
    commits: Type.Boolean({
      description:
        'Whether its changes are committed on the branch of the worktree when it completes (`worktrees.commit`)',
    }),
    local: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Reachable services of this machine, such as `localhost:5432`; with the network `host`, all of them',
      }),
    ),
    permissions: Type.Optional(
      Type.Object(
        {
          ...Type.Required(PermissionSettings).properties,
          prefixes: Type.Array(Type.String(), {
            description:
              'Prefixes of simple commands that you allowed for this session or its project',
          }),
        },
        { description: 'For agents that can ask; absent for other providers' },
      ),
    ),
    unasked: Type.Optional(
      Type.Object(
        {
          commands: Type.Array(Type.String()),
          plan_sha256: Type.Optional(Sha256),
          approval_sha256: Type.Optional(Sha256),
        },
        {
          description:
            'The commands of the plan that run without asking: for an approved plan the approved ones, else those of plan.md without `ask`. Approving with `approval_sha256` approves that text and these commands. Absent if every command asks first',
        },
      ),
    ),
  },
  { $id: 'Boundary' },
);
export type Boundary = Static<typeof Boundary>;

/** The part of the boundary that a provider knows. */
export type ProviderBoundary = Omit<Boundary, 'commits' | 'unasked'>;
