import { useEffect, useRef, useState } from 'preact/hooks';
import type { DetectedRepository } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { type Api, page } from '../common/page.ts';
import { MarkdownField } from '../parts/case/markdown-field.tsx';
import {
  type Choice,
  ITEM_TYPES,
  ProviderField,
  providersOf,
  TypeField,
} from '../parts/case/start.tsx';
import { Do } from '../parts/form.tsx';

interface New {
  providers: Choice[];
  /** `default` first, where there is one. */
  projects: string[];
  /** Where issues are taken from, as `owner/name`. */
  host: string | undefined;
}

const View = ({ providers, projects, host }: New) => (
  <>
    <h1>New Work item</h1>
    <Do call="POST /cases" then="/dashboard/cases/{id}" keep class="fields new">
      <TitleField />
      <div class="pair">
        <TypeField id="type" known={ITEM_TYPES} value="task" />
        <Project id="project" projects={projects} />
      </div>
      <MarkdownField
        name="description"
        label="Description"
        placeholder="What you want, and how you will know that it is done. Markdown."
      />
      <AtOnce providers={providers} />
      <button type="submit" class="primary">
        Create
      </button>
    </Do>
    <FromIssue host={host} />
  </>
);

const Project = ({ id, projects }: { id: string } & Pick<New, 'projects'>) => (
  <div>
    <label for={id}>Project</label>
    <select {...{ id, name: 'project?' }}>
      {projects.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
      {projects.length === 0 && <option value="">default</option>}
    </select>
  </div>
);

const projectsOf = async (api: Api): Promise<string[]> => {
  const { projects } = await api.call('GET /settings');
  const names = projects.map(({ name }) => name);
  return names.toSorted((a, b) => Number(b === 'default') - Number(a === 'default'));
};

const AtOnce = ({ providers }: Pick<New, 'providers'>) => (
  <fieldset class="at-once">
    <legend>Plan</legend>
    <label>
      <input
        {...{ type: 'checkbox', name: '_next', value: 'POST /cases/{id}/sessions' }}
        defaultChecked
      />{' '}
      Start a session at once
    </label>
    <p class="quiet">It makes a plan; nothing of it is done before you approve it.</p>
    <input type="hidden" name="_next.type" value="implementing" />
    <ProviderField providers={providers} before="_next." />
  </fieldset>
);

/** A Work item is made, and led to its first plan. */
export const newItem = page<New>({
  title: () => 'New Work item',
  load: async (api) => {
    const [providers, projects, host] = await Promise.all([
      providersOf(api),
      projectsOf(api),
      hostOf(api),
    ]);
    return { providers, projects, host };
  },
  View,
  follows: () => false,
});

/** What a Work item is called; one begins to write at once. */
const TitleField = () => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div>
      <label for="title">Title</label>
      <input {...{ id: 'title', name: 'title', ref: field, required: true }} />
    </div>
  );
};

/** Makes a Work item of an issue, where a code host is known. */
const FromIssue = ({ host }: { host: string | undefined }) => {
  const [known] = useState(host);
  if (known === undefined) return null;
  return (
    <section aria-labelledby="from-issue">
      <h2 id="from-issue">From an issue</h2>
      <p class="quiet">{`Of ${visible(known)}. The Work item is linked to it from its first moment.`}</p>
      <Do call="POST /api/codehost/issues/import-case" then="/dashboard/cases/{id}" class="line">
        <label for="number">Number</label>
        <input
          {...{ id: 'number', name: 'number:json', type: 'number', min: 1, step: 1 }}
          required
        />
        <button type="submit">Import</button>
      </Do>
    </section>
  );
};

/** Whose issues can be imported. Where there is no such host the browser's console would name it as a failure: the server asks. */
const hostOf = async ({ call }: Api): Promise<string | undefined> =>
  typeof document !== 'undefined'
    ? undefined
    : call('GET /api/codehost/repo/detect').then(nameOf, () => undefined);

const nameOf = ({ owner, name }: DetectedRepository): string => `${owner}/${name}`;
