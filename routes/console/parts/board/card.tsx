import { visible } from '../../../../store/base/visible.ts';
import { MergedTag, StatusTag } from '../frames.tsx';
import { attentionLabel } from '../labels.ts';
import { RelativeTime } from '../relative-time.tsx';
import type { Card } from './cards.ts';
import { MoveForm, MoveLink, type Moving } from './move.tsx';

export interface CardProps {
  of: Card;
  /** The card with the open form. */
  moving: Moving | undefined;
  /** Opens the form for a card; undefined closes it. */
  move: (id: string | undefined) => void;
}

/** Whether a Work item is merged, its session status and its inbox items. */
export const Tags = ({ of: { status, waits = [], merged } }: { of: Card }) => (
  <>
    {merged !== undefined && <MergedTag />}
    {status !== undefined && !waits.some((kind) => kind === 'plan' || kind === status) && (
      <StatusTag status={status} />
    )}
    {waits.map((kind) => (
      <span key={kind} class={`tag ${kind}`}>
        {attentionLabel(kind)}
      </span>
    ))}
  </>
);

export const TitleLink = ({ of: { id, title } }: { of: Card }) => (
  <a class="title" href={`/dashboard/cases/${id}`} data-key="o" draggable={false}>
    {visible(title)}
  </a>
);

/** A Work item on the board. */
export const CardInside = ({ of: card, moving, move }: CardProps) => (
  <>
    <TitleLink of={card} />
    <p class="line">
      <Tags of={card} />
      <span class="quiet">
        {card.project === 'default' ? card.type : `${card.type}, ${visible(card.project)}`}
      </span>
      <RelativeTime at={card.created_at} />
      <MoveLink of={card} move={move} />
    </p>
    {moving?.id === card.id && <MoveForm {...moving} move={move} />}
  </>
);
