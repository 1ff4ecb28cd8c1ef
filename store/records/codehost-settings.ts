import { type Static, Type } from 'typebox';
import { maybe, orNull } from './or-null.ts';
import { FULL_NAME, HOST_PATTERN } from './settings.ts';

const FIELDS = {
  host: Type.String({
    pattern: HOST_PATTERN,
    description: '`github.com`, or that of a GitHub Enterprise server',
  }),
  timeout_seconds: Type.Number({
    exclusiveMinimum: 0,
    maximum: 600,
    description: 'How long one answer of the host may take',
  }),
};

const Remote = Type.String({ pattern: '^[^-\\s][^\\s]*$', maxLength: 200 });

const UNSAID = {
  repository: Type.String({
    pattern: FULL_NAME,
    description: "`owner/name` of the project `default`; null: as git's remotes tell",
  }),
  base_remote: Remote,
  push_remote: Remote,
  api_url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'Where the API of `host` is; null: at its usual place. GITHUB_API_URL wins',
  }),
};

/** How the code host is asked: what the settings say, and the default where they say nothing. */
export const CodeHostConfig = Type.Object(
  {
    kind: Type.Enum(['github'], { description: 'Others are planned' }),
    ...FIELDS,
    repository: orNull(UNSAID.repository),
    base_remote: orNull(UNSAID.base_remote),
    push_remote: orNull(UNSAID.push_remote),
    api_url: orNull(UNSAID.api_url),
    webhook_secret: Type.Enum(['set', 'unset'], {
      description: 'Whether incoming webhooks can be verified. The secret itself never comes out',
    }),
  },
  { $id: 'CodeHostConfig' },
);
export type CodeHostConfig = Static<typeof CodeHostConfig>;

/** What is to be maybe of it; null takes a setting out of workspace.md, and its default holds. */
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
      // One line of a file.
      pattern: '^[^\\x00-\\x1f\\x7f]+$',
      maxLength: 255,
      description:
        'As it is set at the code host, or `gh webhook forward`. Kept outside of workspace.md; the one before stays valid. null: none is valid',
    }),
  ),
});
export type CodeHostConfigChange = Static<typeof CodeHostConfigChange>;
