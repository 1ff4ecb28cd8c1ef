import type { SectionKind } from '../../../store/records/extracted.ts';

/** The kind of a section by the words of its heading, else `other`. */
export const kindOfHeading = (heading: string): SectionKind => {
  const words = plainWords(heading);
  return KINDS.find(([, pattern]) => pattern.test(words))?.[0] ?? 'other';
};

/** The kind of a label at the beginning of a line, such as `Expected:`; undefined for other words before a colon. */
export const kindOfLabel = (label: string): SectionKind | undefined => {
  const words = plainWords(label);
  return LABELS.find(([, pattern]) => pattern.test(words))?.[0];
};

/** The words without emphasis, emoji, leading number and trailing colon. */
const plainWords = (heading: string): string =>
  heading
    .slice(0, 200)
    .replace(/[*_`~#]+|\p{Extended_Pictographic}|\uFE0F/gu, '')
    .replace(/^\s*\d+[.)]\s*/, '')
    .replace(/[\s:：.!]+$/u, '')
    .trim()
    .toLowerCase();

/** Whether a text means "no answer", as forms and people write it. */
export const isUnanswered = (text: string): boolean =>
  /^(?:_?no response_?|n\/?a|none|-+|\.+|not applicable|…)\.?$/i.test(text.trim()) ||
  text.trim() === '';

// The first match counts: "What did you expect to happen?" must not count as `actual`.
const KINDS: readonly (readonly [SectionKind, RegExp])[] = [
  [
    'declarations',
    /existing issue|code of conduct|prerequisite|before (?:you )?(?:submit|open|fil)|pre-?flight|have you (?:read|search)|searched|duplicate check|contribution guidelines/,
  ],
  [
    'acceptance',
    /acceptance|definition of done|done when|success criteria|exit criteria|^criteria$/,
  ],
  [
    'steps',
    /\brepro|steps? to|^steps$|how (?:to|can we|do we) (?:trigger|recreate|see it)|recreate|minimal example/,
  ],
  [
    'other',
    /expect\w*\b.*\b(?:vs\.?|versus|and|\/)\s*actual|actual\b.*\b(?:vs\.?|versus|and|\/)\s*expect/,
  ],
  [
    'expected',
    /expect|should (?:happen|have|be)|desired (?:behaviou?r|result|outcome)|instead of what/,
  ],
  [
    'actual',
    /\bactual|current (?:behaviou?r|result|output|situation)|what (?:happen|went|goes|is happening|do you see|did you see)|observed|^(?:happens )?instead|buggy behaviou?r/,
  ],
  [
    'logs',
    /\blogs?\b|stack ?traces?|traceback|console|error (?:message|output)|^errors?$|crash report|output$/,
  ],
  [
    'environment',
    /environment|versions?\b|system (?:info|details)|platform|operating system|^os\b|browsers?\b|^devices?\b|^(?:desktop|smartphone)\b|^setup$|^configuration$|runtime|node info/,
  ],
  ['tasks', /^(?:sub-?)?tasks?\b|to-?do|check ?list|what needs to be done|work items/],
  [
    'proposal',
    /propos|solution|suggest|possible fix|^fix$|^ideas?\b|implementation|alternatives|would like/,
  ],
  [
    'summary',
    /summary|descri(?:ption|be)|overview|problem|motivation|background|context|^bug$|^issue$|user story|^what$|what is (?:it|this) about|goal/,
  ],
];

const LABELS: readonly (readonly [SectionKind, RegExp])[] = [
  ['acceptance', /^(?:acceptance criteria|definition of done|done when)$/],
  [
    'steps',
    /^(?:steps(?: to (?:reproduce|replicate))?|to reproduce|repro(?:duction)?(?: steps)?|how to reproduce)$/,
  ],
  [
    'expected',
    /^(?:expected(?: (?:behaviou?r|result|output|outcome))?|i expect(?:ed)?|should be)$/,
  ],
  [
    'actual',
    /^(?:actual(?:ly)?(?: (?:behaviou?r|result|output|outcome))?|current(?: behaviou?r)?|observed(?: behaviou?r)?|got|instead|what happens(?: instead)?|what happened)$/,
  ],
  ['logs', /^(?:logs?|log output|stack ?trace|traceback|error(?: message)?|output|console)$/],
  ['environment', /^(?:environment|env|system|versions?)$/],
  ['tasks', /^(?:tasks?|to-?do)$/],
];
