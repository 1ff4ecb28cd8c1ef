import { useEffect, useRef, useState } from 'preact/hooks';
import type { DetectedRepository } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { type Api, definePage } from '../common/page.ts';
import { MarkdownField } from '../parts/case/markdown-field.tsx';
import { loadProviders, type ProviderChoice, ProviderField } from '../parts/case/start.tsx';
import { Section } from '../parts/facts.tsx';
import { ITEM_TYPES, TypeField } from '../parts/fields.tsx';
import { ApiForm, isBrowser } from '../parts/form.tsx';

interface New {
  providers: ProviderChoice[];
  /** `default` first, if it exists. */
  projects: string[];
  /** The repository of the code host, as `owner/name`. */
  host: string | undefined;
}

const View = ({ providers, projects, host }: New) => (
  <>
    <h1>What should be done?</h1>
    <ApiForm call="POST /cases" then="/dashboard/cases/{id}" keep class="fields new">
      <TitleField />
      <div class="pair">
        <TypeField id="type" known={ITEM_TYPES} value="task" />
        <Project projects={projects} />
      </div>
      <MarkdownField
        name="description"
        label="Description"
        placeholder="What you want, and how to tell that it is done (Markdown)"
      />
      <AtOnce providers={providers} />
      <button type="submit" class="primary">
        Create
      </button>
    </ApiForm>
    <FromIssue host={host} />
  </>
);

const Project = ({ projects }: Pick<New, 'projects'>) => (
  <div>
    <label for="project">Project</label>
    <select id="project" name="project?">
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
      <input type="checkbox" name="_next" value="POST /cases/{id}/sessions" defaultChecked /> Start
      a session
    </label>
    <p class="quiet">The session plans first. Nothing runs before you approve the plan.</p>
    <input type="hidden" name="_next.type" value="implementing" />
    <ProviderField providers={providers} before="_next." />
  </fieldset>
);

/** Creates a Work item, with a session that plans it. */
export const page = definePage<New>({
  title: () => 'New Work item',
  load: async (api) => {
    const [providers, projects, host] = await Promise.all([
      loadProviders(api),
      projectsOf(api),
      hostOf(api),
    ]);
    return { providers, projects, host };
  },
  View,
  follows: () => false,
});

/** The title's field, focused at once. */
const TitleField = () => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div>
      <label for="title">Title</label>
      <input id="title" name="title" ref={field} required />
    </div>
  );
};

/** Creates a Work item from an issue, if a code host is configured. */
const FromIssue = ({ host }: { host: string | undefined }) => {
  const [known] = useState(host);
  if (known === undefined) return null;
  return (
    <Section id="from-issue" title="From an issue">
      <p class="quiet">{`From ${visible(known)}. The Work item is linked to the issue.`}</p>
      <ApiForm
        call="POST /api/codehost/issues/import-case"
        then="/dashboard/cases/{id}"
        class="line"
      >
        <label for="number">Number</label>
        <input id="number" name="number:json" type="number" min={1} step={1} required />
        <button type="submit">Import</button>
      </ApiForm>
    </Section>
  );
};

/**
 * The repository to import issues from. Only the server asks: without a code host the response is an error, which a
 * browser logs.
 */
const hostOf = async ({ call }: Api): Promise<string | undefined> =>
  isBrowser ? undefined : call('GET /api/codehost/repo/detect').then(nameOf, () => undefined);

const nameOf = ({ owner, name }: DetectedRepository): string => `${owner}/${name}`;
