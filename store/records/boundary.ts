import { type Static, Type } from 'typebox';
import { Sha256 } from './id.ts';
import { ProviderInfo } from './provider.ts';
import { NetworkSetting, PermissionSettings } from './settings.ts';

/** What shuts in what is started of a session in Work mode, and what it may do unasked. */
export const Boundary = Type.Object(
  {
    kind: ProviderInfo.properties.kind,
    missing: Type.Optional(
      Type.String({ description: 'Why nothing can be started now, and what to do about it' }),
    ),
    sandbox: Type.Optional(
      Type.Enum(['bubblewrap', 'seatbelt', 'none'], {
        description:
          'With `none` what is started can do whatever your user can; `seatbelt` is untried, and nothing relies on it. Left out where nothing is started',
      }),
    ),
    reason: Type.Optional(Type.String({ description: 'Why there is no sandbox to rely on' })),
    network: Type.Optional(NetworkSetting),
    commits: Type.Boolean({
      description:
        'What it changes is committed on the branch of its worktree once it completes (`worktrees.commit`)',
    }),
    local: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'What of this machine is reached besides, as `localhost:5432`; with the network `host` all is',
      }),
    ),
    permissions: Type.Optional(
      Type.Object(
        {
          ...Type.Required(PermissionSettings).properties,
          prefixes: Type.Array(Type.String(), {
            description:
              'With what plain commands may begin, as you answered in this session or for its project',
          }),
        },
        { description: 'Of an agent that can ask; what else asks nothing' },
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
            'The commands of the plan that run without asking: of an approved plan those that were approved, else those of plan.md less `ask`. Approving with `approval_sha256` approves that text and these commands. Left out where each command is asked for',
        },
      ),
    ),
  },
  { $id: 'Boundary' },
);
export type Boundary = Static<typeof Boundary>;

/** What of it a provider knows. */
export type ProviderBoundary = Omit<Boundary, 'commits' | 'unasked'>;
