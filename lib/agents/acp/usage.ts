import { number, record } from '../../text/unknown-json.ts';
import type { Usage } from '../provider.ts';
import { addUsage, cost as costOf, dollars, tokens as tokensIn } from '../usage.ts';

/**
 * Collects the usage of a turn from the agent's updates and responses. Unreported figures stay null. `sums_turn` false: the
 * agent's response covers only the last model call (OpenCode), so it is ignored.
 */
export const createUsageMeter = (sums_turn = true) => {
  let calls: Usage | null = null;
  let answer: Usage | null = null;
  let cost: number | undefined;
  let costBefore = 0;
  let used = false;
  const hearCall = (tokens: Tokens | undefined): boolean => {
    if (tokens !== undefined) calls = addUsage(calls, tokens);
    return tokens !== undefined;
  };
  const hearCost = (amount: number | null): boolean => {
    if (amount === null || amount <= (cost ?? -1)) return false;
    // The cost is cumulative; if the first figure of a turn is lower than before, the counter was reset.
    if (cost === undefined && amount < costBefore) costBefore = 0;
    cost = amount;
    return true;
  };
  return {
    /** Reads a session update; true if the usage changed. */
    hear: (update: unknown): boolean => {
      const { sessionUpdate, _meta } = record(update);
      if (sessionUpdate === 'usage_update') {
        used ||= isSome(record(update).used);
        return hearCost(usDollars(record(update).cost));
      }
      used ||= isSome(...Object.values(record(record(_meta).usage)));
      return sessionUpdate === 'agent_message_chunk' && hearCall(tokensOf(record(_meta).usage));
    },
    /**
     * The turn begins: earlier updates belong to former turns. `cost_before`: the last known cost of the agent's session.
     */
    begin: (cost_before: number): void => {
      calls = null;
      answer = null;
      costBefore = cost ?? cost_before;
      cost = undefined;
      used = false;
    },
    /** Reads the response to a prompt; a turn may have several. */
    hearAnswer: (response: unknown): void => {
      const { usage, _meta } = record(response);
      const quota = record(record(record(_meta).quota).token_count);
      used ||= isSome(...Object.values(record(usage)), ...Object.values(quota));
      const tokens = (sums_turn ? tokensOf(usage) : undefined) ?? snakeTokens(quota);
      if (tokens !== undefined) answer = addUsage(answer, tokens);
    },
    read: (): Usage => ({
      ...(calls ?? answer ?? NO_TOKENS),
      cost_usd: cost === undefined ? null : dollars(cost - costBefore),
    }),
    /** Whether the agent reported any use of its model in this turn. */
    used: (): boolean => used,
    /** The cost of the agent's session, all turns together, for the next `begin`. */
    costSoFar: (): number => cost ?? costBefore,
  };
};
export type UsageMeter = ReturnType<typeof createUsageMeter>;

const isSome = (...figures: unknown[]): boolean =>
  figures.some((figure) => (number(figure) ?? 0) > 0);

type Tokens = Pick<Usage, 'input_tokens' | 'output_tokens'>;

const NO_TOKENS: Tokens = { input_tokens: null, output_tokens: null };

const tokensOf = (usage: unknown): Tokens | undefined => {
  const { inputTokens, outputTokens } = record(usage);
  return someTokens(inputTokens, outputTokens);
};

const snakeTokens = (usage: unknown): Tokens | undefined => {
  const { input_tokens, output_tokens } = record(usage);
  return someTokens(input_tokens, output_tokens);
};

const someTokens = (input: unknown, output: unknown): Tokens | undefined => {
  const tokens = { input_tokens: tokensIn(input), output_tokens: tokensIn(output) };
  return tokens.input_tokens === null && tokens.output_tokens === null ? undefined : tokens;
};

const usDollars = (cost: unknown): number | null => {
  const { amount, currency } = record(cost);
  return currency === 'USD' || currency === undefined ? costOf(amount) : null;
};
