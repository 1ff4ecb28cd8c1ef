/**
 * A small agent for the tests, started as `node acp-agent.js <behaviour>`. It speaks the Agent Client Protocol over
 * its standard input and output, and does one thing each: what an agent may do to a client, well or badly.
 */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';
import { choicesOf } from './acp-choices.ts';

interface Turn {
  session_id: string;
  cwd: string;
  prompt: string;
  /** What came with its words. */
  blocks: Record<string, unknown>[];
  /** The MCP servers that the client gave it. */
  servers: { url?: string; headers?: { name: string; value: string }[] }[];
  update: (update: Record<string, unknown>) => Promise<void>;
  notify: (method: string, params: Record<string, unknown>) => Promise<void>;
  ask: (toolCall: Record<string, unknown>) => Promise<string>;
  /** Asks the operator something. */
  elicit: (question: Record<string, unknown>) => Promise<unknown>;
  cancelled: Promise<void>;
}

type Answer = { stopReason: string; usage?: unknown; _meta?: unknown } | undefined;

// It has used its model, and does not say how much of what.
const END: Answer = { stopReason: 'end_turn', usage: { totalTokens: 1 } };
const LIMIT = 'You have hit your usage limit. Try again at 2030-01-02T03:04:05Z.';
const behaviour = process.argv[2] ?? 'plan';

const say = (turn: Turn, text: string, meta?: unknown): Promise<void> =>
  turn.update({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
    ...(meta !== undefined && { _meta: meta }),
  });

const call = (turn: Turn, id: string, rest: Record<string, unknown>): Promise<void> =>
  turn.update({ sessionUpdate: 'tool_call', toolCallId: id, title: id, ...rest });

