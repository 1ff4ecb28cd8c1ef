import type { Provider } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';

/** What can be chosen to plan and work, that of the settings first. */
export const providersOf = async ({ call }: Api): Promise<Choice[]> =>
  (await call('GET /api/sessions/providers')).map(({ id, available, reason, offers = {} }) => {
    const { models = [], efforts = [] } = offers;
    return { id, available, ...(reason && { reason }), models, efforts };
  });

/** Of a provider what a session chooses by. */
export interface Choice extends Pick<Provider, 'id' | 'available' | 'reason'> {
  models: { value: string; name: string }[];
  efforts: { value: string; name: string }[];
}

interface StartProps {
  providers: readonly Choice[];
  /** Before the names of the fields. */
  before?: string;
}

/** Who plans and works: as the settings say, where nobody chooses. */
export const ProviderField = ({ providers, before = '' }: StartProps) => (
  <div>
    <label for="provider">Provider</label>
    <select id="provider" name={`${before}provider?`}>
      {providers.map(({ id, available, reason }, at) => (
        <option key={id} value={at === 0 ? '' : id} disabled={!available} title={reason}>
          {[id, at === 0 && 'by the settings', !available && 'not usable']
            .filter(Boolean)
            .join(', ')}
        </option>
      ))}
    </select>
  </div>
);

/** How it works. */
export const ModelFields = ({ providers, before = '' }: StartProps) => (
  <>
    <Chosen
      {...{ id: 'model', label: 'Model', name: `${before}model?` }}
      from={providers.flatMap(({ models }) => models)}
    />
    <Chosen
      {...{ id: 'effort', label: 'Effort', name: `${before}effort?` }}
      from={providers.flatMap(({ efforts }) => efforts)}
    />
  </>
);

interface ChosenProps {
  id: string;
  label: string;
  name: string;
  from: Choice['models'];
}

const Chosen = ({ id, label, name, from }: ChosenProps) => (
  <div>
    <label for={id}>{label}</label>
    <input id={id} name={name} list={`${id}-known`} placeholder="Its own" maxLength={200} />
    <datalist id={`${id}-known`}>
      {[...new Map(from.map((one) => [one.value, one.name]))].map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </datalist>
  </div>
);

/** What is known of words for types: any other will do. */
export const TypeField = ({
  id,
  known,
  value,
}: {
  id: string;
  known: readonly string[];
  value: string;
}) => (
  <div>
    <label for={id}>Type</label>
    <input
      {...{ id, name: 'type', defaultValue: value, list: `${id}-known`, required: true }}
      {...{ pattern: '[a-z][a-z0-9_\\-]*', maxLength: 64, autocomplete: 'off' }}
      title="Lower-case letters, digits, - and _"
    />
    <datalist id={`${id}-known`}>
      {known.map((word) => (
        <option key={word} value={word} />
      ))}
    </datalist>
  </div>
);

export const ITEM_TYPES = ['bug', 'feature', 'docs', 'chore', 'question', 'task'];
