import type { Provider } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';

/** The providers, that of the settings first. */
export const loadProviders = async ({ call }: Api): Promise<ProviderChoice[]> =>
  (await call('GET /api/sessions/providers')).map(({ id, available, reason, offers = {} }) => {
    const { models = [], efforts = [] } = offers;
    return { id, available, ...(reason && { reason }), models, efforts };
  });

/** What a session chooses of a provider. */
export interface ProviderChoice extends Pick<Provider, 'id' | 'available' | 'reason'> {
  models: { value: string; name: string }[];
  efforts: { value: string; name: string }[];
}

interface StartProps {
  providers: readonly ProviderChoice[];
  /** The prefix of the field names. */
  before?: string;
}

/** Chooses the provider; empty means that of the settings. */
export const ProviderField = ({ providers, before = '' }: StartProps) => (
  <div>
    <label for="provider">Provider</label>
    <select id="provider" name={`${before}provider?`}>
      {providers.map(({ id, available, reason }, at) => (
        <option key={id} value={at === 0 ? '' : id} disabled={!available} title={reason}>
          {[id, at === 0 && 'default', !available && 'not available'].filter(Boolean).join(', ')}
        </option>
      ))}
    </select>
  </div>
);

/** Chooses model and effort. */
export const ModelFields = ({ providers, before = '' }: StartProps) => (
  <>
    <Chosen
      id="model"
      label="Model"
      name={`${before}model?`}
      from={providers.flatMap(({ models }) => models)}
    />
    <Chosen
      id="effort"
      label="Effort"
      name={`${before}effort?`}
      from={providers.flatMap(({ efforts }) => efforts)}
    />
  </>
);

interface ChosenProps {
  id: string;
  label: string;
  name: string;
  from: ProviderChoice['models'];
}

const Chosen = ({ id, label, name, from }: ChosenProps) => (
  <div>
    <label for={id}>{label}</label>
    <input
      id={id}
      name={name}
      list={`${id}-known`}
      placeholder="Default of the provider"
      maxLength={200}
    />
    <datalist id={`${id}-known`}>
      {[...new Map(from.map((one) => [one.value, one.name]))].map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </datalist>
  </div>
);

/** A type, with suggestions. */
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
      id={id}
      name="type"
      defaultValue={value}
      list={`${id}-known`}
      required
      pattern={'[a-z][a-z0-9_\\-]*'}
      maxLength={64}
      autocomplete="off"
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
