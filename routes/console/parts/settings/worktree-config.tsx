import type { WorktreeConfig } from '../../../../lib/client/client.ts';
import { Do } from '../do.tsx';

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