const BEHAVIOURS: Record<string, (turn: Turn) => Promise<Answer>> = {
  plan: async (turn) => {
    await say(turn, 'Let me look first.');
    await call(turn, 'read-1', {
      kind: 'read',
      status: 'in_progress',
      locations: [{ path: 'a.txt' }],
    });
    await turn.update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'read-1',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'one' } }],
    });
    await turn.update({
      sessionUpdate: 'agent_thought_chunk',
      content: { type: 'text', text: 'Hm.' },
    });
    await turn.update({
      sessionUpdate: 'plan',
      entries: [{ content: 'Change a.txt', priority: 'high', status: 'pending' }],
    });
    for (const piece of ['# The ', 'plan\n\n', '1. Change a.txt']) await say(turn, piece);
    await turn.update({
      sessionUpdate: 'usage_update',
      used: 10,
      size: 100,
      cost: { amount: 0.5, currency: 'USD' },
    });
    return { stopReason: 'end_turn', usage: { inputTokens: 30, outputTokens: 4, totalTokens: 34 } };
  },
  edit: async (turn) => {
    const path = join(turn.cwd, 'a.txt');
    const option = await turn.ask({
      toolCallId: 'e',
      title: 'Edit a.txt',
      kind: 'edit',
      locations: [{ path }],
    });
    await call(turn, 'e', { kind: 'edit', status: 'in_progress', locations: [{ path }] });
    if (option === 'yes') writeFileSync(path, 'changed\n');
    await turn.update({ sessionUpdate: 'tool_call_update', toolCallId: 'e', status: 'completed' });
    if (option === 'yes') await say(turn, 'I changed a.txt.');
    return END;
  },
  // Ends its turn when it is refused, as Codex does.
  'gives-up': async (turn) => {
    const asked = { toolCallId: 'e', title: 'Edit a.txt', kind: 'edit' };
    const option = await turn.ask({ ...asked, locations: [{ path: join(turn.cwd, 'a.txt') }] });
    return option === 'no' ? { stopReason: 'cancelled' } : END;
  },
  // Writes without asking: only a sandbox can hold it.
  scribble: async (turn) => {
    await say(
      turn,
      attempt(() => writeFileSync(join(turn.cwd, 'a.txt'), 'scribbled\n')),
    );
    return END;
  },
  // The same by its shell, and by git.
  'shell-scribble': async (turn) => {
    const script = 'echo by shell >> a.txt; echo new > new.txt; git add new.txt; exit 0';
    spawnSync('sh', ['-c', script], { cwd: turn.cwd });
    await say(turn, 'The plan.');
    return END;
  },
  // Does all that, commits, and goes on until it is killed.
  'scribble-on': async (turn) => {
    const script =
      'echo by shell >> a.txt; echo new > new.txt; git add new.txt; git -c user.name=a -c user.email=a@b commit -qm sly; echo staged > staged.txt; git add staged.txt; git checkout -qb elsewhere; exit 0';
    spawnSync('sh', ['-c', script], { cwd: turn.cwd });
    await say(turn, 'Scribbled.');
    return new Promise(() => setInterval(() => {}, 1000));
  },
  // Runs what the test wrote for the phase, and says what came of it.
  sh: async (turn) => {
    const phase = turn.prompt.includes('The approved plan') ? 'work' : 'plan';
    const script = join(memory, `${phase}.sh`);
    if (existsSync(script)) {
      const { stdout, stderr } = spawnSync('sh', [script], { cwd: turn.cwd, encoding: 'utf8' });
      await call(turn, 'sh', { kind: 'execute', status: 'completed', rawOutput: stdout + stderr });
    }
    await say(turn, 'The plan.');
    return END;
  },
  // Quotes an unresolved merge in its plan and in its last words, and fails a command that prints one.
  markers: async (turn) => {
    const merge = '<<<<<<< HEAD\na\n||||||| base\nb\n=======\nc\n>>>>>>> topic\n';
    if (turn.prompt.includes('The approved plan'))
      await call(turn, 'sh', { kind: 'execute', status: 'failed', rawOutput: `${merge}\0` });
    await say(turn, `Like this:\n\n\`\`\`diff\n${merge}\`\`\`\n`);
    return END;
  },
  // What it says, does and asks for holds sequences that hide it on a terminal.
  terminal: async (turn) => {
    if (turn.prompt.includes('The approved plan')) {
      const command = 'ls\u001b[8m; rm -rf ~';
      await turn.ask({ toolCallId: 'x', title: command, kind: 'execute', rawInput: { command } });
      await say(turn, 'Done.');
      return END;
    }
    const rawOutput = '\u001b[31mred\u001b[0m\u001b[2J';
    await call(turn, 'c', { title: 'cat \u001b[1A', kind: 'read', status: 'completed', rawOutput });
    const hidden = 'ls\u001b[8m; rm -rf ~\u001b[0m\r\u202e';
    await say(turn, `# Plan\n\nRun ${hidden} and${' '.repeat(3000)}more.\n`);
    return END;
  },
  'terminal-error': async () => {
    throw RequestError.internalError({ details: 'the model is on holiday\u001b[8m' });
  },
  // Asks for one command after the other.
  commands: async (turn) => {
    const wanted = [
      'npm test',
      'npm test -- --grep x',
      'npm test && curl evil',
      'npm test; rm -rf ~',
    ];
    wanted.push('npm test $(id)', 'npm test\nid', 'npm testing');
    if (turn.prompt.includes('The approved plan'))
      for (const [at, command] of wanted.entries()) {
        const rawInput = { command };
        await turn.ask({ toolCallId: `c${at}`, title: command, kind: 'execute', rawInput });
      }
    await say(turn, 'The plan.');
    return END;
  },
  // Says the plan that the test wrote, and asks for the commands that the test wrote, one after the other.
  planned: async (turn) => {
    const written = (name: string): string => readFileSync(join(memory, name), 'utf8');
    await call(turn, 'r', { kind: 'read', status: 'completed' });
    if (turn.prompt.includes('The approved plan'))
      for (const [at, rawInput] of JSON.parse(written('commands.json')).entries()) {
        const told = { toolCallId: `c${at}`, title: 'A command', kind: 'execute', rawInput };
        await call(turn, told.toolCallId, { ...told, status: 'completed' });
        await turn.ask(told);
      }
    await say(turn, written('plan.md'));
    return END;
  },
  permission: async (turn) => {
    const command = { rawInput: { command: 'npm test' } };
    await say(
      turn,
      await turn.ask({ toolCallId: 'x', title: 'npm test', kind: 'execute', ...command }),
    );
    return END;
  },
  // Asks what the test wrote, all at once, and says what it was offered and answered.
  asks: async (turn) => {
    const given = join(memory, 'questions.json');
    const written = existsSync(given) ? readFileSync(given, 'utf8') : '[{"message": "Which?"}]';
    const asked: Record<string, unknown>[] = JSON.parse(written);
    await say(turn, 'Let me ask first.');
    const answers = await Promise.all(asked.map(turn.elicit));
    if (turn.prompt.includes('The approved plan'))
      await call(turn, 'sh', { kind: 'execute', status: 'completed' });
    await say(turn, JSON.stringify({ offered, answers }));
    return END;
  },
  'asks-and-dies': async (turn) => {
    void turn.elicit({ message: 'Am I alive?' });
    await say(turn, 'Asked.');
    setTimeout(() => process.exit(7), 200);
    return new Promise(() => {});
  },
  'plan-question': async (turn) => {
    const rawInput = { plan: '# From the question\n' };
    await say(turn, 'Not the plan.');
    await turn.ask({ toolCallId: 'p', title: 'Ready?', kind: 'switch_mode', rawInput });
    await turn.cancelled;
    return { stopReason: 'cancelled' };
  },
  hang: async (turn) => {
    await say(turn, 'Working on it.');
    await turn.cancelled;
    return END;
  },
  // Asks the daemon's own server for its Work item, and plans what it was answered.
  mcp: async (turn) => {
    const [server] = turn.servers;
    const answer = await fetch(server?.url ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...Object.fromEntries((server?.headers ?? []).map(({ name, value }) => [name, value])),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'read_work_item', arguments: {} },
      }),
    });
    await say(turn, await answer.text());
    return END;
  },
  // Tells of each prompt 5 tokens in, 1 out, and a tenth of a dollar, cumulative as in the protocol; works until it is
  // ended, but for its fifth prompt.
  meter: async (turn) => {
    const prompts = promptsOf(turn.session_id);
    await say(turn, 'The plan.', { usage: { inputTokens: 5, outputTokens: 1 } });
    const cost = { amount: prompts / 10, currency: 'USD' };
    await turn.update({ sessionUpdate: 'usage_update', used: 900, size: 1000, cost });
    if (prompts === 3 || prompts === 4) await turn.cancelled;
    return END;
  },
  // Plans at once, and works until it is ended.
  'work-hang': async (turn) => {
    if (!turn.prompt.includes('The approved plan')) {
      await say(turn, 'The plan.');
      return END;
    }
    await turn.update({
      sessionUpdate: 'agent_thought_chunk',
      content: { type: 'text', text: 'At work.' },
    });
    await turn.cancelled;
    return END;
  },
  // Shows all that an agent can, and works on until it is ended.
  'shows-all': async (turn) => {
    if (!turn.prompt.includes('The approved plan')) {
      await say(turn, 'The plan.');
      return END;
    }
    const thought = { type: 'text', text: 'I look at it.' };
    await turn.update({ sessionUpdate: 'agent_thought_chunk', content: thought });
    await say(turn, 'I change a.txt.');
    const path = join(turn.cwd, 'a.txt');
    const diff = { type: 'diff', path, oldText: 'one\n', newText: 'two\n' };
    await call(turn, 'e', { kind: 'edit', status: 'completed', content: [diff] });
    const text = { type: 'text', text: 'it broke' };
    const content = [{ type: 'content', content: text }];
    await call(turn, 'x', { kind: 'execute', status: 'failed', content });
    const cost = { amount: 0.25, currency: 'USD' };
    await turn.update({ sessionUpdate: 'usage_update', used: 10, size: 100, cost });
    const error = { message: 'Reconnecting... 2/5', willRetry: true };
    await turn.update({ sessionUpdate: 'session_info_update', _meta: { codex: { error } } });
    await turn.cancelled;
    return END;
  },
  // Tells in Work mode the tool calls that the test wrote, and says that all is well.
  tells: async (turn) => {
    if (turn.prompt.includes('The approved plan')) {
      const told = readFileSync(join(memory, 'updates.json'), 'utf8');
      for (const { id, ...more } of JSON.parse(told)) await call(turn, id, more);
    }
    await say(turn, 'All is well.');
    return END;
  },
  'hang-on-feedback': async (turn) => {
    await say(turn, turn.prompt);
    if (turn.prompt.includes('Requested changes')) await turn.cancelled;
    return END;
  },
  // Notes each prompt. In Work mode it holds a call for as long as there is a file `hold`, asks leave where there is one
  // `ask`, and works on until it is cancelled; to what it is told besides it says that it heard.
  listens: async (turn) => {
    appendFileSync(join(memory, 'prompts'), `${JSON.stringify(turn.prompt)}\n`);
    const held = async (): Promise<void> => {
      while (existsSync(join(memory, 'hold'))) await new Promise((next) => setTimeout(next, 20));
    };
    if (turn.prompt.includes('The approved plan')) {
      const command = { title: 'npm test', kind: 'execute', rawInput: { command: 'npm test' } };
      if (existsSync(join(memory, 'ask'))) await turn.ask({ toolCallId: 'a', ...command });
      await call(turn, 'slow', { kind: 'execute', status: 'in_progress' });
      await Promise.race([held(), turn.cancelled]);
      if (existsSync(join(memory, 'hold'))) return { stopReason: 'cancelled' };
      await call(turn, 'slow', { kind: 'execute', status: 'completed' });
    }
    await say(
      turn,
      `Answer ${readFileSync(join(memory, 'prompts'), 'utf8').split('\n').length - 1}.`,
    );
    if (existsSync(join(memory, 'on'))) await turn.cancelled;
    return END;
  },
  deaf: async (turn) => {
    await say(turn, 'Working on it.');
    return new Promise(() => setInterval(() => {}, 1000));
  },
  stubborn: async (turn) => {
    process.on('SIGTERM', () => {});
    await say(turn, 'Working on it.');
    return new Promise(() => setInterval(() => {}, 1000));
  },
  orphan: async (turn) => {
    const script = 'setInterval(() => {}, 1000)';
    const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore' });
    child.unref();
    await say(turn, `pid ${child.pid}`);
    await turn.cancelled;
    return END;
  },
  // Ends its turn and leaves a process behind, in a session of its own.
  litter: async (turn) => {
    const options = { detached: true, stdio: 'ignore' } as const;
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], options).unref();
    await say(turn, 'Done.');
    return END;
  },
  environment: async (turn) => {
    await say(turn, Object.keys(process.env).sort().join(' '));
    return END;
  },
  // The same where nothing of it can be known by its environment or its parents.
  escape: async (turn) => {
    const script = "env -i /usr/bin/setsid /bin/sh -c '/bin/sleep 600 >/dev/null 2>&1 & echo $!'";
    const { stdout } = spawnSync('/bin/sh', ['-c', script], { cwd: turn.cwd, encoding: 'utf8' });
    await say(turn, stdout.trim());
    await turn.cancelled;
    return END;
  },
  // Starts another when it is told to end, and goes.
  hydra: async (turn) => {
    const script = "console.log('up'); setInterval(() => {}, 1000)";
    process.on('SIGTERM', () => {
      const stdio = ['ignore', 'pipe', 'ignore'] as const;
      const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: [...stdio] });
      child.stdout?.once('data', () => process.exit(0));
    });
    await say(turn, 'Working on it.');
    return new Promise(() => setInterval(() => {}, 1000));
  },
  // Says what it has to in one go and ends its turn before anything of it can have been read.
  burst: async (turn) => {
    const pieces = Array.from({ length: 500 }, (_, at) => `${at} `);
    void Promise.all(pieces.map((piece) => say(turn, piece)));
    return END;
  },
  'clean-exit': async (turn) => {
    await say(turn, 'So far so good.');
    process.stdout.write('', () => process.exit(0));
    return new Promise(() => {});
  },
  'crash-asking': async (turn) => {
    void turn.ask({ toolCallId: 'x', title: 'npm test', kind: 'execute' });
    await say(turn, 'Asked.');
    setTimeout(() => process.exit(7), 200);
    return new Promise(() => {});
  },
  // Never silent, never done.
  chatter: async (turn) => {
    for (;;) {
      await say(turn, 'On and on. ');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
  crash: async (turn) => {
    await say(turn, 'So far so good.');
    process.stderr.write('out of luck\n', () => process.exit(7));
    return new Promise(() => {});
  },
  'huge-line': async (turn) => {
    await say(turn, 'x'.repeat(33 * 1024 * 1024));
    return new Promise(() => {});
  },
  // 20 MB of text, letter by letter at first.
  talkative: async (turn) => {
    for (let n = 0; n < 100_000; n += 1) await say(turn, 'x');
    for (let n = 0; n < 20; n += 1) await say(turn, 'y'.repeat(1024 * 1024));
    return END;
  },
  // Repeats the whole output with each piece that is added, as OpenCode does: 20 MB at the end.
  'growing-output': async (turn) => {
    await call(turn, 'x', { kind: 'execute', status: 'in_progress' });
    const grown = async (size: number, status: string): Promise<void> =>
      turn.update({
        sessionUpdate: 'tool_call_update',
        toolCallId: 'x',
        status,
        content: [{ type: 'content', content: { type: 'text', text: 'z'.repeat(size) } }],
      });
    for (const mb of [1, 2, 4, 8]) await grown(mb * 1024 * 1024, 'in_progress');
    await grown(20 * 1024 * 1024, 'completed');
    await say(turn, 'The plan.');
    return END;
  },
  'unknown-update': async (turn) => {
    await turn.update({ sessionUpdate: 'telepathy', strength: 9 });
    await turn.update({ sessionUpdate: 'telepathy', noise: 'x'.repeat(100_000) });
    process.stdout.write('this is no JSON\n');
    await say(turn, 'Done.');
    return END;
  },
  'two-ways': async (turn) => {
    await say(turn, 'The plan.');
    return END;
  },
  // Takes the error of its model for its answer, as Codex does.
  'model-error': async (turn) => {
    await say(turn, 'unexpected status 404 Not Found: no such model\n\n');
    return { stopReason: 'end_turn', usage: null };
  },
  // Tries again and again, as Codex tells it, until it is ended.
  retrying: async (turn) => {
    await say(turn, 'Let me see.');
    process.stderr.write('upstream is\u001b[8m down\n');
    // What it writes there comes by another pipe.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await turn.update({
      sessionUpdate: 'session_info_update',
      _meta: {
        codex: {
          error: {
            message: 'Reconnecting... 2/5',
            codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: 503 } },
            additionalDetails: 'unexpected status 503',
            willRetry: true,
          },
        },
      },
    });
    await turn.cancelled;
    return END;
  },
  // Says something only after a while.
  late: async (turn) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await say(turn, 'The plan.');
    return END;
  },
  // A command that goes on, and a word when it has gone on for long.
  'long-command': async (turn) => {
    await call(turn, 'c', { kind: 'execute', status: 'in_progress' });
    await new Promise((resolve) => setTimeout(resolve, 400));
    await say(turn, 'Still at it.');
    await turn.cancelled;
    return END;
  },
  // A command that says nothing for longer than an agent may.
  'silent-command': async (turn) => {
    await call(turn, 'c', { kind: 'execute', status: 'in_progress' });
    await new Promise((resolve) => setTimeout(resolve, 4500));
    await call(turn, 'c', { kind: 'execute', status: 'completed' });
    await say(turn, 'Done.');
    return END;
  },
  // Its model does not take its key; it would ask for an hour, as Claude Code does.
  'refused-key': async (turn) => {
    const message = { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10 };
    const why = { retry_delay_ms: 500, error_status: 401, error: 'authentication_failed' };
    await turn.notify('_claude/sdkMessage', { message: { ...message, ...why } });
    return new Promise(() => {});
  },
  // Its first prompt in Plan mode, and the first in Work mode, meet a limit.
  limited: async (turn) => {
    const prompts = promptsOf(turn.session_id);
    if (prompts % 2 === 1) throw RequestError.internalError({ details: LIMIT });
    await say(turn, 'The plan.');
    if (prompts > 2) {
      await call(turn, 'sh', { kind: 'execute', status: 'completed' });
      await say(turn, 'Done.');
    }
    return END;
  },
  silent: async () => END,
  refusal: async (turn) => {
    await say(turn, 'No.');
    return { stopReason: 'refusal' };
  },
  error: async () => {
    throw RequestError.internalError({ details: 'the model is on holiday' });
  },
  'mode-note': async (turn) => {
    await say(turn, '[MODE_UPDATE] plan');
    await say(turn, 'The plan.', { usage: { inputTokens: 5, outputTokens: 2 } });
    await say(turn, '', { usage: { inputTokens: 6, outputTokens: 3 } });
    return END;
  },
  echo: async (turn) => {
    await say(turn, turn.prompt);
    return END;
  },
  // Says what was chosen, calls a tool when it works, and goes on until it is ended when it is asked to.
  choose: async (turn) => {
    const works = turn.prompt.includes('The approved plan');
    const prompts = promptsOf(turn.session_id);
    if (works) await call(turn, 'sh', { kind: 'execute', status: 'completed' });
    await say(turn, `Chosen: ${choices.told()}.`);
    if (works && prompts === 2) await turn.cancelled;
    return END;
  },
  // Says what it was given besides words, and repeats the words.
  blocks: async (turn) => {
    if (turn.prompt.includes('The approved plan'))
      await call(turn, 'sh', { kind: 'execute', status: 'completed' });
    const told = turn.blocks.map(({ data, ...block }) => ({
      ...block,
      ...(data !== undefined && { bytes: Buffer.from(String(data), 'base64').length }),
    }));
    await say(turn, `${JSON.stringify(told)}\n${turn.prompt}`);
    return END;
  },
  // Reads whatever the words name by an absolute path, and what lies around it.
  reads: async (turn) => {
    if (turn.prompt.includes('The approved plan'))
      await call(turn, 'sh', { kind: 'execute', status: 'completed' });
    const named = turn.prompt.match(/\/[\w./-]+(?=\.\)| \(image| left out here)/g) ?? [];
    const script =
      'test -d "$0" && ls "$0" || wc -c < "$0"; echo >> "$0" || ls -A "$(dirname "$0")"';
    const told = named.map((path) => {
      const { stdout } = spawnSync('sh', ['-c', script, path], { encoding: 'utf8' });
      return [path, stdout.trim().split(/\s+/)];
    });
    await say(turn, JSON.stringify(Object.fromEntries(told)));
    return END;
  },
  'late-output': async (turn) => {
    const output = (text: string) => [{ type: 'content', content: { type: 'text', text } }];
    await call(turn, 'x', { kind: 'execute', status: 'in_progress' });
    for (const size of [10, 20, 200_000]) {
      const content = output('y'.repeat(size));
      await turn.update({ sessionUpdate: 'tool_call_update', toolCallId: 'x', content });
    }
    return END;
  },
};

