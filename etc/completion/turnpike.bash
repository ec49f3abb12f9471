# bash completion of turnpike, made by "turnpike completion bash"
_turnpike() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=""
	local commands="serve check config reload post get stats top blacklist cooldown simulate completion version help"
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
		return
	fi
	case ${COMP_WORDS[1]} in
	serve)
		case $prev in
			--config|-c|--env-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
			--endpoint|--listen) return ;;
		esac
		words="-c --config --endpoint --env-file --listen --fresh-state -h --help" ;;
	check)
		case $prev in
			--config|-c|--env-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		words="-c --config --env-file --connect -h --help" ;;
	config)
		case $prev in
			--config|-c|--env-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		words="--defaults --effective --schema --markdown --man -c --config --env-file -h --help" ;;
	reload)
		case $prev in
			--config|-c|--env-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		words="-c --config --env-file -h --help" ;;
	post)
		case $prev in
			--profile) COMPREPLY=($(compgen -W "guarded patient" -- "$cur")); return ;;
			--data-file|--ca) COMPREPLY=($(compgen -f -- "$cur")); return ;;
			--data|-d|--header|-H|--deadline|--max-sends) return ;;
		esac
		words="-d --data --data-file -H --header -i --include --profile --deadline --max-sends --ca -k --insecure -q --quiet -v --verbose -h --help" ;;
	get)
		case $prev in
			--profile) COMPREPLY=($(compgen -W "guarded patient" -- "$cur")); return ;;
			--ca) COMPREPLY=($(compgen -f -- "$cur")); return ;;
			--header|-H|--deadline|--max-sends) return ;;
		esac
		words="-H --header -i --include --profile --deadline --max-sends --ca -k --insecure -q --quiet -v --verbose -h --help" ;;
	stats)
		case $prev in
			--config|-c) COMPREPLY=($(compgen -f -- "$cur")); return ;;
			--name) return ;;
		esac
		words="-c --config --name --json -h --help" ;;
	top)
		case $prev in
			--config|-c) COMPREPLY=($(compgen -f -- "$cur")); return ;;
			--name|--every) return ;;
		esac
		words="-c --config --name --once --every -h --help" ;;
	blacklist)
		case $prev in
			--config|-c) COMPREPLY=($(compgen -f -- "$cur")); return ;;
			--name) return ;;
		esac
		words="list clear -c --config --name --json -h --help" ;;
	cooldown)
		case $prev in
			--config|-c) COMPREPLY=($(compgen -f -- "$cur")); return ;;
			--name) return ;;
		esac
		words="list clear -c --config --name --json -h --help" ;;
	simulate)
		case $prev in
			--listen) return ;;
		esac
		words="--listen -h --help" ;;
	completion)
		words="bash zsh -h --help" ;;
	version)
		words="-h --help" ;;
	help)
		words="$commands" ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _turnpike turnpike
