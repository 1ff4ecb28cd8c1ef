import type { Static, TObject } from 'typebox';
import { jsonText } from '../../store/base/visible.ts';
import type { Service } from '../service.ts';
import type { LiveRun } from '../work/sessions/live/engine.ts';

/** The agent of an active run, or (without `run`) the operator's own client. */
export interface McpCaller {
  service: Service;
  run: LiveRun | undefined;
}

/** An MCP tool. No tool approves, verifies, changes a state or runs a program. */
export interface Tool {
  name: string;
  description: string;
  input: TObject;
  /** The tool is read-only. */
  reads: boolean;
  /** The tool that lists what this one can name. */
  lists?: string;
  /** Returns a text for the model. Throws ServiceError, whose message the model receives. */
  call: (caller: McpCaller, given: Record<string, unknown>) => Promise<string>;
}

/** A tool for a kind of caller, with the type of its arguments. */
export interface ToolOf<Caller, Input extends TObject> extends Omit<Tool, 'call'> {
  input: Input;
  call: (caller: Caller, given: Static<Input>) => Promise<string>;
}

export const asText = (value: unknown): string => jsonText(value, 2);
