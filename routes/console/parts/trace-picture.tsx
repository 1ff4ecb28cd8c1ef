import { visible } from '../../../base/visible.ts';
import { COLUMNS, type TraceCard, type TraceLine } from './trace-columns.ts';

const [COLUMN, WIDTH, ROW, HEIGHT, TOP] = [170, 146, 60, 46, 34] as const;
/** More of a kind is in the list alone. */
const MOST = 40;

interface Placed extends TraceCard {
  x: number;
  y: number;
}

interface PictureProps {
  cards: readonly TraceCard[];
  lines: readonly TraceLine[];
}

/** The cards in fixed columns with lines between them. */
export const TracePicture = ({ cards, lines }: PictureProps) => {
  const placed = placedOf(cards);
  const rows = Math.max(1, ...[...placed.values()].map(({ y }) => (y - TOP) / ROW + 1));
  const size = `0 0 ${COLUMN * COLUMNS.length} ${TOP + rows * ROW}`;
  return (
    <svg class="trace" viewBox={size}>
      <title>What came from what</title>
      {COLUMNS.map(({ kind, name }, at) => (
        <text key={kind} class="column" x={at * COLUMN} y={16}>
          {name}
        </text>
      ))}
      {lines.map(({ from, to }) => (
        <Line key={`${from} ${to}`} from={placed.get(from)} to={placed.get(to)} />
      ))}
      {[...placed.values()].map((card) => (
        <Card key={card.id} {...card} />
      ))}
    </svg>
  );
};

const placedOf = (cards: readonly TraceCard[]): Map<string, Placed> => {
  const placed = new Map<string, Placed>();
  for (const [at, { kind }] of COLUMNS.entries())
    for (const [row, card] of cards
      .filter((one) => one.kind === kind)
      .slice(0, MOST)
      .entries())
      placed.set(card.id, { ...card, x: at * COLUMN, y: TOP + row * ROW });
  return placed;
};

const Line = ({ from, to }: { from: Placed | undefined; to: Placed | undefined }) => {
  if (from === undefined || to === undefined) return null;
  const [left, right] = from.x <= to.x ? [from, to] : [to, from];
  const [x, y] = [left.x + WIDTH, left.y + HEIGHT / 2];
  const end = right.y + HEIGHT / 2;
  const half = (x + right.x) / 2;
  return <path class="tie" d={`M${x} ${y}C${half} ${y} ${half} ${end} ${right.x} ${end}`} />;
};

const Card = (card: Placed) => {
  const { x, y, kind, label, state, href } = card;
  const inside = (
    <>
      <title>{`${visible(label)} ${visible(state)}`.trim()}</title>
      <rect class={`card ${kind}`} x={x} y={y} width={WIDTH} height={HEIGHT} rx={6} />
      <text class="label" x={x + 10} y={y + 20}>
        {short(visible(label))}
      </text>
      <text class="state" x={x + 10} y={y + 36}>
        {short(visible(state))}
      </text>
    </>
  );
  if (href === undefined) return <g>{inside}</g>;
  return (
    <a href={href} data-row={card.id}>
      {inside}
    </a>
  );
};

const LETTERS = 16;

const short = (text: string): string => {
  const letters = [...text];
  return letters.length <= LETTERS ? text : `${letters.slice(0, LETTERS - 1).join('')}…`;
};
