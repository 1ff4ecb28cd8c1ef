import { list, record, text, type Wire } from '../../../base/wire.ts';
import { optionsOf } from './offers.ts';

/** How the mode of an agent's session is set: agents know one of two ways, and some both. */
type ModeChange =
  | { method: 'session/set_config_option'; params: { configId: string; value: string } }
  | { method: 'session/set_mode'; params: { modeId: string } };

/**
 * The request that sets one of the wanted modes (the first that the agent offers), from what it answered to
 * session/new, load or resume. Undefined when it offers none of them: an id it did not list is never sent.
 */
export const modeChange = (opened: unknown, wanted: readonly string[]): ModeChange | undefined => {
  const { configOptions, modes } = record(opened);
  const option = list(configOptions).map(record).find(isModeOption);
  if (option !== undefined) return byConfigOption(option, wanted);
  const listed = list(record(modes).availableModes).map((mode) => text(record(mode).id));
  const modeId = wanted.find((id) => listed.includes(id));
  return modeId === undefined ? undefined : { method: 'session/set_mode', params: { modeId } };
};

const isModeOption = (option: Wire): boolean =>
  option.category === 'mode' && text(option.id) !== undefined;

const byConfigOption = (option: Wire, wanted: readonly string[]): ModeChange | undefined => {
  const listed = optionsOf(option).map(({ value }) => value);
  const value = wanted.find((id) => listed.includes(id));
  if (value === undefined) return undefined;
  return {
    method: 'session/set_config_option',
    params: { configId: text(option.id) ?? '', value },
  };
};
