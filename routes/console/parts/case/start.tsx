import type { Provider } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';

/** The providers, that of the settings first. The page does not wait for slow agents: a session says why it cannot start. */
export const loadProviders = async ({ call }: Api): Promise<ProviderChoice[]> =>
  (await call('GET /api/sessions/providers', { query: { probe: false } })).map(
    ({ id, available, reason, offers = {} }) => {
      const { models = [], efforts = [] } = offers;
      return { id, available, ...(reason && { reason }), models, efforts };
    },
  );

/** What a session chooses of a provider. */
export interface ProviderChoice extends Pick<Provider, 'id' | 'available' | 'reason'> {
  models: { value: string; name: string }[];
  efforts: { value: string; name: string }[];
}

interface StartProps {
  providers: readonly ProviderChoice[];
}

/** Chooses the provider; empty means that of the settings. `before` is the prefix of the field's name. */
export const ProviderField = ({ providers, before = '' }: StartProps & { before?: string }) => (
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
export const ModelFields = ({ providers }: StartProps) => (
  <>
    <Chosen id="model" label="Model" from={providers.flatMap(({ models }) => models)} />
    <Chosen id="effort" label="Effort" from={providers.flatMap(({ efforts }) => efforts)} />
  </>
);

interface ChosenProps {
  id: string;
  label: string;
  from: ProviderChoice['models'];
}

const Chosen = ({ id, label, from }: ChosenProps) => (
  <div>
    <label for={id}>{label}</label>
    <input
      id={id}
      name={`${id}?`}
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
