/**
 * What the tests' agent lets be chosen: a model that thinks as long as it is told to, and one that does not; and the mode,
 * as one option of them. `behaviour` says which way of the protocol it speaks.
 */
const EFFORTS: Record<string, string[]> = { fast: [], deep: ['low', 'high'] };
const MODELS = Object.keys(EFFORTS);

export interface Choices {
  /** Part of the answer to session/new. */
  offered: () => object;
  set: (id: string, value: string) => void;
  /** All that was set, in order. */
  told: () => string;
}

export const choicesOf = (behaviour: string): Choices => {
  const now: Record<string, string> = { how: 'default', brain: 'fast', thinking: 'low' };
  const sets: string[] = [];
  const offered = (): object =>
    behaviour.endsWith('-old')
      ? {
          models: {
            currentModelId: now.brain,
            availableModels: MODELS.map((modelId) => ({ modelId, name: modelId })),
          },
        }
      : { configOptions: optionsNow(now) };
  return {
    offered,
    set: (id, value) => {
      now[id] = value;
      sets.push(`${id}=${value}`);
    },
    told: () => (sets.length === 0 ? 'nothing' : sets.join(' ')),
  };
};

const optionsNow = (now: Record<string, string>): object[] => {
  const efforts = EFFORTS[now.brain ?? ''] ?? [];
  return [
    select('how', 'mode', now, ['default', 'plan', 'acceptEdits']),
    {
      ...select('brain', 'model', now, []),
      options: [{ group: 'all', name: 'All', options: MODELS.map(asValue) }],
    },
    ...(efforts.length > 0 ? [select('thinking', 'thought_level', now, efforts)] : []),
  ];
};

const select = (id: string, category: string, now: Record<string, string>, values: string[]) => ({
  ...{ id, name: id, category, type: 'select', currentValue: now[id] },
  options: values.map(asValue),
});

const asValue = (value: string) => ({ value, name: value.toUpperCase() });
