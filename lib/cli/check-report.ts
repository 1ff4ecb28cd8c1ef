import { jsonText } from '../../store/base/json.ts';
import type { Checked } from '../../store/check/check.ts';
import type { Finding } from '../../store/check/finding.ts';
import { positionText } from '../daemon/system/diagnostics.ts';
import { counted } from '../text/counted.ts';

/** Something that was mended, and how. */
export interface Mended {
  file: string;
  code: string;
  done: string;
}

interface Told extends Checked {
  mended: readonly Mended[];
  /** The files that git knows. */
  committed: ReadonlySet<string>;
}

/** One line for each finding, one for all. */
export const reportLines = (told: Told): string[] => [
  ...told.mended.map(({ file, code, done }) => `${file} mended ${code} ${done}`),
  ...told.findings.map((finding) => lineOf(finding, told.committed)),
  summaryOf(told),
];

const lineOf = (finding: Finding, committed: Told['committed']): string => {
  const next = nextStep(finding, committed);
  const said = `${positionText(finding)} ${finding.severity} ${finding.code} ${finding.message}`;
  return next === undefined ? said : `${said}. ${next}`;
};

/** The same for programs: the problems as the API has them, and what the command knows besides. */
export const reportJson = ({ items, findings, mended, committed }: Told): string => {
  const told = findings.map(({ mend, ...finding }) => ({
    ...finding,
    fixable: mend !== undefined,
    next: nextStep(finding, committed) ?? null,
  }));
  const { errors, warnings } = findingCounts(findings);
  return jsonText({ work_items: items, errors, warnings, problems: told, mended }, 2);
};

const nextStep = (
  { file, code, message, mend }: Finding,
  committed: Told['committed'],
): string | undefined => {
  if (mend !== undefined) return message.includes(FIX) ? undefined : `${FIX} does it`;
  if (!committed.has(file)) return undefined;
  const path = quoted(file);
  if (code === 'conflict_markers') return `In an unfinished merge: git mergetool -- ${path}`;
  return RESTORABLE.has(code) ? `The last version in git: git checkout -- ${path}` : undefined;
};

const FIX = 'dossier check --fix';

const RESTORABLE = new Set([
  ...['empty_file', 'nul_byte', 'not_utf8', 'no_front_matter', 'unclosed_front_matter'],
  ...['bad_yaml', 'not_a_mapping', 'too_many_aliases', 'not_a_record', 'wrong_id', 'missing_file'],
  ...['not_a_file', 'symbolic_link', 'too_large'],
]);

const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

const summaryOf = ({ items, findings, mended }: Told): string => {
  const { errors, warnings, fixable } = findingCounts(findings);
  const parts = [
    ...(mended.length > 0 ? [`${mended.length} mended`] : []),
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  const found = parts.length === 0 ? 'nothing to mend' : parts.join(', ');
  const fix = fixable === 0 ? '' : `; ${FIX} mends ${fixable} of them`;
  return `${counted(items, 'Work item')}: ${found}${fix}.`;
};

export const findingCounts = (findings: readonly Finding[]) => ({
  errors: findings.filter(({ severity }) => severity === 'error').length,
  warnings: findings.filter(({ severity }) => severity === 'warning').length,
  fixable: findings.filter(({ mend }) => mend !== undefined).length,
});
