/** What a session's summary says that whoever reviews the work wants to read. */
export interface SessionWords {
  /** `2 files, +10 −3`; undefined where it tells of no change. */
  changed: string | undefined;
  /** What the agent said at its end, Markdown. */
  last_words: string | undefined;
}

/** Takes out of a summary, as it is in session.md, what belongs into a pull request. One edited by hand is read as far as it goes. */
export const publicWords = (summary: string): SessionWords => {
  const sections = sectionsOf(summary);
  const [changed] = /^\d+ files?, \+\d+ −\d+/.exec(sections.get('What changed') ?? '') ?? [];
  const said = sections.get('Last words');
  return { changed, last_words: said === undefined ? undefined : unfenced(said) };
};

// Headings inside of a code block are somebody's words.
const sectionsOf = (text: string): Map<string, string> => {
  const sections = new Map<string, string>();
  let heading = '';
  let fence = '';
  for (const line of text.split(/\r?\n/)) {
    const [, run = ''] = /^(`{3,})/.exec(line) ?? [];
    const title = fence === '' ? /^## (.+)$/.exec(line)?.[1] : undefined;
    if (title !== undefined) heading = title.trim();
    else sections.set(heading, `${sections.get(heading) ?? ''}${line}\n`);
    if (fence === '') fence = run;
    else if (line.trimEnd() === fence) fence = '';
  }
  return new Map([...sections].map(([title, body]) => [title, body.trim()]));
};

const unfenced = (text: string): string | undefined => {
  const [, , inside] = /^(`{3,})markdown\n(.*)\n\1$/s.exec(text) ?? [];
  return inside ?? (text === '' ? undefined : text);
};
