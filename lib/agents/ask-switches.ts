import { orElse } from '../../store/base/attempt.ts';
import { record } from '../text/unknown-json.ts';
import type { Environment } from '../tools/process/environment.ts';
import type { PermissionPolicy } from './permissions.ts';
import type { AcpAgent, AskSwitches, Preset } from './presets.ts';
import type { Phase } from './provider.ts';

/** The switches that make an agent ask for whatever the policy does not allow entirely. */
export const askSwitchesFor = (
  { asks }: Preset,
  { execute, fetch }: PermissionPolicy,
): AskSwitches => {
  const wanted = { execute: execute !== 'allow', fetch: fetch !== 'allow' };
  return asks === undefined || !(wanted.execute || wanted.fetch) ? {} : asks(wanted);
};

/**
 * The variables of an agent in a phase: in Work mode with those that make it ask, merged with the operator's values: other
 * keys and denials stay, so that it asks for more, never for less.
 */
export const environmentIn = (
  phase: Phase,
  { env: given, asking }: Pick<AcpAgent, 'env' | 'asking'>,
): Environment => {
  const asks = phase === 'work' ? Object.entries(asking.env ?? {}) : [];
  const both = asks.map(([name, ours]) => [name, JSON.stringify(merged(ours, given[name]))]);
  return { ...given, ...Object.fromEntries(both) };
};

/** Merges two `_meta` objects of a session, one level deep. */
export const mergeMeta = (
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
  // Ignore invalid JSON here: the agent reports it.
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
