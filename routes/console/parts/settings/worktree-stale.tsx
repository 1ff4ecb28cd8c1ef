import type { StaleWorktree } from '../../../../lib/client/client.ts';
import { Do } from '../do.tsx';
import { Since } from '../since.tsx';
import { Written } from '../written.tsx';
import { Branch, OfItem } from './worktree-row.tsx';

interface StaleProps {
  stale: readonly StaleWorktree[];
  titles: Readonly<Record<string, string>>;
  ttl_hours: number;
}

/** What a clean-up would remove, what it would keep and why; and the clean-up of exactly that. */
export const Stale = ({ stale, titles, ttl_hours }: StaleProps) => {
  const goes = stale.filter(({ removable }) => removable);
  const stays = stale.filter(({ removable }) => !removable);
  return (
    <section aria-labelledby="stale">
      <h2 id="stale">Stale</h2>
      <p class="quiet">
        No session, commit or staging for {ttl_hours} hours. Nothing is removed by a timer.
      </p>
      {stale.length === 0 && <p class="quiet">None: there is nothing to clean up.</p>}
      {goes.length > 0 && (
        <>
          <h3>A clean-up would remove {countOf(goes)}</h3>
          <List name="Would be removed" of={goes} titles={titles} />
          <Do
            call="POST /api/worktrees/cleanup"
            body={{ case_ids: goes.map(({ case_id }) => case_id) }}
            class="answers"
          >
            <button type="submit" class="danger" data-key="x">
              Remove {goes.length === 1 ? 'this one' : `these ${goes.length}`}
            </button>
            <span class="quiet">
              Their branches stay, and nothing that is only there is lost. One that was used or
              changed meanwhile stays.
            </span>
          </Do>
        </>
      )}
      {stays.length > 0 && (
        <>
          <h3>A clean-up would leave {countOf(stays)}</h3>
          <List name="Would stay" of={stays} titles={titles} />
        </>
      )}
    </section>
  );
};

const countOf = ({ length }: readonly unknown[]): string =>
  length === 1 ? '1 worktree' : `${length} worktrees`;

interface ListProps extends Pick<StaleProps, 'titles'> {
  name: string;
  of: readonly StaleWorktree[];
}

const List = ({ name, of, titles }: ListProps) => (
  <ul class="rows" aria-label={name}>
    {of.map(({ case_id, path, branch, status, last_used_at, code, reason }) => (
      <li key={case_id} class="row" data-row={`${name} ${case_id}`} tabIndex={-1}>
        <div class="head">
          <OfItem case_id={case_id} title={titles[case_id]} />
          {status !== 'ok' && <span class="tag failed">{status}</span>}
          <Since at={last_used_at} />
        </div>
        <Branch branch={branch} path={path} />
        {reason !== undefined && (
          <p class="message">
            <Written text={reason} />{' '}
            {code === 'work_would_be_lost' && (
              <a href={`/dashboard/settings/worktrees/${case_id}`}>Keep its work and remove it…</a>
            )}
          </p>
        )}
      </li>
    ))}
  </ul>
);
