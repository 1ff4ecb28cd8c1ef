import { orElse } from '../../base/attempt.ts';
import { trustCommandFor } from '../../base/text.ts';
import { visible } from '../../base/visible.ts';
import { placeIfThere } from '../../front-matter/complaints.ts';
import { parseFrontMatter } from '../../front-matter/front-matter.ts';
import { Problem, type TextPosition } from '../../front-matter/problem.ts';
import { readRegularFile } from '../../front-matter/record-file.ts';
import { decodeRecord } from '../../front-matter/text.ts';
import type { Layout } from '../../layout.ts';
import type { WaitingValue } from '../../records/trust.ts';
import type { WaitingPart } from './effective.ts';
import { split } from './keys.ts';

interface WaitingSettings {
  waiting: readonly WaitingPart[];
  /** The mtime of the file, in milliseconds since the epoch. */
  written_at: number;
}

/** The untrusted settings, each with its line in workspace.md. */
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

/** An untrusted value as the API returns it. */
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

export const TRUST_NEEDED = 'trust_needed';

const SHOWN = 8;

/** The problem of a file with untrusted values. */
export const untrustedProblem = (
  layout: Pick<Layout, 'root'>,
  keys: readonly string[],
  place?: TextPosition,
): Problem => {
  const more = keys.length > SHOWN ? ` and ${keys.length - SHOWN} more` : '';
  const what = `${keys.slice(0, SHOWN).map(plain).join(', ')}${more}`;
  const verb = keys.length === 1 ? 'waits' : 'wait';
  return new Problem(
    TRUST_NEEDED,
    `${what} ${verb} for your decision on this machine: run ${trustCommandFor(layout)}`,
    place,
  );
};

/** A name from a file on one line, safe to print on a terminal. */
export const plain = (name: string): string =>
  visible(name).replaceAll('\n', '␊').replaceAll('\t', '␉');

/** The position of each of these settings in workspace.md; removed settings have none. */
export const placesOf = (layout: Layout, keys: readonly string[]): Map<string, TextPosition> => {
  // A file that cannot be read is reported elsewhere.
  const bytes = orElse(() => readRegularFile(layout.root, layout.settings), undefined);
  const source = bytes && orElse(() => parseFrontMatter(decodeRecord(bytes)), undefined);
  if (source === undefined) return new Map();
  return new Map(
    keys.flatMap((key): [string, TextPosition][] => {
      const path = split(key).filter((name) => name !== undefined);
      const place = placeIfThere(source, path);
      return place === undefined ? [] : [[key, place]];
    }),
  );
};
