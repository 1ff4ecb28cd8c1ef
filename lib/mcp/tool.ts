import type { TObject } from 'typebox';
import { jsonText } from '../../store/base/visible.ts';
import type { Service } from '../service.ts';
import type { LiveRun } from '../work/sessions/live/engine.ts';

/** Who calls: the agent of a run that goes on now, or the operator's own client. */
export interface McpCaller {
  service: Service;
  run: LiveRun | undefined;
}

/** What a client of the Model Context Protocol can call. None approves, verifies, moves a state or runs anything. */
export interface Tool {
  name: string;
  description: string;
  input: TObject;
  /** It changes nothing. */
  reads: boolean;
  /** Answers with a text for the model. Throws ServiceError, whose sentence the model is told. */
  call: (caller: McpCaller, given: Record<string, unknown>) => Promise<string>;
}

export const asText = (value: unknown): string => jsonText(value, 2);
