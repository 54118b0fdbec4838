import type { CommandWords, WantedWord } from './command-words.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** The script with which a shell completes the commands of the program. */
export function completionScript(shell: (typeof shells)[number], commands: readonly CommandWords[]): string {
  if (shell === 'fish') return fishScript(commands);
  const functions = bashFunctions(commands);
  if (shell === 'bash') return `${functions}complete -F _halogrid halogrid\n`;
  return `#compdef halogrid\nautoload -U +X bashcompinit && bashcompinit\n${functions}complete -o filenames -F _halogrid halogrid\n`;
}

/** Functions for bash that zsh understands, too. */
function bashFunctions(commands: readonly CommandWords[]): string {
  const nested = commands.filter(({ below, path }) => below.length > 0 && path.length > 0);
  const options = commands.map(({ path, options }) => {
    return `    '${path.join(' ')}') words='${options.flatMap(({ names }) => names).join(' ')}' ;;`;
  });
  const args = commands.map(({ path, below, argument }) => {
    return `    '${path.join(' ')}') ${bashWant(below.length > 0 ? { words: below } : argument)} ;;`;
  });
  const values = commands.flatMap(({ path, options }) => {
    return options.flatMap(({ names, value }) =>
      value ? [`    ${names.map((name) => `'${[...path, name].join(' ')}'`).join(' | ')}) ${bashWant(value)} ;;`] : [],
    );
  });
  return `# What 'halogrid completion' prints; made from the program's own options.
_halogrid() {
  local word="\${COMP_WORDS[COMP_CWORD]}" at=$COMP_CWORD start='' before command='' want='' words='' i
  # ':' and '=' are words of their own where they break words. What is before a ':' is on the line already.
  if [ "$word" = ':' ]; then at=$((at - 1)); start="\${COMP_WORDS[at]}:"; word="$start"
  elif [ "\${COMP_WORDS[at-1]}" = ':' ]; then at=$((at - 2)); start="\${COMP_WORDS[at]}:"; word="$start$word"; fi
  before="\${COMP_WORDS[at-1]}"
  if [ "$word" = '=' ]; then word=''
  elif [ "$before" = '=' ]; then before="\${COMP_WORDS[at-2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -*) break ;;
      *) if [ -z "$command" ]; then command="\${COMP_WORDS[i]}"
         else case "$command" in ${nested.map(({ path }) => path.join(' ')).join('|')}) command="$command \${COMP_WORDS[i]}" ;; esac; break; fi ;;
    esac
  done
  COMPREPLY=()
  case "$command \${before}" in
${values.join('\n')}
  esac
  if [ -z "$want" ]; then
    case "$word" in
      -*) case "$command" in
${options.join('\n')}
    esac; want=words ;;
      *) case "$command" in
${args.join('\n')}
    esac ;;
    esac
  fi
  case "$want" in
    words) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    folder) compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$word")) ;;
    file) compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
  if [ -n "$start" ]; then COMPREPLY=("\${COMPREPLY[@]#"$start"}"); fi
}
`;
}

function bashWant(wanted: WantedWord): string {
  return typeof wanted === 'string' ? `want=${wanted}` : `want=words words='${wanted.words.join(' ')}'`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, below, options, argument }) => {
    const here = condition(path, below);
    const children = below.map((name) => {
      const child = commands.find((each) => each.path.join(' ') === [...path, name].join(' '))!;
      return `complete -c halogrid -n '${here}' -a '${name}' -d ${quoted(child.summary)}`;
    });
    const ofOptions = options.map(({ names, value, description }) => {
      const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
      const takes = value === undefined ? '' : ` ${fishWant(value)}`;
      return `complete -c halogrid -n '${here}' ${flags.join(' ')}${takes} -d ${quoted(description)}`;
    });
    const args =
      below.length > 0 || argument === 'anything'
        ? []
        : [`complete -c halogrid -n '${here}' ${fishWant(argument).replace('-r ', '').replace('-x', '')}`];
    return [...children, ...ofOptions, ...args];
  });
  return `# What 'halogrid completion' prints; made from the program's own options.\ncomplete -c halogrid -f\n${lines.join('\n')}\n`;
}

/** A condition of fish: exactly these words were typed so far, besides options. */
function condition(path: readonly string[], below: readonly string[]): string {
  const [first] = path;
  if (first === undefined) return '__fish_use_subcommand';
  if (path.length === 1 && below.length === 0) return `__fish_seen_subcommand_from ${first}`;
  if (path.length === 1)
    return `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${below.join(' ')}`;
  return `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${path[1]}`;
}

function fishWant(wanted: WantedWord): string {
  if (typeof wanted !== 'string') return `-x -a '${wanted.words.join(' ')}'`;
  if (wanted === 'file') return '-r -F';
  return wanted === 'folder' ? `-x -a '(__fish_complete_directories)'` : '-x';
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
