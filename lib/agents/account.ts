import { orElse } from '../../store/base/attempt.ts';
import type { JsonObject } from '../sandbox/state/place.ts';

/** Whose a login is, as its file says. Facts of the agents' releases; nothing of it is verified. */

/** `oauthAccount` of Claude Code's settings; the tokens, in another file, say nothing. */
export const claudeAccount = ({ accountUuid, organizationUuid, emailAddress }: JsonObject) => ({
  ...{ accountUuid, organizationUuid, emailAddress },
});

export const codexAccount = ({ tokens }: JsonObject): JsonObject => {
  const { account_id, id_token, access_token } = objectOf(tokens);
  const { sub, email } = claimsOf(id_token);
  const [id, access] = [openAiClaims(id_token), openAiClaims(access_token)];
  return { account_id, sub, email, ...id, 'access.account': access.chatgpt_account_id };
};

/** Gemini CLI: what Google says with the tokens, and what is noted beside. */
export const googleAccount = ({ id_token }: JsonObject): JsonObject => {
  const { sub, email } = claimsOf(id_token);
  return { sub, email };
};
export const activeAccount = ({ active }: JsonObject): JsonObject => ({ active });

/** Of one provider of OpenCode's. */
export const openCodeAccount = ({ accountId, access }: JsonObject): JsonObject => ({
  accountId,
  ...openAiClaims(access),
});

/** A login that says of nobody whose it is. */
export const unknownAccount = (): JsonObject => ({});

const openAiClaims = (token: unknown): JsonObject => {
  const claims = objectOf(claimsOf(token)['https://api.openai.com/auth']);
  const { chatgpt_account_id, chatgpt_user_id } = claims;
  return { chatgpt_account_id, chatgpt_user_id };
};

/** What a JSON Web Token claims; nothing where it is none. */
const claimsOf = (token: unknown): JsonObject => {
  const payload = typeof token === 'string' ? token.split('.')[1] : undefined;
  if (payload === undefined) return {};
  const read = (): unknown => JSON.parse(Buffer.from(payload, 'base64url').toString());
  return objectOf(orElse(read, undefined));
};

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
