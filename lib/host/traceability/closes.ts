/**
 * The issues that a pull request closes when it is merged, by the words of its body as the host reads them: `Closes #12`,
 * `fixes acme/app#12`, `Resolves https://…/issues/12`. Each once.
 */
export const closedBy = (
  body: string,
  repository: string,
): { repository: string; number: number }[] => {
  const found = new Map<string, { repository: string; number: number }>();
  for (const [, short, number, linked, linkedNumber] of body.matchAll(CLOSING)) {
    const closed = {
      repository: short ?? linked ?? repository,
      number: Number(number ?? linkedNumber),
    };
    found.set(`${closed.repository}#${closed.number}`.toLowerCase(), closed);
  }
  return [...found.values()];
};

const NAME = '([\\w.-]{1,100}/[\\w.-]{1,100})';
const NUMBER = '([1-9]\\d{0,8})\\b';
const CLOSING = new RegExp(
  `\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \\t]{1,3}(?:${NAME}?#${NUMBER}|https?://[^/\\s]{1,255}/${NAME}/issues/${NUMBER})`,
  'gi',
);
