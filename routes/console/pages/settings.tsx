import type { Provider, WorkspaceSettings } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Do } from '../parts/form.tsx';
import { Settings } from '../parts/frames.tsx';
import { Path } from '../parts/links.tsx';
import { Projects } from '../parts/settings/projects.tsx';
import { Providers } from '../parts/settings/providers.tsx';

interface SettingsShown {
  settings: WorkspaceSettings;
  etag: string;
  providers: Provider[];
}

const View = ({ settings, etag, providers }: SettingsShown) => {
  const { file, projects, provider, max_sessions, waiting } = settings;
  return (
    <Settings tab="Projects">
      <Next {...settings} providers={providers} />
      {waiting.length > 0 && (
        <p class="box warn">
          {waiting.length === 1 ? 'One setting' : `${waiting.length} settings`} of the file below do
          not hold yet. <a href="/dashboard/settings/trust">Look at what waits for your trust</a>.
        </p>
      )}
      <Projects projects={projects} etag={etag} />
      <Providers providers={providers} chosen={provider} etag={etag} />
      <section aria-labelledby="sessions">
        <h2 id="sessions">At once</h2>
        <Do call="PUT /settings" if_match={etag} class="line">
          <label for="max_sessions">Sessions that may plan or work at once</label>
          <input
            {...{ id: 'max_sessions', name: 'max_sessions:json', type: 'number' }}
            {...{ min: 1, max: 64, required: true, defaultValue: String(max_sessions) }}
          />
          <button type="submit">Save</button>
        </Do>
      </section>
      <section aria-labelledby="file">
        <h2 id="file">File</h2>
        <p>
          All settings are in <Path name="the path of workspace.md" path={file} />
        </p>
        <p class="quiet">
          It has every setting with its default, and is read again as soon as you save it.
        </p>
      </section>
    </Settings>
  );
};

type NextProps = WorkspaceSettings & { providers: Provider[] };

/** What is to be done next on a first visit; and that it is done. */
const Next = ({ projects, provider, providers }: NextProps) => {
  const hasDefault = projects.some(({ name, repository }) => name === 'default' && repository);
  const canWork = providers.some(({ id, available }) => id === provider && available);
  if (hasDefault && canWork)
    return (
      <p class="line">
        <a class="button" href="/dashboard/new">
          Make a Work item
        </a>
        <span class="quiet">
          in {projects.length === 1 ? 'your project' : 'one of your projects'}, with {provider}
        </span>
      </p>
    );
  return (
    <div class="box" role="note">
      <strong>Before the first plan:</strong>
      <ol class="steps">
        <li>{hasDefault ? 'Done: a project is there.' : 'Add the git repository to work in.'}</li>
        <li>
          {canWork ? `${provider} can plan and work, or choose another.` : 'Choose who works.'}
        </li>
        <li>Make a Work item.</li>
      </ol>
    </div>
  );
};

/** Which repositories are worked on, and who works. */
export const settings = page<SettingsShown>({
  title: () => 'Settings',
  load: async (api) => {
    const [{ data, etag }, providers] = await Promise.all([
      api.request('GET /settings'),
      api.call('GET /api/sessions/providers'),
    ]);
    // Of a provider the models that it offers are of no use here.
    return {
      settings: data as WorkspaceSettings,
      etag: etag ?? '',
      providers: providers.map(({ offers: _, ...one }) => one),
    };
  },
  View,
  follows: ({ event_type }) =>
    event_type === 'attention_changed' || event_type.startsWith('problem_'),
});
