import type { WorkspaceSettings } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Section } from '../facts.tsx';
import { ApiForm, CallButton } from '../form.tsx';
import { Path } from '../links.tsx';

type Project = WorkspaceSettings['projects'][number];

interface ProjectsProps {
  projects: readonly Project[];
  /** The ETag of the settings. */
  etag: string;
}

/** The projects: add, make default, remove. */
export const Projects = ({ projects, etag }: ProjectsProps) => (
  <Section id="projects" title="Projects">
    {projects.length === 0 ? (
      <p class="quiet">No projects. A project is a git repository on this machine.</p>
    ) : (
      <ul class="rows" aria-label="Projects">
        {projects.map((project) => (
          <Row key={project.name} project={project} projects={projects} etag={etag} />
        ))}
      </ul>
    )}
    <Add hasDefault={projects.some(({ name }) => name === 'default')} etag={etag} />
  </Section>
);

interface RowProps extends ProjectsProps {
  project: Project;
}

const Row = ({ project, projects, etag }: RowProps) => {
  const { name, place, of, repository } = project;
  const standing = projects.find((one) => one.name === 'default');
  const isDefault = name === 'default' || standing?.place === place;
  return (
    <li class="row" data-row={name} tabIndex={-1}>
      <div class="head">
        <h3 class="title">{visible(name)}</h3>
        {isDefault && <span class="tag working">Default</span>}
      </div>
      <p class="message">
        <Path name={`the path of ${name}`} path={place} />
      </p>
      {!repository && (
        <p class="bad">
          No git repository at this path. Run <code>git init</code> there.
        </p>
      )}
      {of === 'flag' ? (
        <p class="quiet">Set by --repo when the daemon started, which overrides the file.</p>
      ) : (
        <div class="answers">
          {!isDefault && standing?.of !== 'flag' && (
            <CallButton
              call="PUT /settings"
              body={{ projects: { default: project.path } }}
              if_match={etag}
              keys="d"
            >
              Make default
            </CallButton>
          )}
          <details>
            <summary>
              Remove…<span class="unseen"> {name}</span>
            </summary>
            <ApiForm call="PUT /settings" body={{ projects: { [name]: null } }} if_match={etag}>
              <p class="quiet">
                The repository is not changed. Its Work items can no longer use it.
              </p>
              <button type="submit" class="danger">
                Remove<span class="unseen"> {name}</span> now
              </button>
            </ApiForm>
          </details>
        </div>
      )}
    </li>
  );
};

const Add = ({ hasDefault, etag }: { hasDefault: boolean; etag: string }) => (
  <ApiForm call="PUT /settings" if_match={etag} keep class="line add">
    <p>
      <label for="project-name">Name</label>
      <input
        id="project-name"
        name="_name"
        required
        maxLength={100}
        pattern={'[A-Za-z0-9][A-Za-z0-9._\\-]*'}
        defaultValue={hasDefault ? '' : 'default'}
        autocomplete="off"
        spellcheck={false}
        title="Letters, digits, dot, - and _"
      />
    </p>
    <p class="wide">
      <label for="project-path">Path of the repository</label>
      <input
        id="project-path"
        name="projects.{name}"
        required
        maxLength={4096}
        autocomplete="off"
        spellcheck={false}
        placeholder="/home/you/code/app"
        data-key="n"
        aria-label="Path of the repository"
      />
    </p>
    <button type="submit" class={hasDefault ? '' : 'primary'}>
      Add project
    </button>
  </ApiForm>
);
