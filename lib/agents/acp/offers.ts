import type { Offers, Option } from '../../../store/records/provider.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { CHOICES, type ModelChoice } from '../model-choice.ts';

/** The option of an agent's session for the model or effort. Never the mode. */
export interface Select {
  /** The request that sets it; `session/set_model` in former versions of the protocol. */
  method: 'session/set_config_option' | 'session/set_model';
  id: string;
  current: string | undefined;
  options: Option[];
}

const CATEGORIES = { model: 'model', effort: 'thought_level' } as const;

/** The option for model or effort in a session response. */
export const selectIn = (opened: unknown, what: keyof ModelChoice): Select | undefined => {
  const { configOptions, models } = record(opened);
  const option = list(configOptions).map(record).find(isOf(CATEGORIES[what]));
  if (option !== undefined) {
    const method = 'session/set_config_option';
    const options = optionsOf(option);
    return { method, id: text(option.id) ?? '', current: text(option.currentValue), options };
  }
  const known = list(record(models).availableModels).map(record);
  if (what !== 'model' || known.length === 0) return undefined;
  return {
    method: 'session/set_model',
    id: 'model',
    current: text(record(models).currentModelId),
    options: known.flatMap(({ modelId, name }) => optionOf(modelId, name)),
  };
};

const isOf =
  (category: string) =>
  (option: Wire): boolean =>
    option.category === category && text(option.id) !== undefined;

/** The values of a select option, listed flat or in groups. */
export const optionsOf = ({ options }: Wire): Option[] =>
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
