import type { Provider, WorkspaceSettings } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { definePage } from '../common/page.ts';
import { Section } from '../parts/facts.tsx';
import { ApiForm, CallButton } from '../parts/form.tsx';
import { Settings } from '../parts/frames.tsx';
import { Path } from '../parts/links.tsx';
import { Projects } from '../parts/settings/projects.tsx';

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
      <Section id="sessions" title="Concurrency">
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
      </Section>
      <Section id="file" title="File">
        <p>
          All settings: <Path name="the path of workspace.md" path={file} />
        </p>
        <p class="quiet">
          The file has every setting with its default. It is read again as soon as you save it.
        </p>
      </Section>
    </Settings>
  );
};

/** The next steps of a first visit. */
const Next = ({ projects, provider, providers }: WorkspaceSettings & { providers: Provider[] }) => {
  const hasProject = projects.some(({ repository }) => repository);
  const canWork = providers.some(({ id, available }) => id === provider && available);
  if (hasProject && canWork)
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
        <li>{hasProject ? 'Done: the project is set.' : 'Add the git repository to work in.'}</li>
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

interface ProvidersProps {
  providers: readonly Provider[];
  /** The provider of new sessions. */
  chosen: string;
  etag: string;
}

/** The providers, as `dossier doctor` lists them, available ones first. */
const Providers = ({ providers, chosen, etag }: ProvidersProps) => {
  const known = providers.some(({ id }) => id === chosen);
  const order = ({ id, available }: Provider) => Number(id !== chosen) + Number(!available);
  return (
    <Section id="provider" title="Provider">
      <p class="quiet">Plans and works in new sessions. A session can choose another provider.</p>
      {!known && (
        <p class="bad">The settings name the provider {visible(chosen)}, which does not exist.</p>
      )}
      <ul class="rows" aria-label="Providers">
        {providers
          .toSorted((a, b) => order(a) - order(b))
          .map((one) => (
            <Row key={one.id} one={one} isChosen={one.id === chosen} etag={etag} />
          ))}
      </ul>
    </Section>
  );
};

const Row = ({ one, isChosen, etag }: { one: Provider; isChosen: boolean; etag: string }) => {
  const { id, available, reason, version, login, isolation } = one;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <h3 class="title">
          {visible(id)} {version !== undefined && <small>{version}</small>}
        </h3>
        {isChosen && <span class="tag working">Chosen</span>}
        {!available && <span class="tag">Not available</span>}
        {available && login === 'no' && <span class="tag trust">Not logged in</span>}
        {available && !isChosen && (
          <CallButton
            call="PUT /settings"
            body={{ provider: id }}
            if_match={etag}
            button="small"
            keys="p"
            label={`Use ${id}`}
          >
            Use
          </CallButton>
        )}
      </div>
      <p class="message quiet">
        {available ? (
          <>
            {WHAT[id] ?? ISOLATIONS[isolation]}
            {login !== undefined && ` ${LOGINS[login]}`}
          </>
        ) : (
          visible(reason ?? '')
        )}
      </p>
    </li>
  );
};

const WHAT: Readonly<Record<string, string>> = {
  runbook: 'Runs the sh blocks of the description after you approve them. Uses no model.',
  manual: 'You write the plan and do the work.',
};

const ISOLATIONS: Readonly<Record<Provider['isolation'], string>> = {
  enforced: 'The operating system prevents writes in Plan mode.',
  checked: 'Writes in Plan mode are detected and undone afterwards.',
  untried: 'An untested sandbox applies in Plan mode. Writes are undone afterwards.',
  operator: 'You keep to Plan mode yourself.',
};

// Judged by files and keys; only a session shows whether the model accepts them.
const LOGINS: Readonly<Record<NonNullable<Provider['login']>, string>> = {
  yes: 'Logged in, or has a key.',
  no: 'Log in with the agent once, or give the daemon its key.',
  unknown: 'Login unknown.',
};

/** The projects and the provider. */
export const page = definePage<SettingsShown>({
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
