import type { Case, Proof, Traceability, TraceNode } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Item } from '../parts/item.tsx';
import { type TraceCard, type TraceLine, withCommits } from '../parts/trace-columns.ts';
import { TraceList } from '../parts/trace-list.tsx';
import { TracePicture } from '../parts/trace-picture.tsx';

interface Trace {
  item: Case;
  cards: TraceCard[];
  lines: TraceLine[];
  /** Links that lead nowhere, and why. */
  dangling: string[];
}

const View = ({ item, cards, lines, dangling }: Trace) => (
  <Item of={item} tab="Trace">
    <TracePicture cards={cards} lines={lines} />
    <TraceList cards={cards} />
    {cards.length < 2 && (
      <p class="quiet">Nothing is linked with it yet: no issue, session, proof or pull request.</p>
    )}
    {dangling.length > 0 && (
      <>
        <h2>Leads nowhere</h2>
        <ul>
          {dangling.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </>
    )}
  </Item>
);

// What hangs together with one Work item: its own, and the issues and pull requests of those.
const around = ({ nodes, edges }: Traceability, id: string): TraceNode[] => {
  const near = new Set([`case:${id}`]);
  for (const { from, to } of edges) {
    if (from === `case:${id}`) near.add(to);
    if (to === `case:${id}`) near.add(from);
  }
  return nodes.filter((node) => near.has(node.id));
};

const shownOf = (graph: Traceability, proofs: readonly Proof[], id: string) => {
  const nodes = around(graph, id);
  const ids = new Set(nodes.map((node) => node.id));
  const edges = graph.edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const dangling = graph.dangling
    .filter(({ from, to }) => ids.has(from) || (to !== null && ids.has(to)))
    .map(({ reason }) => reason);
  return { ...withCommits({ nodes, edges, proofs, id }), dangling: [...new Set(dangling)] };
};

/** From the issue to the pull request: what of a Work item came from what. */
export const trace = page<Trace>({
  title: ({ item }) => `Trace of ${item.title}`,
  load: async ({ call }, { params: { id = '' } }) => {
    const [item, graph, proofs] = await Promise.all([
      call('GET /cases/{id}', { id }),
      call('GET /api/codehost/traceability'),
      call('GET /cases/{id}/proof', { id }),
    ]);
    return { item, ...shownOf(graph, proofs, id) };
  },
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
