/**
 * The line that parts a draft: above it stands what is composed, below it what the operator wrote, which stays. No text
 * of somebody else's can hold it: there comments are disarmed.
 */
export const MARK = '<!-- Below this line is yours: it stays when the body is composed anew. -->';

interface DraftParts {
  composed: string;
  /** Empty without a line, or with nothing below it. */
  own: string;
}

export const partsOf = (body: string): DraftParts => {
  const lines = body.split('\n');
  const at = lines.findIndex((line) => line.trimEnd() === MARK);
  if (at < 0) return { composed: ended(body), own: '' };
  return {
    composed: ended(lines.slice(0, at).join('\n')),
    own: lines
      .slice(at + 1)
      .join('\n')
      .trim(),
  };
};

/** A draft, with its line at the end where there is nothing of the operator's yet. */
export const draftOf = ({ composed, own }: DraftParts): string =>
  [ended(composed), `${MARK}\n`, ...(own === '' ? [] : [`${own}\n`])].join('\n');

/** What is published of a draft: all but the line. */
export const publishable = (body: string): string => {
  const { composed, own } = partsOf(body);
  return own === '' ? composed : `${composed}\n${own}\n`;
};

const ended = (text: string): string => `${text.trimEnd()}\n`;
