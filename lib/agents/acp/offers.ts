import type { Offers, Option } from '../../../store/records/provider.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { CHOICES } from '../model-choice.ts';

/** The option of an agent's session for the model, effort or mode. */
interface Select {
  id: string;
  current: string | undefined;
  options: Option[];
  /** The request that sets it, besides the session's id. */
  set: (value: string) => { method: string; params: object };
}

const CATEGORIES = { model: 'model', effort: 'thought_level', mode: 'mode' } as const;

// Agents have options, or what former versions of the protocol have instead, or both.
const FORMER = {
  model: {
    ...{ place: 'models', listed: 'availableModels', key: 'modelId', current: 'currentModelId' },
    ...{ method: 'session/set_model', parameter: 'modelId' },
  },
  mode: {
    ...{ place: 'modes', listed: 'availableModes', key: 'id', current: 'currentModeId' },
    ...{ method: 'session/set_mode', parameter: 'modeId' },
  },
  effort: undefined,
} as const;

/** The option for model, effort or mode in a session response. */
export const selectIn = (opened: unknown, what: keyof typeof CATEGORIES): Select | undefined => {
  const option = list(record(opened).configOptions)
    .map(record)
    .find(({ id, category }) => category === CATEGORIES[what] && text(id) !== undefined);
  if (option === undefined) return formerSelectIn(opened, what);
  const id = text(option.id) ?? '';
  return {
    id,
    current: text(option.currentValue),
    options: optionsOf(option),
    set: (value) => ({ method: 'session/set_config_option', params: { configId: id, value } }),
  };
};

const formerSelectIn = (opened: unknown, what: keyof typeof FORMER): Select | undefined => {
  const former = FORMER[what];
  if (former === undefined) return undefined;
  const told = record(record(opened)[former.place]);
  const known = list(told[former.listed]).map(record);
  if (known.length === 0) return undefined;
  return {
    id: what,
    current: text(told[former.current]),
    options: known.flatMap((one) => optionOf(one[former.key], one.name)),
    set: (value) => ({ method: former.method, params: { [former.parameter]: value } }),
  };
};

/** The values of a select option, listed flat or in groups. */
const optionsOf = ({ options }: Wire): Option[] =>
  list(options)
    .map(record)
    .flatMap((entry) => (entry.options === undefined ? [entry] : list(entry.options).map(record)))
    .flatMap(({ value, name }) => optionOf(value, name))
    .slice(0, MOST);

const MOST = 1000;

const optionOf = (value: unknown, name: unknown): Option[] => {
  const id = text(value);
  return id === undefined ? [] : [{ value: id, name: text(name) ?? id }];
};

/** The current model and effort of a session, as protocol options. */
export const chosenIn = (opened: unknown): Wire[] =>
  CHOICES.flatMap((what) => {
    const { id, current } = selectIn(opened, what) ?? {};
    return id === undefined || current === undefined
      ? []
      : [{ id, name: what, category: CATEGORIES[what], currentValue: current }];
  });

/** Caches the models and efforts of an agent's sessions until its program changes, at most an hour: a login changes the models. */
export const createOfferCache = (program: () => string) => {
  let seen = NOTHING_SEEN;
  const holds = (): boolean => performance.now() < seen.until && seen.program === program();
  return {
    /** Caches a session response. `own`: nothing was chosen in the session. */
    hear: (opened: unknown, own: boolean): void => {
      const model = selectIn(opened, 'model');
      const efforts = new Map(holds() ? seen.efforts : []);
      for (const of of [model?.current, ...(own ? [undefined] : [])])
        efforts.set(of, selectIn(opened, 'effort')?.options ?? []);
      const until = performance.now() + SEEN_MS;
      seen = { models: model?.options ?? [], efforts, program: program(), until };
    },
    /** Efforts are cached per model; without a model, those of the agent's default. */
    read: (model?: string): Offers => {
      if (!holds()) return {};
      const efforts = seen.efforts.get(model);
      return { models: seen.models, ...(efforts && { efforts }) };
    },
  };
};
export type SeenOffers = ReturnType<typeof createOfferCache>;

const SEEN_MS = 60 * 60_000;

interface Remembered {
  models: Option[];
  /** By model. */
  efforts: Map<string | undefined, Option[]>;
  program: string;
  until: number;
}

const NOTHING_SEEN: Remembered = { models: [], efforts: new Map(), program: '', until: 0 };
