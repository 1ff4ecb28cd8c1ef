import { type Static, Type } from 'typebox';
import { maybe, orNull, textOf } from './fields.ts';

const FIELDS = {
  host: textOf('host', {
    description: '`github.com`, or the host of a GitHub Enterprise server',
  }),
  timeout_seconds: Type.Number({
    exclusiveMinimum: 0,
    maximum: 600,
    description: 'The timeout of one request to the host',
  }),
};

const Remote = textOf('remote', { maxLength: 200 });

const UNSAID = {
  repository: textOf('repository', {
    description: "`owner/name` of the project `default`; null: from git's remotes",
  }),
  base_remote: Remote,
  push_remote: Remote,
  api_url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'The address of the API of `host`; null: the usual one. GITHUB_API_URL takes precedence',
  }),
};

/** The code host settings in force, with defaults. */
export const CodeHostConfig = Type.Object(
  {
    kind: Type.Enum(['github'], { description: 'Others are planned' }),
    ...FIELDS,
    repository: orNull(UNSAID.repository),
    base_remote: orNull(UNSAID.base_remote),
    push_remote: orNull(UNSAID.push_remote),
    api_url: orNull(UNSAID.api_url),
    webhook_secret: Type.Enum(['set', 'unset'], {
      description: 'Whether incoming webhooks can be verified. The secret is never returned',
    }),
  },
  { $id: 'CodeHostConfig' },
);
export type CodeHostConfig = Static<typeof CodeHostConfig>;

/** A change of the settings. Null removes a setting from workspace.md, so that its default applies. */
export const CodeHostConfigChange = Type.Object({
  kind: maybe(CodeHostConfig.properties.kind),
  host: maybe(FIELDS.host),
  repository: maybe(UNSAID.repository),
  base_remote: maybe(UNSAID.base_remote),
  push_remote: maybe(UNSAID.push_remote),
  api_url: maybe(UNSAID.api_url),
  timeout_seconds: maybe(FIELDS.timeout_seconds),
  webhook_secret: maybe(
    Type.String({
      // The file has one secret per line.
      pattern: '^[^\\x00-\\x1f\\x7f]+$',
      maxLength: 255,
      description:
        'The secret set at the code host or with `gh webhook forward`. Stored outside of workspace.md; the previous one stays valid. Null removes all; `set` or `unset`, as read, changes nothing',
    }),
  ),
});
export type CodeHostConfigChange = Static<typeof CodeHostConfigChange>;
