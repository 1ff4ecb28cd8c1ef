import { orElse } from '../../store/base/or-else.ts';
import { record } from '../text/unknown-json.ts';
import type { Environment } from '../tools/process/environment.ts';
import type { PermissionPolicy } from './permissions.ts';
import type { AskSwitches, Preset } from './presets.ts';

/** How an agent is made to ask for what the policy does not allow as a whole: the policy decides, so it has to be asked. */
export const askingOf = ({ asks }: Preset, { execute, fetch }: PermissionPolicy): AskSwitches => {
  const wanted = { execute: execute !== 'allow', fetch: fetch !== 'allow' };
  return asks === undefined || !(wanted.execute || wanted.fetch) ? {} : asks(wanted);
};

/**
 * The variables that make it ask, with what the operator has in them: their other keys stay, and so does a refusal; more is
 * asked for, never less.
 */
export const askingEnv = ({ env = {} }: AskSwitches, given: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).map(([name, ours]) => [name, JSON.stringify(merged(ours, given[name]))]),
  );

/** What is told of a session when it is opened: one for each agent's name, of two that both have something to tell it. */
export const joinedMeta = (
  ours: AskSwitches['meta'],
  more: AskSwitches['meta'],
): AskSwitches['meta'] => {
  if (ours === undefined || more === undefined) return more ?? ours;
  const both = Object.entries(more).map(([name, value]) => [
    name,
    { ...record(ours[name]), ...record(value) },
  ]);
  return { ...ours, ...Object.fromEntries(both) };
};

const merged = (ours: AskSwitches['meta'] = {}, given: string | undefined): object => {
  // The agent says what is wrong with it.
  const theirs = record(orElse((): unknown => JSON.parse(given ?? '{}'), {}));
  const both = Object.entries(ours).map(([key, value]) => [key, stricter(value, theirs[key])]);
  return { ...theirs, ...Object.fromEntries(both) };
};

const stricter = (ours: unknown, theirs: unknown): unknown => {
  if (theirs === 'deny') return theirs;
  if (typeof theirs !== 'object' || theirs === null) return ours;
  const refused = Object.entries(theirs).filter(([, value]) => value === 'deny');
  return {
    ...(typeof ours === 'string' ? { '*': ours } : record(ours)),
    ...Object.fromEntries(refused),
  };
};
