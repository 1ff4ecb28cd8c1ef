import { page } from '../common/page.ts';
import {
  type Choice,
  ITEM_TYPES,
  ProviderField,
  providersOf,
  TypeField,
} from '../parts/case/start.tsx';
import { MarkdownField } from '../parts/case/text.tsx';
import { Do } from '../parts/do.tsx';
import { FromIssue, hostOf } from '../parts/new-issue.tsx';
import { TitleField } from '../parts/new-title.tsx';

interface New {
  providers: Choice[];
  /** Where issues are taken from, as `owner/name`. */
  host: string | undefined;
}

const View = ({ providers, host }: New) => (
  <>
    <h1>New Work item</h1>
    <Do call="POST /cases" then="/dashboard/cases/{id}" class="fields new">
      <TitleField />
      <div class="pair">
        <TypeField id="type" known={ITEM_TYPES} value="task" />
        <Project id="project" />
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

const Project = ({ id }: { id: string }) => (
  <div>
    <label for={id}>Project</label>
    <input {...{ id, name: 'project?', placeholder: 'default', autocomplete: 'off' }} />
  </div>
);

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
    const [providers, host] = await Promise.all([providersOf(api), hostOf(api)]);
    return { providers, host };
  },
  View,
  follows: () => false,
});
