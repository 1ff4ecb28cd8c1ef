/** Puts text into a Markdown code block that nothing inside it can end: its fence is longer than any in the text. */
export const fenceOff = (text: string, info: string): string => {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${fence}${info}\n${text}${end}${fence}`;
};
