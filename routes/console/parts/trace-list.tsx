import { visible } from '../../../base/visible.ts';
import { COLUMNS, type TraceCard } from './trace-columns.ts';

/** The same as a list, for narrow screens. */
export const TraceList = ({ cards }: { cards: readonly TraceCard[] }) => (
  <div class="trace-list">
    {COLUMNS.map(({ kind, name }) => {
      const own = cards.filter((card) => card.kind === kind);
      return own.length === 0 ? null : (
        <section key={kind} aria-label={name}>
          <h2>{name}</h2>
          <ul class="rows">
            {own.map(({ id, label, state, href }) => (
              <li key={id} class="row">
                <div class="head">
                  {href === undefined ? (
                    <span class="title">{visible(label)}</span>
                  ) : (
                    <a class="title" href={href}>
                      {visible(label)}
                    </a>
                  )}
                  <span class="quiet">{visible(state)}</span>
                </div>
              </li>
            ))}
          </ul>
        </section>
      );
    })}
  </div>
);
