import type { Provider, WorkspaceSettings } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { ApiForm } from '../parts/form.tsx';
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
          {waiting.length === 1 ? 'One setting' : `${waiting.length} settings`} in the file below do
          not apply yet. <a href="/dashboard/settings/trust">Review them</a>.
        </p>
      )}
      <Projects projects={projects} etag={etag} />
      <Providers providers={providers} chosen={provider} etag={etag} />
      <section aria-labelledby="sessions">
        <h2 id="sessions">Concurrency</h2>
        <ApiForm call="PUT /settings" if_match={etag} class="line">
          <label for="max_sessions">Concurrent sessions</label>
          <input
            id="max_sessions"
            name="max_sessions:json"
            type="number"
            min={1}
            max={64}
            required
            defaultValue={String(max_sessions)}
          />
          <button type="submit">Save</button>
        </ApiForm>
      </section>
      <section aria-labelledby="file">
        <h2 id="file">File</h2>
        <p>
          All settings: <Path name="the path of workspace.md" path={file} />
        </p>
        <p class="quiet">
          The file has every setting with its default. It is read again as soon as you save it.
        </p>
      </section>
    </Settings>
  );
};

type NextProps = WorkspaceSettings & { providers: Provider[] };

/** The next steps of a first visit. */
const Next = ({ projects, provider, providers }: NextProps) => {
  const hasDefault = projects.some(({ name, repository }) => name === 'default' && repository);
  const canWork = providers.some(({ id, available }) => id === provider && available);
  if (hasDefault && canWork)
    return (
      <p class="line">
        <a class="button" href="/dashboard/new">
          Create a Work item{' '}
        </a>
        <span class="quiet">
          in {projects.length === 1 ? 'your project' : 'one of your projects'}, with {provider}
        </span>
      </p>
    );
  return (
    <div class="box" role="note">
      <strong>First steps</strong>
      <ol class="steps">
        <li>{hasDefault ? 'Done: the project is set.' : 'Add the git repository to work in.'}</li>
        <li>
          {canWork
            ? `${provider} is available. You can choose another provider.`
            : 'Choose a provider.'}
        </li>
        <li>Create a Work item.</li>
      </ol>
    </div>
  );
};

/** The projects and the provider. */
export const settings = page<SettingsShown>({
  title: () => 'Settings',
  load: async (api) => {
    const [{ data, etag }, providers] = await Promise.all([
      api.request('GET /settings'),
      api.call('GET /api/sessions/providers'),
    ]);
    // The page does not show the models that a provider offers.
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
