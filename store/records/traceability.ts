import { type Static, Type } from 'typebox';
import { Time } from './fields.ts';

const NODE_KINDS = ['issue', 'case', 'session', 'pr', 'proof'] as const;
const EDGE_KINDS = [
  'issue-imported_as-case',
  'case-has-session',
  'session-produced-pr',
  'case-has-pr',
  'pr-closes-issue',
  'session-produced-proof',
  'case-has-proof',
  'proof-posted_to-pr',
] as const;

const NodeId = Type.String({ description: 'Such as `issue:github.com/acme/app#12`' });

export const TraceNode = Type.Object(
  {
    id: NodeId,
    kind: Type.Enum([...NODE_KINDS]),
    label: Type.String(),
    state: Type.String({ description: 'The state, in the terms of its kind' }),
    url: Type.Optional(Type.String()),
    stale: Type.Optional(Type.Boolean({ description: 'Whether the host may have newer data' })),
  },
  { $id: 'TraceNode' },
);
export type TraceNode = Static<typeof TraceNode>;

export const TraceEdge = Type.Object(
  { from: NodeId, to: NodeId, kind: Type.Enum([...EDGE_KINDS]) },
  { $id: 'TraceEdge' },
);
export type TraceEdge = Static<typeof TraceEdge>;

/** A broken link, or an unreadable record. */
const Dangling = Type.Object({
  from: NodeId,
  to: Type.Union([Type.Null(), NodeId]),
  kind: Type.Enum([...EDGE_KINDS]),
  reason: Type.String(),
});
export type Dangling = Static<typeof Dangling>;

const count = Type.Integer({ minimum: 0 });

export const Traceability = Type.Object(
  {
    workspace: Type.String(),
    generated_at: Time,
    counts: Type.Object({
      issues: count,
      cases: count,
      sessions: count,
      prs: count,
      proofs: count,
      edges: count,
      dangling: count,
    }),
    nodes: Type.Array(TraceNode),
    edges: Type.Array(TraceEdge),
    dangling: Type.Array(Dangling),
  },
  { $id: 'Traceability' },
);
export type Traceability = Static<typeof Traceability>;
