# What shells need to complete a command line, and the manual page.
for shell in bash zsh fish; do
    run completion $shell
    exits 0
    for word in check --dynamic explain completion; do out_has "$word"; done
    cp out.txt completion.$shell
    if command -v $shell > /dev/null; then $shell -n completion.$shell || bad "$shell cannot read it"; fi
done
cat > try.bash <<'END'
. ./completion.bash
complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _wgrun; echo "${COMPREPLY[@]}"; }
complete_line wgrun che
complete_line wgrun check --dyn
complete_line wgrun explain WG-FENCE-0
END
PATH=$(dirname "$WGRUN"):$PATH bash try.bash > answers.txt
[ "$(sed -n 1p answers.txt)" = check ] || bad "wgrun che: $(cat answers.txt)"
[ "$(sed -n 2p answers.txt)" = --dynamic ] || bad "wgrun check --dyn: $(cat answers.txt)"
sed -n 3p answers.txt | grep -q "WG-FENCE-01" || bad "wgrun explain: $(cat answers.txt)"
run completion tcsh
exits 2
run man
exits 0
out_has ".SH COMMANDS"
out_has '.SS check'
if command -v man > /dev/null; then cp out.txt wgrun.1; man --warnings -l wgrun.1 > man.txt 2>&1 || bad "man: $(cat man.txt)"; fi
