import { basename } from 'node:path';

/** Whether a latin1 path is named like a file with secrets. */
export const isNamedSecret = (path: string): boolean => SECRET.test(basename(path));

/**
 * Whether patches in the workspace, whose git history may be shared, leave out the content of a new file with this latin1
 * path. direnv and npm run what theirs name, so a diff shows those.
 */
export const isWithheld = (path: string): boolean =>
  isNamedSecret(path) && !/^\.(?:envrc|npmrc)$/i.test(basename(path));

// File names that tools use for secrets, and an editor's backups of them, without `.env.example` and the like. A name may be
// any bytes but `/`, line breaks too.
const EXAMPLE = '(?:.*[._-])?(?:example|sample|template|dist)';
const SECRETS = [
  `\\.env(?:\\.(?!${EXAMPLE}~?$).*)?`,
  `(?!${EXAMPLE}\\.env~?$).*\\.env`,
  'service[-_]?account(?!.*(?:example|sample|template)).*\\.json',
  '\\.envrc|\\.netrc|_netrc|\\.npmrc|\\.pypirc|\\.pgpass|\\.git-credentials',
  'credentials(?:\\.json)?|secrets?\\.(?:json|ya?ml|toml)|id_(?:rsa|dsa|ecdsa|ed25519)',
  '.*\\.(?:pem|key|p12|pfx|jks|keystore|kdbx)',
];
const SECRET = new RegExp(`^(?:${SECRETS.join('|')})~?$`, 'is');
