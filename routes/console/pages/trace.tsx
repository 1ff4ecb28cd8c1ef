import type { Case } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Item } from '../parts/item.tsx';
import { type TraceCard, type TraceLine, withCommits } from '../parts/trace/columns.ts';
import { TracePicture } from '../parts/trace/picture.tsx';
import { Written } from '../parts/written.tsx';

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
    {cards.length < 2 && (
      <p class="quiet">Nothing is linked with it yet: no issue, session, proof or pull request.</p>
    )}
    {dangling.length > 0 && (
      <>
        <h2>Leads nowhere</h2>
        <ul>
          {dangling.map((reason) => (
            <li key={reason}>
              <Written text={reason} />
            </li>
          ))}
        </ul>
      </>
    )}
  </Item>
);

/** From the issue to the pull request: what of a Work item came from what. */
export const trace = page<Trace>({
  title: ({ item }) => `Trace of ${item.title}`,
  load: async ({ call }, { params: { id = '' } }) => {
    const [item, graph, proofs] = await Promise.all([
      call('GET /cases/{id}', { id }),
      call('GET /api/codehost/traceability', { query: { case_id: id } }),
      call('GET /cases/{id}/proof', { id }),
    ]);
    const dangling = new Set(graph.dangling.map(({ reason }) => reason));
    return { item, ...withCommits({ ...graph, proofs, id }), dangling: [...dangling] };
  },
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
