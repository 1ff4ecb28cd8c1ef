export interface Deviation {
  says: RegExp;
  because: string;
}

/** Where the emulated host, or GitHub itself, is known to differ from the description; anything else is a finding. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    says: / (301|307): GitHub describes no such status/,
    because: 'every route of a renamed repository redirects',
  },
  {
    says: / 401: GitHub describes no such status/,
    because: 'every route refuses an unknown token',
  },
  {
    says: / 403: GitHub describes no such status/,
    because: 'every write is refused to who may not, and in an archived repository',
  },
  {
    says: / 404: GitHub describes no such status/,
    because: 'every route below a repository that one may not see',
  },
  {
    says: /\/logs 410: GitHub describes no such status/,
    because: 'a log is kept for so many days, and then it is gone',
  },
  {
    says: /\/(owner|user|organization) lacks [a-z_, ]*followers_url/,
    because: 'the emulated host tells of an organisation in short',
  },
];
