/**
 * The type of a Work item by the labels of its issue: that of the first label that names one, `task` where none does. A
 * label may say that it is about the type (`type: bug`, `kind/bug`, `C-bug`).
 */
export const typeByLabels = (labels: readonly string[]): string => {
  for (const label of labels) {
    const type = TYPES.get(label.trim().toLowerCase().replace(PREFIX, ''));
    if (type !== undefined) return type;
  }
  return 'task';
};

const PREFIX = /^(?:issue[ -]?type|type|kind|category|t|c)\s*[:/-]+\s*/;

const NAMES: Readonly<Record<string, readonly string[]>> = {
  bug: ['bug', 'bugs', 'defect', 'regression', 'crash', 'fix'],
  feature: ['feature', 'features', 'feature request', 'feature-request', 'enhancement', 'story'],
  docs: ['docs', 'doc', 'documentation'],
  chore: ['chore', 'maintenance', 'dependencies', 'cleanup', 'refactor', 'tech debt', 'tech-debt'],
  question: ['question', 'support'],
};

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([type, names]) => names.map((name) => [name, type] as const)),
);
