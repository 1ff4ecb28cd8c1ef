/** How it is told whether a plan names a file. */
export const NAMED_RULE =
  'A file is named where its path, or its name alone, stands in the approved plan as a word.';

// What a word of a path goes on with; a dot at a sentence's end does not.
const GOES_ON = '[\\p{L}\\p{N}_/\\\\-]|\\.[\\p{L}\\p{N}_]';

/** Whether a plan names a file: by its path, or by its name alone, as a word. */
export const isNamed = (plan: string, path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return stands(plan, path, '(?<![\\p{L}\\p{N}_/\\\\.-])(?:\\./)?') || stands(plan, name, ALONE);
};

// Below another folder it is another file.
const ALONE = '(?<![\\p{L}\\p{N}_/\\\\.-])';

const stands = (plan: string, text: string, before: string): boolean =>
  text !== '' &&
  plan.includes(text) &&
  new RegExp(`${before}${literal(text)}(?!${GOES_ON})`, 'u').test(plan);

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