const attempt = (write: () => void): string => {
  try {
    write();
    return 'wrote';
  } catch (error) {
    return String(error);
  }
};

// Remembers the ids of its sessions and what was said to it, below HOME, as real agents do.
const memory = process.env.CODEX_HOME ?? join(process.env.HOME ?? '.', '.test-agent');

const remember = (id: string): void => {
  mkdirSync(memory, { recursive: true });
  writeFileSync(join(memory, id), '');
};

// How often the session was prompted, this time included.
const promptsOf = (id: string): number => {
  appendFileSync(join(memory, id), '.');
  return readFileSync(join(memory, id)).length;
};

// What the client said in a session. With `drops` in its memory, the agent has lost it.
const saidIn = (id: string): string[] => {
  const file = join(memory, `${id}.said`);
  if (!existsSync(file) || existsSync(join(memory, 'drops'))) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as string);
};

const MODES = {
  currentModeId: 'default',
  availableModes: ['default', 'plan', 'acceptEdits'].map((id) => ({ id, name: id })),
};

const OPTIONS = [
  {
    ...{ id: 'how', name: 'How', category: 'mode', type: 'select', currentValue: 'default' },
    options: MODES.availableModes.map(({ id }) => ({ value: id, name: id })),
  },
];

const choices = choicesOf(behaviour);
const chooses = behaviour.startsWith('choose');

