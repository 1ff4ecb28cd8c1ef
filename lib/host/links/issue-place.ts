/** Where an issue is by its page on the host, whose path ends in `owner/name/issues/number`. */
export const placeOfIssue = (url: string): { repository: string; number: number } | undefined => {
  const [, repository, number] = PAGE.exec(url) ?? [];
  return repository === undefined ? undefined : { repository, number: Number(number) };
};

const PAGE = /\/([A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9._-]+)\/issues\/(\d+)$/;
