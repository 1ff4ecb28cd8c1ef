import type { StaleWorktree, WorktreeConfig } from '../../../../lib/client/client.ts';
import { Do } from '../form.tsx';
import { Copy } from '../links.tsx';
import { Since } from '../relative-time.tsx';
import { Written } from '../written.tsx';

type Text = 'root' | 'branch_prefix' | 'branch_template' | 'base_branch';

const TEXTS: Readonly<Record<Text, { label: string; about: string }>> = {
  base_branch: {
    label: 'Base branch',
    about: "What worktrees start from. Empty: the remote's default branch, else the current one.",
  },
  branch_prefix: { label: 'Prefix of branches', about: '{prefix} of the next field.' },
  branch_template: {
    label: 'Name of branches',
    about: 'Of {prefix}, {name}, {slug}, {id}, {type} and {project}, with {id} or {name} in it.',
  },
  root: { label: 'Directory', about: 'Where they are made; from the workspace on if relative.' },
};

const LISTS = {
  copy_files: {
    label: 'Files to copy',
    about: 'One glob a line, of files that git ignores: copied from your checkout.',
  },
  setup: {
    label: 'Set-up',
    about: 'One command a line, run in each new worktree with what Work mode may do.',
  },
} as const;

/** How worktrees are made. What is not changed here is not written. */
export const Config = ({ config, etag }: { config: WorktreeConfig; etag: string }) => (
  <section aria-labelledby="config">
    <h2 id="config">How they are made</h2>
    <Do call="PUT /api/worktrees/config" if_match={etag} was={config} class="fields">
      {Object.entries(LISTS).map(([name, { label, about }]) => (
        <p key={name}>
          <label for={name}>{label}</label>
          <textarea
            {...{ id: name, name: `${name}:lines`, rows: 3, spellcheck: false }}
            class="code"
            aria-describedby={`${name}-about`}
            defaultValue={config[name as keyof typeof LISTS].join('\n')}
          />
          <small class="quiet" id={`${name}-about`}>
            {about}
          </small>
        </p>
      ))}
      {Object.entries(TEXTS).map(([name, { label, about }]) => (
        <p key={name}>
          <label for={name}>{label}</label>
          <input
            {...{ id: name, name: `${name}:null`, autocomplete: 'off', spellcheck: false }}
            aria-describedby={`${name}-about`}
            defaultValue={config[name as Text] ?? ''}
          />
          <small class="quiet" id={`${name}-about`}>
            {about}
          </small>
        </p>
      ))}
      <p>
        <label for="ttl_hours">Stale after, in hours</label>
        <input
          {...{ id: 'ttl_hours', name: 'ttl_hours:json', type: 'number', min: 0, step: 'any' }}
          {...{ required: true, defaultValue: String(config.ttl_hours) }}
        />
      </p>
      <button type="submit">Save</button>
    </Do>
  </section>
);

/** Whose a worktree is, and where all of it is looked at. */
export const OfItem = ({ case_id, title }: { case_id: string; title: string | undefined }) => (
  <a class="title" href={`/dashboard/settings/worktrees/${case_id}`} data-key="o">
    {title === undefined ? `Work item ${case_id}, which is gone` : <Written text={title} />}
  </a>
);

/** What is checked out in it, and where it is. */
export const Branch = ({ branch, path }: { branch: string; path: string }) => (
  <p class="message quiet">
    <code>
      <Written text={branch} />
    </code>{' '}
    <Copy class="small" label="Copy path" name={`of ${branch}`} text={path} />
  </p>
);

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