let mode = 'default';
let cwd = process.cwd();
let servers: Turn['servers'] = [];
let offered: unknown;
let cancel: () => void = () => {};

const asIs = (params: unknown): unknown => params;

agent({ name: 'test-agent' })
  .onRequest(methods.agent.initialize, ({ params }) => {
    offered = params.clientCapabilities?.elicitation;
    return {
      protocolVersion: behaviour === 'old' ? 0 : 1,
      agentInfo: { name: 'test-agent', version: '1.2.3' },
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { resume: {} },
        mcpCapabilities: { http: true },
        promptCapabilities: { image: behaviour === 'blocks' },
      },
    };
  })
  .onRequest(methods.agent.session.new, ({ params }) => {
    if (behaviour === 'stuck') return new Promise(() => {});
    if (behaviour === 'locked') throw RequestError.authRequired();
    cwd = params.cwd;
    servers = params.mcpServers as Turn['servers'];
    const sessionId = `s-${process.pid}`;
    remember(sessionId);
    const both = behaviour === 'two-ways' ? { configOptions: OPTIONS as never } : {};
    return { sessionId, modes: MODES, ...both, ...(chooses && choices.offered()) };
  })
  .onRequest(methods.agent.session.resume, () => {
    throw RequestError.methodNotFound('session/resume');
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    try {
      readFileSync(join(memory, params.sessionId));
    } catch {
      throw RequestError.resourceNotFound(params.sessionId);
    }
    cwd = params.cwd;
    const replay = (sessionUpdate: 'user_message_chunk' | 'agent_message_chunk', text: string) =>
      client.notify('session/update', {
        sessionId: params.sessionId,
        update: { sessionUpdate, content: { type: 'text', text } },
      });
    for (const text of saidIn(params.sessionId)) await replay('user_message_chunk', text);
    await replay('agent_message_chunk', 'Old words.');
    return { modes: MODES, ...(chooses && behaviour !== 'choose-silent' && choices.offered()) };
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    if (behaviour === 'two-ways') throw RequestError.invalidParams('the old way');
    mode = params.modeId;
  })
  .onRequest('session/set_model', asIs, ({ params }) => {
    choices.set('brain', (params as { modelId: string }).modelId);
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    choices.set(params.configId, String(params.value));
    if (chooses) return choices.offered() as never;
    mode = `${params.configId}=${params.value}`;
    return { configOptions: OPTIONS as never };
  })
  .onNotification(methods.agent.session.cancel, () => cancel())
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId } = params;
    const first = params.prompt[0];
    const update = (data: Record<string, unknown>): Promise<void> =>
      client.notify('session/update' as string, { sessionId, update: data });
    await update({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    const ask = async (toolCall: Record<string, unknown>): Promise<string> => {
      const options = [
        { optionId: 'always', name: 'Always', kind: 'allow_always' },
        { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ];
      const { outcome } = (await client.request('session/request_permission' as string, {
        sessionId,
        toolCall,
        options,
      })) as { outcome: { outcome: string; optionId?: string } };
      return outcome.optionId ?? outcome.outcome;
    };
    const prompt = first?.type === 'text' ? first.text : '';
    appendFileSync(join(memory, `${sessionId}.said`), `${JSON.stringify(prompt)}\n`);
    const cancelled = new Promise<void>((resolve) => {
      cancel = resolve;
    });
    const answer = await BEHAVIOURS[behaviour.replace(/^(choose|blocks)-.*/, '$1')]?.({
      ...{
        session_id: sessionId,
        cwd,
        prompt,
        blocks: params.prompt.slice(1),
        servers,
        update,
        ask,
        cancelled,
      },
      elicit: (question) =>
        client.request('elicitation/create' as string, {
          ...{ sessionId, mode: 'form', requestedSchema: { type: 'object' } },
          ...question,
        }),
      notify: (method, told) => client.notify(method, { sessionId, ...told }),
    });
    return (answer ?? END) as { stopReason: 'end_turn' };
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout),
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
