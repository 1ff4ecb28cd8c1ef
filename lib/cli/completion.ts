import { UsageError } from '../config.ts';
import type { Call, Command } from './line/command.ts';
import { OPTIONS, type OptionName } from './line/options.ts';
import { EVERYWHERE } from './line/read.ts';

/** `dossier completion SHELL`: what makes that shell complete commands, options and the ids of Work items. */
export const completion = async ({ commands, words: [shell = ''] }: Call): Promise<number> => {
  const script = SCRIPTS[shell];
  if (script === undefined)
    throw new UsageError(`completion takes one of ${Object.keys(SCRIPTS).join(', ')}`);
  process.stdout.write(script(commands));
  return 0;
};

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `_dossier() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= at
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ \${COMP_WORDS[at]} == -* || \${COMP_WORDS[at-1]} == --* ]] || { command=\${COMP_WORDS[at]}; break; }
  done
  COMPREPLY=()
  if [[ $before == --workspace || $before == --repo ]]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  elif [[ $before == --file ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${namesOf(commands)}" -- "$word")
  elif [[ $word == -* ]]; then
    case $command in
${caseLines(commands, (command) => `mapfile -t COMPREPLY < <(compgen -W "${flagsOf(command).join(' ')}" -- "$word")`)}
    esac
  else
    case $command in
    ${takingItems(commands)})
      mapfile -t COMPREPLY < <(compgen -W "$(dossier ls 2>/dev/null | cut -f1)" -- "$word") ;;
    help) mapfile -t COMPREPLY < <(compgen -W "${namesOf(commands)}" -- "$word") ;;
    esac
  fi
}
complete -o default -F _dossier dossier
`,
  zsh: (commands) => `#compdef dossier
_dossier() {
  local -a commands items
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if [[ $PREFIX == -* ]]; then
    case $words[2] in
${caseLines(commands, (command) => `compadd -- ${flagsOf(command).join(' ')}`)}
    esac
    return
  fi
  case $words[2] in
  ${takingItems(commands)})
    items=(\${(f)"$(dossier ls 2>/dev/null | awk -F '\\t' '{ gsub(/:/, " ", $3); print $1 ":" $3 }')"})
    _describe 'Work item' items || _files ;;
  help) _describe command commands ;;
  *) _files ;;
  esac
}
compdef _dossier dossier
`,
  fish: (commands) =>
    [
      'complete -c dossier -f',
      ...commands.map(
        ({ name, summary }) =>
          `complete -c dossier -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ),
      ...commands.flatMap(({ name, options }) =>
        (Object.entries(options) as [OptionName, string][]).map(
          ([option, about]) =>
            `complete -c dossier -n '__fish_seen_subcommand_from ${name}' -l ${option} -d ${quoted(about)}${OPTIONS[option].type === 'string' ? ' -r' : ''}`,
        ),
      ),
      `complete -c dossier -n '__fish_seen_subcommand_from ${takingItems(commands).replaceAll('|', ' ')}' -a '(dossier ls 2>/dev/null | cut -f1,3)'`,
      'complete -c dossier -l workspace -r -F',
      'complete -c dossier -n "__fish_seen_subcommand_from new import proof" -F',
      '',
    ].join('\n'),
};

const namesOf = (commands: readonly Command[]): string =>
  commands.map(({ name }) => name).join(' ');

const flagsOf = ({ options }: Command): string[] =>
  [...Object.keys(options), ...EVERYWHERE].map((name) => `--${name}`);

const takingItems = (commands: readonly Command[]): string =>
  commands
    .filter(({ words }) => /\bITEM\b/.test(words))
    .map(({ name }) => name)
    .join('|');

const caseLines = (commands: readonly Command[], doing: (command: Command) => string): string =>
  commands.map((command) => `    ${command.name}) ${doing(command)} ;;`).join('\n');

// In single quotes, as all three shells read them.
const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`;
