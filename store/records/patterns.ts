/** The patterns of texts in records and requests, and what an error says of a text that does not match. */
export const PATTERNS = {
  word: ['^[a-z][a-z0-9_-]{0,63}$', 'must be a lower-case word such as bug or test-log'],
  sha256: ['^[0-9a-f]{64}$', 'must be a SHA-256 in hex'],
  oid: ['^([0-9a-f]{40}|[0-9a-f]{64})$', 'must be the whole id of a git object'],
  // A lookahead, because two open ends would backtrack quadratically.
  line: ['^(?=[^\\r\\n]*\\S)[^\\r\\n]+$', 'must be one line that is not blank'],
  notBlank: ['\\S', 'must not be blank'],
  absolute: ['^/', 'must be an absolute path'],
  ownPath: ['^(/|~/|~$)', 'must be a path that begins with / or ~/'],
  proofFile: [
    '^(?!.*\\.[mM][dD]$)[^./\\\\\\u0000-\\u001f\\u007f][^/\\\\\\u0000-\\u001f\\u007f]{0,199}$',
    'must be the name of a file in proof/: at most 200 characters without a slash, no dot first, no .md last',
  ],
  // Printable ASCII that begins with no dash, because it becomes a program argument.
  model: ['^[!-,./-~](?:[ -~]{0,198}[!-~])?$', 'must be the name of a model'],
  effort: ['^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$', 'must be an effort such as low or high'],
  domain: [
    '^(?:\\*\\.)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?$',
    'must be a domain such as registry.npmjs.org or *.example.org:8443',
  ],
  local: [
    '^(?:localhost|[0-9]{1,3}(?:\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.]+\\]):[0-9]{1,5}$',
    'must be an address of this machine with its port, such as localhost:5432',
  ],
  host: [
    '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})(?::[0-9]{1,5})?$',
    'must be a host such as github.com, without https://',
  ],
  // With the characters that GitHub allows.
  repository: ['^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})/[A-Za-z0-9._-]{1,100}$', 'must be owner/name'],
  remote: ['^[^-\\s][^\\s]*$', 'must be the name of a git remote'],
  // Without a user or password: the registration is a file that git keeps.
  receiver: [
    '^https?://[^@/?#\\\\\\s]+([/?#]\\S*)?$',
    'must be an address that begins with https:// or http://, without a password',
  ],
} as const satisfies Record<string, readonly [pattern: string, error: string]>;

const ERRORS = new Map<unknown, string>(Object.values(PATTERNS));

/** What an error says of a text that does not match; undefined for a pattern that is none of these. */
export const patternError = (pattern: unknown): string | undefined => ERRORS.get(pattern);
