import type { Layout } from '../../layout.ts';
import type { WaitingValue } from '../../records/trust.ts';
import type { WaitingPart } from './effective.ts';
import { placesOf } from './place.ts';

interface WaitingSettings {
  waiting: readonly WaitingPart[];
  /** When the file was, in milliseconds since the epoch. */
  written_at: number;
}

/** The settings that wait, each with its place. */
export const waitingSettingValues = (
  layout: Layout,
  { waiting, written_at }: WaitingSettings,
): WaitingValue[] => {
  const keys = waiting.map(({ key }) => key);
  const places = keys.length === 0 ? new Map() : placesOf(layout, keys);
  return waiting.map((part) => {
    const line = places.get(part.key)?.line;
    const file = { file: 'workspace.md', ...(line !== undefined && { line }) };
    return waitingValue(part, { kind: 'setting', ...file, written_at });
  });
};

/** A value that waits, as it is served. */
export const waitingValue = (
  { key, value, trusted_value, hash }: WaitingPart,
  { written_at, ...where }: Pick<WaitingValue, 'kind' | 'file' | 'line'> & { written_at: number },
): WaitingValue => ({
  key,
  ...where,
  value: value ?? null,
  trusted_value: trusted_value ?? null,
  hash,
  since: new Date(written_at).toISOString(),
});
