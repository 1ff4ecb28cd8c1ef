import type { Case } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { definePage, followsItem } from '../common/page.ts';
import { Item } from '../parts/frames.tsx';
import { COLUMNS, type TraceCard, type TraceLine, withCommits } from '../parts/trace.ts';

interface Trace {
  item: Case;
  cards: TraceCard[];
  lines: TraceLine[];
  /** The reasons of links whose target does not exist. */
  dangling: string[];
}

const View = ({ item, cards, lines, dangling }: Trace) => (
  <Item of={item} tab="Trace">
    <TracePicture cards={cards} lines={lines} />
    {cards.length < 2 && (
      <p class="quiet">No links yet: no issue, session, proof or pull request.</p>
    )}
    {dangling.length > 0 && (
      <>
        <h2>Broken links</h2>
        <ul>
          {dangling.map((reason) => (
            <li key={reason}>{visible(reason)}</li>
          ))}
        </ul>
      </>
    )}
  </Item>
);

/** How the issue, sessions, commits, proofs and pull request of a Work item are linked. */
export const page = definePage<Trace>({
  title: ({ item }) => `Trace of ${item.title}`,
  load: async ({ call }, { params: { id = '' } }) => {
    const [item, graph, sessions, proofs] = await Promise.all([
      call('GET /cases/{id}', { id }),
      call('GET /api/codehost/traceability', { query: { case_id: id } }),
      call('GET /cases/{id}/sessions', { id }),
      call('GET /cases/{id}/proof', { id }),
    ]);
    const dangling = new Set(graph.dangling.map(({ reason }) => reason));
    return { item, ...withCommits({ ...graph, sessions, proofs, id }), dangling: [...dangling] };
  },
  View,
  follows: followsItem,
});

/**
 * The sizes in style/trace.css, which the page's policy keeps from being inline: a column is 100 wide, heights are
 * sixteenths of a rem.
 */
const [COLUMN, WIDTH, ROW, HEIGHT, TOP] = [100, 86, 64, 50, 34] as const;
/** For each kind, the newest. */
const MOST = 50;

interface Placed {
  x: number;
  y: number;
}

interface PictureProps {
  cards: readonly TraceCard[];
  lines: readonly TraceLine[];
}

/** Lists in columns, with lines between their cards. A narrow screen has the lists only. */
const TracePicture = ({ cards, lines }: PictureProps) => {
  const placed = placedOf(cards);
  const height = Math.max(0, ...[...placed.values()].map(({ y }) => y)) + ROW;
  return (
    <div class="trace">
      <svg
        class="ties"
        aria-hidden="true"
        preserveAspectRatio="none"
        viewBox={`0 0 ${COLUMN * COLUMNS.length} ${height}`}
        height={`${height / 16}rem`}
      >
        {lines.map(({ from, to }) => (
          <Line key={`${from} ${to}`} from={placed.get(from)} to={placed.get(to)} />
        ))}
      </svg>
      {COLUMNS.map(({ kind, name }) => (
        <Column
          key={kind}
          name={name}
          own={ofKind(cards, kind)}
          before={(id) => namesBefore(id, { cards, lines })}
        />
      ))}
    </div>
  );
};

const ofKind = (cards: readonly TraceCard[], wanted: TraceCard['kind']): readonly TraceCard[] =>
  cards.filter(({ kind }) => kind === wanted).toReversed();

const placedOf = (cards: readonly TraceCard[]): Map<string, Placed> =>
  new Map(
    COLUMNS.flatMap(({ kind }, at) =>
      ofKind(cards, kind)
        .slice(0, MOST)
        .map((card, row) => [card.id, { x: at * COLUMN, y: TOP + row * ROW }] as const),
    ),
  );

// The text for a screen reader, in place of the lines.
const namesBefore = (id: string, { cards, lines }: PictureProps): string =>
  lines
    .filter(({ to }) => to === id)
    .flatMap(({ from }) => cards.find((card) => card.id === from)?.label ?? [])
    .join(', ');

const Line = ({ from, to }: { from: Placed | undefined; to: Placed | undefined }) => {
  if (from === undefined || to === undefined) return null;
  const [left, right] = from.x <= to.x ? [from, to] : [to, from];
  const [x, y] = [left.x + WIDTH, left.y + HEIGHT / 2];
  const end = right.y + HEIGHT / 2;
  const half = (x + right.x) / 2;
  return <path d={`M${x} ${y}C${half} ${y} ${half} ${end} ${right.x} ${end}`} />;
};

interface ColumnProps {
  name: string;
  own: readonly TraceCard[];
  /** The labels of the cards that lead to a card. */
  before: (id: string) => string;
}

const Column = ({ name, own, before }: ColumnProps) => (
  <section aria-label={name} class={own.length === 0 ? 'none' : ''}>
    <h2>{name}</h2>
    {own.length === 0 && <p class="quiet">None</p>}
    <ol class="bare">
      {own.slice(0, MOST).map((card) => (
        <li key={card.id}>
          <Card {...card} before={before(card.id)} />
        </li>
      ))}
    </ol>
    {own.length > MOST && (
      <p class="quiet">{`${own.length - MOST} older entries are not shown.`}</p>
    )}
  </section>
);

const Card = ({ id, kind, label, state, href, before }: TraceCard & { before: string }) => {
  const inside = (
    <>
      <span class="label">{visible(label)}</span>
      <span class="state">{visible(state)}</span>
      {before !== '' && <span class="unseen">{`, of ${visible(before)}`}</span>}
    </>
  );
  const name = { class: `trace-card ${kind}`, title: visible(label) };
  if (href === undefined) return <span {...name}>{inside}</span>;
  return (
    <a {...name} href={href} data-row={id}>
      {inside}
    </a>
  );
};
