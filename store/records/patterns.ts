/** The patterns of texts in records and requests, and what an error says that such a text has to be. */
export const PATTERNS = {
  word: ['^[a-z][a-z0-9_-]{0,63}$', 'a lower-case word such as bug or test-log'],
  sha256: ['^[0-9a-f]{64}$', 'a SHA-256 in hex'],
  oid: ['^([0-9a-f]{40}|[0-9a-f]{64})$', 'the whole id of a git object'],
  // A lookahead, because two open ends would backtrack quadratically.
  line: ['^(?=[^\\r\\n]*\\S)[^\\r\\n]+$', 'one line that is not blank'],
  absolute: ['^/', 'an absolute path'],
  ownPath: ['^(/|~/|~$)', 'a path that begins with / or ~/'],
  proofFile: [
    '^(?!.*\\.[mM][dD]$)[^./\\\\\\u0000-\\u001f\\u007f][^/\\\\\\u0000-\\u001f\\u007f]{0,199}$',
    'the name of a file in proof/: at most 200 characters without a slash, no dot first, no .md last',
  ],
  // Printable ASCII without a blank at its ends; no flag, nor what one may add to.
  model: ['^[!-,./-~](?:[ -~]{0,198}[!-~])?$', 'the name of a model'],
  effort: ['^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$', 'a word such as low or high'],
  domain: [
    '^(?:\\*\\.)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?$',
    'a domain such as registry.npmjs.org or *.example.org:8443',
  ],
  local: [
    '^(?:localhost|[0-9]{1,3}(?:\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.]+\\]):[0-9]{1,5}$',
    'an address of this machine with its port, such as localhost:5432',
  ],
  host: [
    '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})(?::[0-9]{1,5})?$',
    'a host such as github.com, without https://',
  ],
  // With the characters that GitHub allows.
  repository: ['^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})/[A-Za-z0-9._-]{1,100}$', 'owner/name'],
  remote: ['^[^-\\s][^\\s]*$', 'the name of a git remote'],
  // Without a user or password: the registration is a file that git keeps.
  receiver: [
    '^https?://[^@/?#\\\\\\s]+([/?#]\\S*)?$',
    'an address that begins with https:// or http://, without a password',
  ],
} as const satisfies Record<string, readonly [pattern: string, meaning: string]>;

const MEANINGS = new Map<unknown, string>(Object.values(PATTERNS));

/** A complaint about a text that does not match, which says what it has to be; undefined for a pattern that is none of these. */
export const mustMatch = (pattern: unknown): string | undefined => {
  const meaning = MEANINGS.get(pattern);
  return meaning === undefined ? undefined : `must be ${meaning}`;
};
