import type {
  SharedSnapshot,
  StaleWorktree,
  WorktreeConfig,
} from '../../../../lib/client/client.ts';
import { counted, snapshotsText } from '../../../../lib/text/wording.ts';
import { visible } from '../../../../store/base/visible.ts';
import { EditForm } from '../edit-form.tsx';
import { Section } from '../facts.tsx';
import { ApiForm } from '../form.tsx';
import { labelOf } from '../labels.ts';
import { Copy } from '../links.tsx';
import { RelativeTime } from '../relative-time.tsx';

type Field = Exclude<keyof WorktreeConfig, 'ttl_hours' | 'commit'>;

/** A list has a line for each value; an empty text is none. */
const FIELDS: Readonly<Record<Field, { label: string; about: string }>> = {
  copy_files: {
    label: 'Files to copy',
    about: 'One glob per line. Matching ignored files are copied from your checkout.',
  },
  setup: {
    label: 'Setup',
    about: 'One command per line, run in each new worktree with the permissions of Work mode.',
  },
  share: {
    label: 'Shared directories',
    about:
      'One path per line, such as node_modules. With the sandbox, new worktrees with the same lockfile get a copy of what the setup installed.',
  },
  base_branch: {
    label: 'Base branch',
    about:
      "The branch that worktrees start from. Empty: the remote's default branch, or else the current branch.",
  },
  branch_prefix: { label: 'Branch prefix', about: 'The value of {prefix} in the next field.' },
  branch_template: {
    label: 'Branch name',
    about:
      'May contain {prefix}, {name}, {slug}, {id}, {type} and {project}; must contain {id} or {name}.',
  },
  root: {
    label: 'Directory',
    about: 'Where worktrees are created. A relative path starts at the workspace.',
  },
};

/** The configuration of new worktrees. Unchanged values are not sent. */
export const Config = ({ config, etag }: { config: WorktreeConfig; etag: string }) => (
  <Section id="config" title="Configuration">
    <EditForm call="PUT /api/worktrees/config" if_match={etag} was={config} class="fields">
      {Object.entries(FIELDS).map(([name, { label, about }]) => (
        <p key={name}>
          <label for={name}>{label}</label>
          <Entry name={name} value={config[name as Field]} />
          <small class="quiet" id={`${name}-about`}>
            {about}
          </small>
        </p>
      ))}
      <p>
        <label for="ttl_hours">Stale after, in hours</label>
        <input
          id="ttl_hours"
          name="ttl_hours:json"
          type="number"
          min={0}
          step="any"
          required
          defaultValue={String(config.ttl_hours)}
        />
      </p>
      <p>
        <label for="commit">Work of a completed session</label>
        <select id="commit" name="commit">
          {Object.entries(COMMITS).map(([value, text]) => (
            <option key={value} value={value} selected={value === config.commit}>
              {text}
            </option>
          ))}
        </select>
      </p>
      <button type="submit">Save</button>
    </EditForm>
  </Section>
);

const COMMITS: Readonly<Record<WorktreeConfig['commit'], string>> = {
  end: 'Is committed on its branch',
  never: 'Stays uncommitted',
};

const Entry = ({ name, value }: { name: string; value: string | string[] | null }) => {
  const given = { id: name, spellcheck: false, 'aria-describedby': `${name}-about` };
  return Array.isArray(value) ? (
    <textarea
      {...given}
      name={`${name}:lines`}
      rows={3}
      class="code"
      defaultValue={value.join('\n')}
    />
  ) : (
    <input {...given} name={`${name}:null`} autocomplete="off" defaultValue={value ?? ''} />
  );
};

/** The snapshots of shared directories, and how to delete them. */
export const Snapshots = ({ snapshots }: { snapshots: readonly SharedSnapshot[] }) =>
  snapshots.length === 0 ? null : (
    <Section id="snapshots" title="Installed for later worktrees">
      <ApiForm call="DELETE /api/worktrees/shared" class="answers">
        <button type="submit">Delete</button>
        <span class="quiet">
          {snapshotsText(snapshots)}. Worktrees keep their copies; the next one installs again.
        </span>
      </ApiForm>
    </Section>
  );

/** The Work item of a worktree, with a link to its page. */
export const WorktreeLink = ({
  case_id,
  title,
}: {
  case_id: string;
  title: string | undefined;
}) => (
  <a class="title" href={`/dashboard/settings/worktrees/${case_id}`} data-key="o">
    {title === undefined ? `Work item ${case_id} (deleted)` : visible(title)}
  </a>
);

/** The branch and the path of a worktree. */
export const Branch = ({ branch, path }: { branch: string; path: string }) => (
  <p class="message quiet">
    <code>{visible(branch)}</code>{' '}
    <Copy class="small" label="Copy path" name={`of ${branch}`} text={path} />
  </p>
);

interface StaleProps {
  stale: readonly StaleWorktree[];
  titles: Readonly<Record<string, string>>;
  ttl_hours: number;
}

/** Stale worktrees: those that a clean-up removes, and those that it keeps, with the reason. */
export const Stale = ({ stale, titles, ttl_hours }: StaleProps) => {
  const goes = stale.filter(({ removable }) => removable);
  const stays = stale.filter(({ removable }) => !removable);
  return (
    <Section id="stale" title="Stale">
      <p class="quiet">Unused for {ttl_hours} hours. Nothing is removed automatically.</p>
      {stale.length === 0 && <p class="quiet">No stale worktrees.</p>}
      {goes.length > 0 && (
        <>
          <h3>Can be removed: {counted(goes.length, 'worktree')}</h3>
          <List name="Can be removed" of={goes} titles={titles} />
          <ApiForm
            call="POST /api/worktrees/cleanup"
            body={{ case_ids: goes.map(({ case_id }) => case_id) }}
            class="answers"
          >
            <button type="submit" class="danger" data-key="x">
              Remove {goes.length === 1 ? 'this one' : `these ${goes.length}`}
            </button>
            <span class="quiet">
              Branches stay, and no work is lost. Worktrees used since are kept.
            </span>
          </ApiForm>
        </>
      )}
      {stays.length > 0 && (
        <>
          <h3>Cannot be removed: {counted(stays.length, 'worktree')}</h3>
          <List name="Cannot be removed" of={stays} titles={titles} />
        </>
      )}
    </Section>
  );
};

interface ListProps extends Pick<StaleProps, 'titles'> {
  name: string;
  of: readonly StaleWorktree[];
}

const List = ({ name, of, titles }: ListProps) => (
  <ul class="rows" aria-label={name}>
    {of.map(({ case_id, path, branch, status, last_used_at, code, reason }) => (
      <li key={case_id} class="row" data-row={`${name} ${case_id}`} tabIndex={-1}>
        <div class="head">
          <WorktreeLink case_id={case_id} title={titles[case_id]} />
          {status !== 'ok' && <span class="tag failed">{labelOf(status)}</span>}
          <RelativeTime at={last_used_at} />
        </div>
        <Branch branch={branch} path={path} />
        {reason !== undefined && (
          <p class="message">
            {visible(reason)}{' '}
            {code === 'work_would_be_lost' && (
              <a href={`/dashboard/settings/worktrees/${case_id}`}>Save its work and remove it…</a>
            )}
          </p>
        )}
      </li>
    ))}
  </ul>
);
