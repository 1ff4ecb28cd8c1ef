import type { Case, Proof, Session, TraceEdge, TraceNode } from '../../../lib/client/client.ts';
import { labelOf, STATE_LABELS } from './labels.ts';

export const COLUMNS = [
  { kind: 'issue', name: 'Issue' },
  { kind: 'case', name: 'Work item' },
  { kind: 'session', name: 'Sessions' },
  { kind: 'commit', name: 'Commits' },
  { kind: 'proof', name: 'Proofs' },
  { kind: 'pr', name: 'Pull request' },
] as const;

type Kind = (typeof COLUMNS)[number]['kind'];

/** A card of the trace. */
export interface TraceCard {
  id: string;
  kind: Kind;
  label: string;
  state: string;
  /** The page of the card; undefined if it has none. */
  href: string | undefined;
}

export interface TraceLine {
  from: string;
  to: string;
}

interface Traced {
  nodes: readonly TraceNode[];
  edges: readonly TraceEdge[];
  sessions: readonly Pick<Session, 'id' | 'commit'>[];
  proofs: readonly Proof[];
  /** The Work item's id. */
  id: string;
}

/** Cards and lines of the trace, with the commits of sessions and proofs between the two. */
export const withCommits = ({ nodes, edges, sessions, proofs, id }: Traced) => {
  const cards = nodes.map((node) => cardOf(node, id));
  const lines: TraceLine[] = edges.map(({ from, to }) => ({ from, to }));
  for (const { session, commit } of sessions.flatMap(madeBy)) {
    cards.push(commitCard(commit, session, id));
    lines.push({ from: `session:${session}`, to: `commit:${commit}` });
  }
  for (const { id: pid, commit, session_id } of proofs) {
    const proof = `proof:${pid}`;
    if (commit === null || !nodes.some((node) => node.id === proof)) continue;
    const at = `commit:${commit}`;
    const session = `session:${session_id}`;
    if (!cards.some((card) => card.id === at)) cards.push(commitCard(commit, session_id, id));
    const direct = lines.findIndex(({ from, to }) => from === session && to === proof);
    if (direct >= 0) {
      lines.splice(direct, 1);
      lines.push({ from: session, to: at });
    }
    lines.push({ from: at, to: proof });
  }
  return { cards, lines: withoutDuplicateLines(straight(lines)) };
};

const madeBy = ({ id, commit }: Traced['sessions'][number]) =>
  commit?.id == null ? [] : [{ session: id, commit: commit.id }];

// A card that leads from a session needs no second line from the Work item.
const straight = (lines: readonly TraceLine[]): TraceLine[] => {
  const made = new Set(
    lines.filter(({ from }) => /^(?:session|commit):/.test(from)).map(({ to }) => to),
  );
  return lines.filter(({ from, to }) => !from.startsWith('case:') || !made.has(to));
};

const withoutDuplicateLines = (lines: readonly TraceLine[]): TraceLine[] => [
  ...new Map(lines.map((line) => [`${line.from} ${line.to}`, line])).values(),
];

const commitCard = (commit: string, session: string | null, id: string): TraceCard => ({
  id: `commit:${commit}`,
  kind: 'commit',
  label: commit.slice(0, 10),
  state: '',
  href: session === null ? undefined : `/dashboard/cases/${id}/sessions/${session}/diff`,
});

const cardOf = (node: TraceNode, id: string): TraceCard => {
  const { kind, label } = node;
  return { id: node.id, kind, label, state: wordOf(node), href: placeOf(node, id) };
};

const wordOf = ({ kind, state }: TraceNode): string =>
  kind === 'case' ? STATE_LABELS[state as Case['state']] : labelOf(state);

const placeOf = ({ kind, id: node, url }: TraceNode, id: string): string | undefined => {
  const own = node.slice(node.indexOf(':') + 1);
  if (kind === 'case') return `/dashboard/cases/${own}`;
  if (kind === 'session') return `/dashboard/cases/${id}/sessions/${own}`;
  if (kind === 'proof') return `/dashboard/cases/${id}/proof#proof-${own}`;
  if (kind === 'pr') return `/dashboard/cases/${id}/pr`;
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
};
