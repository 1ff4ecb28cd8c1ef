import { shellQuoted } from '../../store/base/text.ts';
import { jsonText } from '../../store/base/visible.ts';
import type { Checked } from '../../store/check/check.ts';
import type { Finding } from '../../store/check/finding.ts';
import { positionText } from '../daemon/system/diagnostics.ts';
import { counted } from '../text/wording.ts';

/** A fixed problem. */
export interface FixedProblem {
  file: string;
  code: string;
  done: string;
}

interface Report extends Checked {
  mended: readonly FixedProblem[];
  /** The workspace. */
  root: string;
  /** The files that git tracks, and whether each differs from the index. */
  committed: ReadonlyMap<string, boolean>;
}

/** The report as text: a line for each finding, and a summary. */
export const reportLines = (report: Report): string[] => [
  ...report.mended.map(({ file, code, done }) => `${file} fixed ${code} ${done}`),
  ...report.findings.map((finding) => lineOf(finding, report)),
  summaryOf(report),
];

const lineOf = (finding: Finding, report: Report): string => {
  const next = nextStep(finding, report);
  const said = `${positionText(finding)} ${finding.severity} ${finding.code} ${finding.message}`;
  return next === undefined ? said : `${said}. ${next}`;
};

/** The report as JSON: the problems as the API returns them, with `fixable` and `next`. */
export const reportJson = (report: Report): string => {
  const { items, findings, mended } = report;
  const problems = findings.map(({ mend, ...finding }) => ({
    ...finding,
    fixable: mend !== undefined,
    next: nextStep(finding, report) ?? null,
  }));
  const { errors, warnings } = findingCounts(findings);
  return jsonText({ work_items: items, errors, warnings, problems, mended }, 2);
};

const nextStep = (
  { file, code, message, mend }: Finding,
  { committed, root }: Report,
): string | undefined => {
  if (mend !== undefined) return message.includes(FIX) ? undefined : `${FIX} fixes it`;
  const isChanged = committed.get(file);
  if (isChanged === undefined) return undefined;
  const path = shellQuoted(file);
  if (code === 'conflict_markers')
    return `During a merge, run git -C ${shellQuoted(root)} mergetool -- ${path}`;
  if (!RESTORABLE.has(code)) return undefined;
  return isChanged
    ? `To restore the last version in git: git -C ${shellQuoted(root)} checkout -- ${path}`
    : `The last version in git is the same. To see earlier ones: git -C ${shellQuoted(root)} log -p -- ${path}`;
};

const FIX = 'dossier check --fix';

const RESTORABLE = new Set([
  'empty_file',
  'nul_byte',
  'not_utf8',
  'no_front_matter',
  'unclosed_front_matter',
  'bad_yaml',
  'not_a_mapping',
  'too_many_aliases',
  'not_a_record',
  'wrong_id',
  'missing_file',
  'not_a_file',
  'symbolic_link',
  'too_large',
]);

const summaryOf = ({ items, findings, mended }: Report): string => {
  const { errors, warnings, fixable } = findingCounts(findings);
  const parts = [
    ...(mended.length > 0 ? [`${mended.length} fixed`] : []),
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  const found = parts.length === 0 ? 'no problems' : parts.join(', ');
  const fix = fixable === 0 ? '' : `; ${FIX} fixes ${fixable} of them`;
  return `${counted(items, 'Work item')}: ${found}${fix}.`;
};

export const findingCounts = (findings: readonly Finding[]) => ({
  errors: findings.filter(({ severity }) => severity === 'error').length,
  warnings: findings.filter(({ severity }) => severity === 'warning').length,
  fixable: findings.filter(({ mend }) => mend !== undefined).length,
});
