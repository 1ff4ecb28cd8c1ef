import { WaitingRows, type Waits } from '../waiting-row.tsx';
import { nextOf, type Way } from './next-step.ts';

/** What a Work item needs now: what waits for the operator, else the next step. */
export const Next = ({ id, waits, ...way }: Way & { id: string; waits: Waits }) => {
  if (waits.items.length > 0)
    return (
      <section class="next" aria-label="What needs you">
        <WaitingRows {...waits} />
      </section>
    );
  const next = nextOf(way);
  if (next === undefined) return null;
  const { word, why, at } = next;
  return (
    <section class="next line" aria-label="What comes next">
      <a
        class="button primary"
        href={at.startsWith('#') ? at : `/dashboard/cases/${id}${at}`}
        data-key="a"
      >
        {word}
      </a>
      <span class="quiet">{why}</span>
    </section>
  );
};
