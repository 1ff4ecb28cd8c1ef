import { stringify } from 'yaml';
import type { WaitingValue } from '../../../store/records/trust.ts';
import { plain } from '../../../store/settings/trust/waiting.ts';

/** Renders values that wait for trust as a diff with their places. Control characters are made visible. */
export const waitingLines = (waiting: readonly WaitingValue[]): string[] => waiting.flatMap(one);

const one = ({ key, file, line, title, value, trusted_value }: WaitingValue): string[] => {
  const [before, after] = [linesOf(trusted_value), linesOf(value)];
  const same = commonStart(before, after);
  const end = commonStart(before.slice(same).toReversed(), after.slice(same).toReversed());
  const marked = (mark: string, lines: readonly string[]) => lines.map((text) => `${mark}${text}`);
  return [
    `${plain(file)}${line === undefined ? '' : `:${line}`}  ${plain(key)}${title === undefined ? '' : `  ${plain(title)}`}`,
    ...marked('   ', before.slice(0, same)),
    ...marked('  -', before.slice(same, before.length - end)),
    ...marked('  +', after.slice(same, after.length - end)),
    ...marked('   ', after.slice(after.length - end)),
    '',
  ];
};

const linesOf = (value: unknown): string[] => {
  if (value === null) return [];
  const text = stringify(value, { lineWidth: 0 }).trimEnd();
  return text.split('\n').map((line) => ` ${plain(line).replace(PUSHING, counted)}`);
};

// Long runs of blanks could push text out of view, so they are replaced by their length.
const PUSHING = /(?<=\S)\p{Zs}{10,}/gu;
const counted = (blanks: string): string => ` ⟦${blanks.length} blanks⟧ `;

const commonStart = (a: readonly string[], b: readonly string[]): number => {
  const at = a.findIndex((line, index) => line !== b[index]);
  return at < 0 ? a.length : at;
};
